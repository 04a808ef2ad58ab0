-- What DDL writes down beside PostgreSQL's catalog, and Oracle's dictionary views over both.
-- Loaded once, behind types.sql and functions.sql.

-- Of a column: unit of a text length (BYTE, CHAR), format of a VECTOR (number of the wire: 0 flexible, 2 FLOAT32, 3 FLOAT64,
-- 4 INT8), declared type where PostgreSQL's type does not tell it (RAW(16), FLOAT, TIMESTAMP(9), …), text of the default,
-- identity (ALWAYS, BY DEFAULT, BY DEFAULT ON NULL) and its sequence.
CREATE TABLE ora.column_info (
  rel oid NOT NULL, number int2 NOT NULL, length_unit text, vector_format int2, declared text, default_text text,
  identity text, sequence oid, PRIMARY KEY (rel, number));

-- Subtype as USER_INDEXES prints it; status VALID or UNUSABLE; included: columns of INCLUDE.
CREATE TABLE ora.vector_indexes (
  idx oid PRIMARY KEY, subtype text NOT NULL, distance text NOT NULL, accuracy int4, parameters jsonb NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'VALID', included text[] NOT NULL DEFAULT '{}');

-- What a search of so many percent asks of the indexes of its tables (0: what they were made for), until the transaction
-- ends: of an IVF index a share of its lists, 1/3 at 90 %, 1/2 at 95 %, all of them at 100 %. Without sorts the index is
-- used where there is one, however few rows there are.
CREATE FUNCTION ora.aim(percent int4, tables text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
  WITH wanted AS (
    SELECT coalesce(nullif(percent, 0), v.accuracy, 90) AS accuracy,
      (SELECT substr(o, 7)::int4 FROM unnest(c.reloptions) o WHERE o LIKE 'lists=%') AS lists
    FROM ora.vector_indexes v JOIN pg_index x ON x.indexrelid = v.idx JOIN pg_class c ON c.oid = v.idx
    WHERE tables = '{}' OR x.indrelid IN (SELECT to_regclass(t) FROM unnest(tables) t)),
  asked AS (
    SELECT coalesce(max(ceil(lists / (1 + 0.2 * (100 - accuracy)))), 1) AS probes,
      coalesce(max(CASE accuracy WHEN 100 THEN 1000 ELSE greatest(40, (accuracy - 85) * 20) END), 40) AS ef FROM wanted)
  SELECT set_config('ivfflat.probes', probes::int4::text, true) || ' ' || set_config('hnsw.ef_search', ef::int4::text, true)
    || ' ' || set_config('enable_sort', 'off', true) FROM asked $$;

-- Of an index over expressions: Oracle's text of each, by position, and whether it is a multivalue index.
CREATE TABLE ora.index_expressions (idx oid NOT NULL, number int4 NOT NULL, source text NOT NULL, PRIMARY KEY (idx, number));
CREATE TABLE ora.storage_note (relation oid PRIMARY KEY, ini_trans int4, pct_free int4, tablespace text, logging bool NOT NULL);
CREATE TABLE ora.row_movement (relation oid PRIMARY KEY);
CREATE TABLE ora.check_note (relation oid NOT NULL, name text NOT NULL, source text NOT NULL, PRIMARY KEY (relation, name));
CREATE TABLE ora.sequence_options (seq oid PRIMARY KEY, cache int4 NOT NULL, ordered bool NOT NULL);
-- Views as written: the query, the column list (names apart by chr(1)), WITH READ ONLY, WITH CHECK OPTION.
CREATE TABLE ora.view_texts (rel oid PRIMARY KEY, source text NOT NULL, names text NOT NULL, read_only bool NOT NULL, checked bool NOT NULL);
-- Views whose query does not compile, made with FORCE or because what they read is gone.
CREATE TABLE ora.invalid_views (
  owner text NOT NULL, name text NOT NULL, source text NOT NULL, names text NOT NULL, read_only bool NOT NULL, checked bool NOT NULL, PRIMARY KEY (owner, name));
CREATE TABLE ora.triggers (
  owner text NOT NULL, name text NOT NULL, rel oid NOT NULL, kind text NOT NULL, event text NOT NULL, condition text,
  body text NOT NULL, enabled bool NOT NULL DEFAULT true, PRIMARY KEY (owner, name));

CREATE TABLE ora.synonyms (
  owner text NOT NULL, name text NOT NULL, table_owner text NOT NULL, table_name text NOT NULL, PRIMARY KEY (owner, name));
CREATE TABLE ora.directories (name text PRIMARY KEY, path text NOT NULL);
CREATE TABLE ora.roles (name text PRIMARY KEY);
-- Granted roles and system privileges (object empty), and object privileges, those of a column with its name.
CREATE TABLE ora.privileges (
  grantee text NOT NULL, privilege text NOT NULL, kind text NOT NULL, owner text NOT NULL DEFAULT '', object text NOT NULL DEFAULT '',
  column_name text NOT NULL DEFAULT '', grantor text NOT NULL, grantable bool NOT NULL, PRIMARY KEY (grantee, privilege, owner, object, column_name));
CREATE INDEX ON ora.privileges (owner, object);
INSERT INTO ora.roles VALUES ('CONNECT'), ('RESOURCE'), ('DBA'), ('DB_DEVELOPER_ROLE'), ('SELECT_CATALOG_ROLE'), ('CTXAPP'), ('CLOUD_USER'), ('DWROLE');
-- What the roles that every database has hold; of DBA what the local database asks for.
INSERT INTO ora.privileges (grantee, privilege, kind, grantor, grantable)
  SELECT r.role, pg_catalog.btrim(p.name, E' \n'), 'SYSTEM', 'SYS', r.role = 'DBA' FROM (VALUES
    ('CONNECT', 'CREATE SESSION, SET CONTAINER'),
    ('RESOURCE', 'CREATE ANALYTIC VIEW, CREATE ATTRIBUTE DIMENSION, CREATE CLUSTER, CREATE HIERARCHY, CREATE INDEXTYPE, CREATE MATERIALIZED VIEW, CREATE OPERATOR,
      CREATE PROCEDURE, CREATE PROPERTY GRAPH, CREATE SEQUENCE, CREATE SYNONYM, CREATE TABLE, CREATE TRIGGER, CREATE TYPE, CREATE VIEW'),
    ('DB_DEVELOPER_ROLE', 'CREATE ANALYTIC VIEW, CREATE ATTRIBUTE DIMENSION, CREATE CUBE, CREATE CUBE BUILD PROCESS, CREATE CUBE DIMENSION, CREATE DIMENSION, CREATE DOMAIN,
      CREATE HIERARCHY, CREATE JOB, CREATE MATERIALIZED VIEW, CREATE MINING MODEL, CREATE MLE, CREATE PROCEDURE, CREATE SEQUENCE, CREATE SESSION, CREATE SYNONYM,
      CREATE TABLE, CREATE TRIGGER, CREATE TYPE, CREATE VIEW, DEBUG CONNECT SESSION, EXECUTE DYNAMIC MLE, FORCE TRANSACTION, ON COMMIT REFRESH'),
    ('DBA', 'ALTER ANY INDEX, ALTER ANY ROLE, ALTER ANY SEQUENCE, ALTER ANY TABLE, ALTER ANY TRIGGER, ALTER SYSTEM, ALTER USER, ANALYZE ANY, COMMENT ANY MINING MODEL,
      COMMENT ANY TABLE, CREATE ANY CREDENTIAL, CREATE ANY DIRECTORY, CREATE ANY INDEX, CREATE ANY MINING MODEL, CREATE ANY SEQUENCE, CREATE ANY SYNONYM, CREATE ANY TABLE,
      CREATE ANY TRIGGER, CREATE ANY VIEW, CREATE CREDENTIAL, CREATE MINING MODEL, CREATE PUBLIC SYNONYM, CREATE ROLE, CREATE SEQUENCE, CREATE SESSION, CREATE SYNONYM, CREATE TABLE,
      CREATE TRIGGER, CREATE USER, CREATE VIEW, DELETE ANY TABLE, DROP ANY DIRECTORY, DROP ANY INDEX, DROP ANY MINING MODEL, DROP ANY ROLE, DROP ANY SEQUENCE,
      DROP ANY SYNONYM, DROP ANY TABLE, DROP ANY TRIGGER, DROP ANY VIEW, DROP PUBLIC SYNONYM, DROP USER, GRANT ANY OBJECT PRIVILEGE, GRANT ANY PRIVILEGE,
      GRANT ANY ROLE, INSERT ANY TABLE, LOCK ANY TABLE, READ ANY TABLE, SELECT ANY DICTIONARY, SELECT ANY MINING MODEL, SELECT ANY SEQUENCE, SELECT ANY TABLE,
      UPDATE ANY TABLE')) r(role, names), pg_catalog.string_to_table(r.names, ',') p(name);
INSERT INTO ora.privileges (grantee, privilege, kind, grantor, grantable)
  VALUES ('DB_DEVELOPER_ROLE', 'RESOURCE', 'ROLE', 'SYS', false), ('DB_DEVELOPER_ROLE', 'CTXAPP', 'ROLE', 'SYS', false), ('DBA', 'SELECT_CATALOG_ROLE', 'ROLE', 'SYS', true);

-- Who a session is where privileges are looked up: its user, PUBLIC, and the roles that these have, through roles too.
CREATE VIEW ora.grantees AS
  WITH RECURSIVE g(name) AS (
    SELECT current_setting('ora.user') UNION SELECT 'PUBLIC'
    UNION SELECT p.privilege FROM g JOIN ora.privileges p ON p.grantee = g.name AND p.kind = 'ROLE')
  SELECT name FROM g;
CREATE FUNCTION ora.may(VARIADIC wanted text[]) RETURNS bool LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM ora.privileges p JOIN ora.grantees g ON g.name = p.grantee WHERE p.kind = 'SYSTEM' AND p.privilege = ANY (wanted)) $$;

-- Numbers of unnamed constraints and identity sequences.
CREATE SEQUENCE ora.system_names START 7001;

CREATE FUNCTION ora.forget_dropped() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
  dropped record;
BEGIN
  FOR dropped IN SELECT objid, objsubid, object_type, schema_name, object_name FROM pg_event_trigger_dropped_objects()
                 WHERE object_type IN ('table', 'table column', 'view', 'index', 'sequence')
  LOOP
    IF dropped.object_type = 'index' THEN
      DELETE FROM ora.vector_indexes WHERE idx = dropped.objid;
      DELETE FROM ora.text_indexes WHERE idx = dropped.objid;
      DELETE FROM ora.index_expressions WHERE idx = dropped.objid;
      DELETE FROM ora.storage_note WHERE relation = dropped.objid;
    ELSIF dropped.object_type = 'sequence' THEN
      DELETE FROM ora.sequence_options WHERE seq = dropped.objid;
      DELETE FROM ora.privileges WHERE owner = ora.name_of(dropped.schema_name::name) AND object = ora.name_of(dropped.object_name::name);
    ELSE
      DELETE FROM ora.column_info WHERE rel = dropped.objid AND (dropped.objsubid = 0 OR number = dropped.objsubid);
      IF dropped.objsubid = 0 THEN
        DELETE FROM ora.view_texts WHERE rel = dropped.objid;
        DELETE FROM ora.triggers WHERE rel = dropped.objid;
        DELETE FROM ora.check_note WHERE relation = dropped.objid;
        DELETE FROM ora.row_movement WHERE relation = dropped.objid;
        DELETE FROM ora.storage_note WHERE relation = dropped.objid;
        IF dropped.object_type = 'table' THEN -- a view may be made again in the same moment
          DELETE FROM ora.privileges WHERE owner = ora.name_of(dropped.schema_name::name) AND object = ora.name_of(dropped.object_name::name);
        END IF;
      END IF;
    END IF;
  END LOOP;
END $$;
CREATE EVENT TRIGGER ora_forget_dropped ON sql_drop EXECUTE FUNCTION ora.forget_dropped();

-- For the CHECKs behind VARCHAR2 and RAW: names of table and column are looked up when the error is raised, so that they
-- are right after a rename.
CREATE FUNCTION ora.value_too_large(relation oid, attribute int4, actual int4, maximum int4) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  found record;
BEGIN
  SELECT n.nspname, c.relname, a.attname INTO found FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.oid = relation AND a.attnum = attribute;
  RETURN ora.too_long(format('"%s"."%s"', found.nspname, found.relname), format('"%s"', found.attname), actual, maximum);
END $$;
-- For VECTOR(n, INT8): every element is a whole number of one signed byte.
CREATE FUNCTION ora.fits_int8(v vector) RETURNS bool LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM unnest(v::real[]) e WHERE e <> trunc(e) OR e NOT BETWEEN -128 AND 127) THEN
    RETURN ora.raise(51806, 'Vector column is not properly formatted (dimension value is not representable as INT8)');
  END IF;
  RETURN true;
END $$;

CREATE FUNCTION ora.refuse_read_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM ora.raise(42399, 'cannot perform a DML operation on a read-only view');
  RETURN NULL;
END $$;

-- Transaction identifier as DBMS_TRANSACTION.LOCAL_TRANSACTION_ID gives it: undo segment, slot, sequence.
CREATE FUNCTION ora.transaction_id() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT '10.' || (x % 65536) || '.' || (x / 65536 + 1) FROM (SELECT pg_current_xact_id_if_assigned()::text::int8 AS x) t WHERE x IS NOT NULL $$;

-- Dictionary views. Names and texts are VARCHAR2, counts are NUMBER. ALL_ views show what is one's own, and of others what
-- one has a privilege on.

CREATE FUNCTION ora.name(n name) RETURNS ora.varchar2 LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT ora.name_of(n)::ora.varchar2 $$;
CREATE FUNCTION ora.name(n text) RETURNS ora.varchar2 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT n::ora.varchar2 $$;
-- Make a view of what another shows, without some of its columns: USER_ views have no column for the owner.
CREATE FUNCTION ora.part_of_view(view text, base text, condition text, hidden text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE pg_catalog.format('CREATE VIEW ora.%I AS SELECT %s FROM ora.%I WHERE %s', view,
    (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
      WHERE a.attrelid = pg_catalog.format('ora.%I', base)::regclass AND a.attnum > 0 AND a.attname <> ALL (hidden)), base, condition);
END $$;
CREATE FUNCTION ora.own_view(view text, base text, owner text, VARIADIC also text[] DEFAULT '{}') RETURNS void LANGUAGE sql AS $$
  SELECT ora.part_of_view(view, base, pg_catalog.format('%I::text = ora.usr()', owner), also || owner) $$;
-- Schemas and relations under their names of Oracle.
CREATE VIEW ora.schemas AS
  SELECT n.oid, u.name AS nspname FROM pg_namespace n JOIN ora.users u ON u.name = ora.name_of(n.nspname);
CREATE VIEW ora.granted_objects AS
  SELECT p.owner, p.object FROM ora.privileges p JOIN ora.grantees g ON g.name = p.grantee WHERE p.object <> '';
CREATE VIEW ora.relations AS
  SELECT c.oid, ora.name_of(c.relname) AS relname, c.relkind, c.reltuples, c.relnatts, n.nspname
  FROM pg_class c JOIN ora.schemas n ON n.oid = c.relnamespace
  WHERE n.nspname = current_setting('ora.user') OR (n.nspname, ora.name_of(c.relname)) IN (SELECT owner, object FROM ora.granted_objects)
    OR (SELECT ora.may('SELECT ANY TABLE', 'READ ANY TABLE', 'INSERT ANY TABLE', 'UPDATE ANY TABLE', 'DELETE ANY TABLE', 'ALTER ANY TABLE', 'DROP ANY TABLE'));
CREATE FUNCTION ora.sees(owner text, object text) RETURNS bool LANGUAGE sql STABLE AS $$
  SELECT owner = current_setting('ora.user') OR EXISTS (SELECT FROM ora.granted_objects g WHERE g.owner = $1 AND g.object = $2) $$;

-- DATA_TYPE from PostgreSQL's type and what was declared.
CREATE FUNCTION ora.data_type(kind oid, modifier int4, declared text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN declared LIKE 'RAW(%' THEN 'RAW'
    WHEN declared IS NOT NULL THEN declared
    WHEN kind = 'ora.varchar2'::regtype OR kind = 'text'::regtype THEN 'VARCHAR2'
    WHEN kind = 'ora.clob'::regtype THEN 'CLOB'
    WHEN kind = 'ora.blob'::regtype THEN 'BLOB'
    WHEN kind = 'ora.odate'::regtype THEN 'DATE'
    WHEN kind IN ('numeric'::regtype, 'int8'::regtype, 'int4'::regtype, 'int2'::regtype) THEN 'NUMBER'
    WHEN kind = 'vector'::regtype THEN 'VECTOR'
    WHEN kind = 'jsonb'::regtype THEN 'JSON'
    WHEN kind = 'bool'::regtype THEN 'BOOLEAN'
    WHEN kind = 'bytea'::regtype THEN 'RAW'
    WHEN kind = 'float8'::regtype THEN 'BINARY_DOUBLE'
    WHEN kind = 'float4'::regtype THEN 'BINARY_FLOAT'
    WHEN kind = 'bpchar'::regtype THEN 'CHAR'
    WHEN kind = 'timestamp'::regtype THEN 'TIMESTAMP(' || CASE WHEN modifier < 0 THEN 6 ELSE modifier END || ')'
    WHEN kind = 'timestamptz'::regtype THEN 'TIMESTAMP(' || CASE WHEN modifier < 0 THEN 6 ELSE modifier END || ') WITH TIME ZONE'
    WHEN kind = 'interval'::regtype THEN 'INTERVAL DAY(2) TO SECOND(6)'
    ELSE 'UNDEFINED'
  END $$;

CREATE VIEW ora."ALL_TABLES" AS
  SELECT ora.name(c.nspname) AS "OWNER", ora.name(c.relname) AS "TABLE_NAME", coalesce(s.tablespace, 'USERS')::ora.varchar2 AS "TABLESPACE_NAME",
    NULL::ora.varchar2 AS "CLUSTER_NAME", NULL::ora.varchar2 AS "IOT_NAME", 'VALID'::ora.varchar2 AS "STATUS",
    coalesce(s.pct_free, 10)::numeric AS "PCT_FREE", NULL::numeric AS "PCT_USED", coalesce(s.ini_trans, 1)::numeric AS "INI_TRANS",
    255::numeric AS "MAX_TRANS", CASE WHEN coalesce(s.logging, true) THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "LOGGING",
    CASE WHEN c.reltuples >= 0 THEN c.reltuples::numeric END AS "NUM_ROWS", '         1'::ora.varchar2 AS "DEGREE",
    pg_stat_get_last_analyze_time(c.oid)::timestamp::ora.odate AS "LAST_ANALYZED", 'NO'::ora.varchar2 AS "PARTITIONED",
    NULL::ora.varchar2 AS "IOT_TYPE", 'N'::ora.varchar2 AS "TEMPORARY", 'N'::ora.varchar2 AS "SECONDARY", 'NO'::ora.varchar2 AS "NESTED",
    NULL::ora.varchar2 AS "DURATION", 'DISABLED'::ora.varchar2 AS "COMPRESSION", NULL::ora.varchar2 AS "COMPRESS_FOR",
    'NO'::ora.varchar2 AS "DROPPED", 'NO'::ora.varchar2 AS "READ_ONLY", 'NO'::ora.varchar2 AS "EXTERNAL",
    CASE WHEN EXISTS (SELECT 1 FROM ora.row_movement m WHERE m.relation = c.oid) THEN 'ENABLED' ELSE 'DISABLED' END::ora.varchar2 AS "ROW_MOVEMENT"
  FROM ora.relations c LEFT JOIN ora.storage_note s ON s.relation = c.oid WHERE c.relkind = 'r';
SELECT ora.own_view('USER_TABLES', 'ALL_TABLES', 'OWNER');

-- TEXT here, and TRIGGER_BODY below, are LONG in Oracle: drivers give text, not a locator.
CREATE VIEW ora."ALL_VIEWS" AS
  SELECT v.owner::ora.varchar2 AS "OWNER", v.name::ora.varchar2 AS "VIEW_NAME", length(v.source)::numeric AS "TEXT_LENGTH",
    v.source::ora.varchar2 AS "TEXT", pg_catalog.left(v.source, 4000)::ora.varchar2 AS "TEXT_VC",
    NULL::ora.varchar2 AS "VIEW_TYPE", CASE WHEN v.read_only THEN 'Y' ELSE 'N' END::ora.varchar2 AS "READ_ONLY"
  FROM (SELECT c.nspname AS owner, c.relname AS name, t.source, t.read_only FROM ora.relations c JOIN ora.view_texts t ON t.rel = c.oid
    UNION ALL SELECT owner, name, source, read_only FROM ora.invalid_views i WHERE ora.sees(i.owner, i.name)) v;
SELECT ora.own_view('USER_VIEWS', 'ALL_VIEWS', 'OWNER');

-- Of views alone: what triggers depend on is not kept.
CREATE VIEW ora."ALL_DEPENDENCIES" AS
  SELECT DISTINCT ora.name(v.nspname) AS "OWNER", ora.name(v.relname) AS "NAME", 'VIEW'::ora.varchar2 AS "TYPE",
    ora.name(r.nspname) AS "REFERENCED_OWNER", ora.name(r.relname) AS "REFERENCED_NAME",
    CASE WHEN r.relkind = 'r' THEN 'TABLE' WHEN EXISTS (SELECT 1 FROM ora.synonyms s WHERE s.owner = r.nspname AND s.name = r.relname) THEN 'SYNONYM'
      ELSE 'VIEW' END::ora.varchar2 AS "REFERENCED_TYPE",
    NULL::ora.varchar2 AS "REFERENCED_LINK_NAME", 'HARD'::ora.varchar2 AS "DEPENDENCY_TYPE"
  FROM ora.relations v JOIN ora.view_texts t ON t.rel = v.oid JOIN pg_rewrite w ON w.ev_class = v.oid
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = w.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
    JOIN ora.relations r ON r.oid = d.refobjid AND r.relkind IN ('r', 'v');
SELECT ora.own_view('USER_DEPENDENCIES', 'ALL_DEPENDENCIES', 'OWNER');

CREATE VIEW ora."ALL_MVIEWS" AS
  SELECT NULL::ora.varchar2 AS "OWNER", NULL::ora.varchar2 AS "MVIEW_NAME", NULL::ora.clob AS "QUERY" WHERE false;
CREATE VIEW ora."USER_MVIEWS" AS SELECT * FROM ora."ALL_MVIEWS";

CREATE VIEW ora."ALL_TAB_COLS" AS
  SELECT ora.name(c.nspname) AS "OWNER", ora.name(c.relname) AS "TABLE_NAME", ora.name(a.attname) AS "COLUMN_NAME",
    ora.data_type(a.atttypid, a.atttypmod, i.declared)::ora.varchar2 AS "DATA_TYPE",
    NULL::ora.varchar2 AS "DATA_TYPE_MOD", NULL::ora.varchar2 AS "DATA_TYPE_OWNER",
    CASE
      WHEN a.atttypid = 'ora.varchar2'::regtype AND a.atttypmod > 4
        THEN CASE WHEN i.length_unit = 'CHAR' THEN least((a.atttypmod - 4) * 4, 32767) ELSE a.atttypmod - 4 END
      WHEN a.atttypid = 'bpchar'::regtype THEN CASE WHEN i.length_unit = 'CHAR' THEN (a.atttypmod - 4) * 4 ELSE a.atttypmod - 4 END
      WHEN i.declared LIKE 'RAW(%' THEN substring(i.declared FROM '[0-9]+')::int4
      WHEN a.atttypid = 'numeric'::regtype THEN 22
      WHEN a.atttypid = 'ora.odate'::regtype THEN 7
      WHEN a.atttypid IN ('vector'::regtype, 'jsonb'::regtype) THEN 8200
      WHEN a.atttypid = 'timestamptz'::regtype THEN 13
      WHEN a.atttypid IN ('timestamp'::regtype, 'interval'::regtype) THEN 11
      WHEN a.atttypid = 'float8'::regtype THEN 8
      WHEN a.atttypid = 'float4'::regtype THEN 4
      WHEN a.atttypid = 'bool'::regtype THEN 1
      ELSE 4000
    END::numeric AS "DATA_LENGTH",
    CASE WHEN i.declared = 'FLOAT' THEN 126
      WHEN a.atttypid = 'numeric'::regtype AND a.atttypmod >= 4 AND NOT (a.atttypmod = 2490372) THEN (a.atttypmod - 4) >> 16 & 65535
    END::numeric AS "DATA_PRECISION",
    CASE WHEN a.atttypid = 'numeric'::regtype AND a.atttypmod >= 4 THEN ((a.atttypmod - 4 & 2047) # 1024) - 1024
      WHEN a.atttypid IN ('timestamp'::regtype, 'timestamptz'::regtype) THEN CASE WHEN a.atttypmod < 0 THEN 6 ELSE a.atttypmod END
    END::numeric AS "DATA_SCALE",
    CASE WHEN a.attnotnull THEN 'N' ELSE 'Y' END::ora.varchar2 AS "NULLABLE",
    row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum)::numeric AS "COLUMN_ID",
    length(coalesce(i.default_text, pg_get_expr(d.adbin, d.adrelid)))::numeric AS "DEFAULT_LENGTH",
    CASE WHEN i.identity IS NOT NULL THEN '"' || c.nspname || '"."' || (SELECT ora.name_of(relname) FROM pg_class WHERE oid = i.sequence) || '".nextval'
      ELSE coalesce(i.default_text, pg_get_expr(d.adbin, d.adrelid)) END::ora.varchar2 AS "DATA_DEFAULT",
    NULL::ora.varchar2 AS "CHARACTER_SET_NAME",
    CASE WHEN a.atttypid IN ('ora.varchar2'::regtype, 'bpchar'::regtype) AND a.atttypmod > 4 THEN a.atttypmod - 4 ELSE 0 END::numeric AS "CHAR_LENGTH",
    CASE WHEN a.atttypid IN ('ora.varchar2'::regtype, 'bpchar'::regtype) THEN CASE WHEN i.length_unit = 'CHAR' THEN 'C' ELSE 'B' END END::ora.varchar2 AS "CHAR_USED",
    'NO'::ora.varchar2 AS "HIDDEN_COLUMN", CASE WHEN a.attgenerated <> '' THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "VIRTUAL_COLUMN",
    row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum)::numeric AS "SEGMENT_COLUMN_ID",
    row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum)::numeric AS "INTERNAL_COLUMN_ID",
    ora.name(a.attname) AS "QUALIFIED_COL_NAME", 'YES'::ora.varchar2 AS "USER_GENERATED",
    CASE WHEN EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = ' DEFAULT$' || a.attnum) THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "DEFAULT_ON_NULL",
    CASE WHEN i.identity IS NOT NULL THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "IDENTITY_COLUMN",
    CASE WHEN a.atttypid IN ('ora.varchar2'::regtype, 'bpchar'::regtype, 'ora.clob'::regtype) THEN 'USING_NLS_COMP' END::ora.varchar2 AS "COLLATION",
    CASE WHEN a.atttypid = 'vector'::regtype THEN 'VECTOR(' || CASE WHEN a.atttypmod > 0 THEN a.atttypmod::text ELSE '*' END || ','
      || CASE i.vector_format WHEN 2 THEN 'FLOAT32' WHEN 3 THEN 'FLOAT64' WHEN 4 THEN 'INT8' ELSE '*' END || ',DENSE)' END::ora.varchar2 AS "VECTOR_INFO"
  FROM ora.relations c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    LEFT JOIN ora.column_info i ON i.rel = c.oid AND i.number = a.attnum
  WHERE c.relkind IN ('r', 'v');
SELECT ora.own_view('USER_TAB_COLS', 'ALL_TAB_COLS', 'OWNER');
-- Without what is said of hidden columns alone.
SELECT ora.part_of_view('ALL_TAB_COLUMNS', 'ALL_TAB_COLS', 'true', ARRAY['HIDDEN_COLUMN', 'VIRTUAL_COLUMN', 'SEGMENT_COLUMN_ID', 'INTERNAL_COLUMN_ID', 'QUALIFIED_COL_NAME', 'USER_GENERATED']);
SELECT ora.own_view('USER_TAB_COLUMNS', 'ALL_TAB_COLUMNS', 'OWNER');

CREATE VIEW ora."ALL_TAB_IDENTITY_COLS" AS
  SELECT ora.name(c.nspname) AS "OWNER", ora.name(c.relname) AS "TABLE_NAME", ora.name(a.attname) AS "COLUMN_NAME",
    CASE WHEN i.identity = 'ALWAYS' THEN 'ALWAYS' ELSE 'BY DEFAULT' END::ora.varchar2 AS "GENERATION_TYPE",
    ora.name(s.relname) AS "SEQUENCE_NAME",
    format('START WITH: %s, INCREMENT BY: %s, MAX_VALUE: %s, MIN_VALUE: %s, CYCLE_FLAG: %s, CACHE_SIZE: 20, ORDER_FLAG: N', q.seqstart,
      q.seqincrement, CASE WHEN q.seqmax = 9223372036854775807 THEN '9999999999999999999999999999' ELSE q.seqmax::text END, q.seqmin,
      CASE WHEN q.seqcycle THEN 'Y' ELSE 'N' END)::ora.varchar2 AS "IDENTITY_OPTIONS"
  FROM ora.column_info i JOIN ora.relations c ON c.oid = i.rel JOIN pg_attribute a ON a.attrelid = i.rel AND a.attnum = i.number
    JOIN pg_class s ON s.oid = i.sequence JOIN pg_sequence q ON q.seqrelid = i.sequence
  WHERE i.identity IS NOT NULL;
SELECT ora.own_view('USER_TAB_IDENTITY_COLS', 'ALL_TAB_IDENTITY_COLS', 'OWNER');

-- Indexes. One whose name ends in $NULLS belongs to a unique key and has no counterpart in Oracle. A descending column is an
-- expression to Oracle: its name is a hidden column's, the index is function-based.
CREATE FUNCTION ora.is_descending(options int2vector) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(bool_or(o & 1 = 1), false) FROM unnest(options::int2[]) o $$;
CREATE VIEW ora."ALL_INDEXES" AS
  SELECT ora.name(t.nspname) AS "OWNER", ora.name(i.relname) AS "INDEX_NAME",
    CASE WHEN v.idx IS NOT NULL THEN 'VECTOR' WHEN o.idx IS NOT NULL THEN 'DOMAIN' WHEN x.indexprs IS NOT NULL OR ora.is_descending(x.indoption) THEN 'FUNCTION-BASED NORMAL' ELSE 'NORMAL' END::ora.varchar2 AS "INDEX_TYPE",
    ora.name(t.nspname) AS "TABLE_OWNER", ora.name(t.relname) AS "TABLE_NAME", 'TABLE'::ora.varchar2 AS "TABLE_TYPE",
    CASE WHEN x.indisunique THEN 'UNIQUE' ELSE 'NONUNIQUE' END::ora.varchar2 AS "UNIQUENESS", 'DISABLED'::ora.varchar2 AS "COMPRESSION",
    NULL::numeric AS "PREFIX_LENGTH", coalesce(s.tablespace, 'USERS')::ora.varchar2 AS "TABLESPACE_NAME",
    coalesce(s.ini_trans, 2)::numeric AS "INI_TRANS", coalesce(s.pct_free, 10)::numeric AS "PCT_FREE",
    coalesce(v.status, 'VALID')::ora.varchar2 AS "STATUS", CASE WHEN i.reltuples >= 0 THEN i.reltuples::numeric END AS "NUM_ROWS",
    pg_stat_get_last_analyze_time(t.oid)::timestamp::ora.odate AS "LAST_ANALYZED", '1'::ora.varchar2 AS "DEGREE", 'NO'::ora.varchar2 AS "PARTITIONED", 'N'::ora.varchar2 AS "TEMPORARY",
    CASE WHEN i.relname LIKE 'SYS\_C%' THEN 'Y' ELSE 'N' END::ora.varchar2 AS "GENERATED", 'N'::ora.varchar2 AS "SECONDARY",
    CASE WHEN o.idx IS NOT NULL THEN 'CTXSYS' END::ora.varchar2 AS "ITYP_OWNER", CASE WHEN o.idx IS NOT NULL THEN 'CONTEXT' END::ora.varchar2 AS "ITYP_NAME",
    o.parameters::ora.varchar2 AS "PARAMETERS",
    CASE WHEN o.idx IS NOT NULL THEN 'VALID' END::ora.varchar2 AS "DOMIDX_STATUS", CASE WHEN o.idx IS NOT NULL THEN 'VALID' END::ora.varchar2 AS "DOMIDX_OPSTATUS",
    CASE WHEN x.indexprs IS NOT NULL AND v.idx IS NULL AND o.idx IS NULL THEN 'ENABLED' END::ora.varchar2 AS "FUNCIDX_STATUS",
    'NO'::ora.varchar2 AS "JOIN_INDEX", 'VISIBLE'::ora.varchar2 AS "VISIBILITY",
    CASE WHEN EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.oid AND k.contype IN ('p', 'u')) THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "CONSTRAINT_INDEX",
    v.subtype::ora.varchar2 AS "INDEX_SUBTYPE"
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN ora.relations t ON t.oid = x.indrelid
    LEFT JOIN ora.vector_indexes v ON v.idx = i.oid LEFT JOIN ora.text_indexes o ON o.idx = i.oid LEFT JOIN ora.storage_note s ON s.relation = i.oid
  WHERE i.relname NOT LIKE '%$NULLS';
SELECT ora.own_view('USER_INDEXES', 'ALL_INDEXES', 'OWNER');

CREATE VIEW ora."ALL_IND_COLUMNS" AS
  SELECT ora.name(t.nspname) AS "INDEX_OWNER", ora.name(i.relname) AS "INDEX_NAME", ora.name(t.nspname) AS "TABLE_OWNER",
    ora.name(t.relname) AS "TABLE_NAME",
    CASE WHEN o.idx IS NOT NULL THEN o.column_name WHEN a.attname IS NOT NULL AND (x.indoption::int2[])[k.position - 1] & 1 = 0 THEN ora.name_of(a.attname)
      ELSE 'SYS_NC' || lpad(k.position::text, 5, '0') || '$' END::ora.varchar2 AS "COLUMN_NAME",
    k.position::numeric AS "COLUMN_POSITION", 22::numeric AS "COLUMN_LENGTH", 0::numeric AS "CHAR_LENGTH",
    CASE WHEN (x.indoption::int2[])[k.position - 1] & 1 = 1 THEN 'DESC' ELSE 'ASC' END::ora.varchar2 AS "DESCEND"
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN ora.relations t ON t.oid = x.indrelid
    CROSS JOIN LATERAL unnest(x.indkey::int2[]) WITH ORDINALITY k(number, position)
    LEFT JOIN ora.vector_indexes v ON v.idx = i.oid LEFT JOIN ora.text_indexes o ON o.idx = i.oid
    LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number AND k.number > 0
  WHERE i.relname NOT LIKE '%$NULLS';
SELECT ora.own_view('USER_IND_COLUMNS', 'ALL_IND_COLUMNS', 'INDEX_OWNER', 'TABLE_OWNER');

CREATE VIEW ora."ALL_IND_EXPRESSIONS" AS
  SELECT ora.name(t.nspname) AS "INDEX_OWNER", ora.name(i.relname) AS "INDEX_NAME", ora.name(t.nspname) AS "TABLE_OWNER",
    ora.name(t.relname) AS "TABLE_NAME", e.source::ora.varchar2 AS "COLUMN_EXPRESSION", e.number::numeric AS "COLUMN_POSITION"
  FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN ora.relations t ON t.oid = x.indrelid
    CROSS JOIN LATERAL (
      SELECT n.number, n.source FROM ora.index_expressions n WHERE n.idx = i.oid
      UNION ALL
      SELECT k.position, '"' || ora.name_of(a.attname) || '"' FROM unnest(x.indkey::int2[]) WITH ORDINALITY k(number, position)
        JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
        WHERE k.number > 0 AND (x.indoption::int2[])[k.position - 1] & 1 = 1
    ) e;
SELECT ora.own_view('USER_IND_EXPRESSIONS', 'ALL_IND_EXPRESSIONS', 'INDEX_OWNER', 'TABLE_OWNER');

-- Constraints. Length checks (LEN$n) and the NOT NULL that PostgreSQL derives from a primary key (lower-case name) are left out.
CREATE VIEW ora.visible_constraints AS
  SELECT k.*, t.nspname, t.relname FROM pg_constraint k JOIN ora.relations t ON t.oid = k.conrelid
  WHERE k.contype IN ('p', 'u', 'f', 'c', 'n') AND k.conname NOT LIKE 'LEN$%' AND NOT (k.contype = 'n' AND k.conname LIKE '%\_not\_null%');
CREATE VIEW ora."ALL_CONSTRAINTS" AS
  SELECT ora.name(k.nspname) AS "OWNER", ora.name(k.conname) AS "CONSTRAINT_NAME",
    CASE k.contype WHEN 'p' THEN 'P' WHEN 'u' THEN 'U' WHEN 'f' THEN 'R' ELSE 'C' END::ora.varchar2 AS "CONSTRAINT_TYPE",
    ora.name(k.relname) AS "TABLE_NAME", s.condition::ora.varchar2 AS "SEARCH_CONDITION", s.condition::ora.varchar2 AS "SEARCH_CONDITION_VC",
    ora.name(r.nspname) AS "R_OWNER", ora.name(r.conname) AS "R_CONSTRAINT_NAME",
    CASE WHEN k.contype = 'f' THEN CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'NO ACTION' END END::ora.varchar2 AS "DELETE_RULE",
    'ENABLED'::ora.varchar2 AS "STATUS", CASE WHEN k.condeferrable THEN 'DEFERRABLE' ELSE 'NOT DEFERRABLE' END::ora.varchar2 AS "DEFERRABLE",
    CASE WHEN k.condeferred THEN 'DEFERRED' ELSE 'IMMEDIATE' END::ora.varchar2 AS "DEFERRED", 'VALIDATED'::ora.varchar2 AS "VALIDATED",
    CASE WHEN k.conname LIKE 'SYS\_C%' THEN 'GENERATED NAME' ELSE 'USER NAME' END::ora.varchar2 AS "GENERATED",
    NULL::ora.varchar2 AS "INVALID", ora.name(CASE WHEN k.contype IN ('p', 'u') THEN k.nspname END) AS "INDEX_OWNER",
    ora.name(CASE WHEN k.contype IN ('p', 'u') THEN i.relname END) AS "INDEX_NAME"
  FROM ora.visible_constraints k
    CROSS JOIN LATERAL (SELECT CASE k.contype
      WHEN 'n' THEN (SELECT '"' || ora.name_of(a.attname) || '" IS NOT NULL' FROM pg_attribute a WHERE a.attrelid = k.conrelid AND a.attnum = k.conkey[1])
      WHEN 'c' THEN coalesce((SELECT c.source FROM ora.check_note c WHERE c.relation = k.conrelid AND c.name = ora.name_of(k.conname)), pg_get_expr(k.conbin, k.conrelid))
    END AS condition) s
    LEFT JOIN ora.visible_constraints r ON k.contype = 'f' AND r.conindid = k.conindid AND r.contype IN ('p', 'u')
    LEFT JOIN pg_class i ON i.oid = k.conindid;
CREATE VIEW ora."USER_CONSTRAINTS" AS SELECT * FROM ora."ALL_CONSTRAINTS" WHERE "OWNER"::text = ora.usr();
CREATE VIEW ora."ALL_CONS_COLUMNS" AS
  SELECT ora.name(k.nspname) AS "OWNER", ora.name(k.conname) AS "CONSTRAINT_NAME", ora.name(k.relname) AS "TABLE_NAME",
    ora.name(a.attname) AS "COLUMN_NAME", CASE WHEN k.contype IN ('p', 'u', 'f') THEN u.position END::numeric AS "POSITION"
  FROM ora.visible_constraints k CROSS JOIN LATERAL unnest(k.conkey) WITH ORDINALITY u(number, position)
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number;
CREATE VIEW ora."USER_CONS_COLUMNS" AS SELECT * FROM ora."ALL_CONS_COLUMNS" WHERE "OWNER"::text = ora.usr();

CREATE VIEW ora."ALL_TAB_COMMENTS" AS
  SELECT ora.name(c.nspname) AS "OWNER", ora.name(c.relname) AS "TABLE_NAME", CASE c.relkind WHEN 'r' THEN 'TABLE' ELSE 'VIEW' END::ora.varchar2 AS "TABLE_TYPE",
    obj_description(c.oid, 'pg_class')::ora.varchar2 AS "COMMENTS"
  FROM ora.relations c WHERE c.relkind IN ('r', 'v');
SELECT ora.own_view('USER_TAB_COMMENTS', 'ALL_TAB_COMMENTS', 'OWNER');
CREATE VIEW ora."ALL_COL_COMMENTS" AS
  SELECT ora.name(c.nspname) AS "OWNER", ora.name(c.relname) AS "TABLE_NAME", ora.name(a.attname) AS "COLUMN_NAME",
    col_description(c.oid, a.attnum)::ora.varchar2 AS "COMMENTS"
  FROM ora.relations c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped WHERE c.relkind IN ('r', 'v');
SELECT ora.own_view('USER_COL_COMMENTS', 'ALL_COL_COMMENTS', 'OWNER');
CREATE VIEW ora."ALL_MVIEW_COMMENTS" AS
  SELECT NULL::ora.varchar2 AS "OWNER", NULL::ora.varchar2 AS "MVIEW_NAME", NULL::ora.varchar2 AS "COMMENTS" WHERE false;

CREATE VIEW ora."ALL_SEQUENCES" AS
  SELECT ora.name(c.nspname) AS "SEQUENCE_OWNER", ora.name(c.relname) AS "SEQUENCE_NAME", q.seqmin::numeric AS "MIN_VALUE",
    CASE WHEN q.seqmax = 9223372036854775807 THEN 9999999999999999999999999999 ELSE q.seqmax::numeric END AS "MAX_VALUE",
    q.seqincrement::numeric AS "INCREMENT_BY", CASE WHEN q.seqcycle THEN 'Y' ELSE 'N' END::ora.varchar2 AS "CYCLE_FLAG",
    CASE WHEN o.ordered THEN 'Y' ELSE 'N' END::ora.varchar2 AS "ORDER_FLAG", coalesce(o.cache, 20)::numeric AS "CACHE_SIZE",
    coalesce(pg_sequence_last_value(c.oid) + q.seqincrement, q.seqstart)::numeric AS "LAST_NUMBER"
  FROM ora.relations c JOIN pg_sequence q ON q.seqrelid = c.oid LEFT JOIN ora.sequence_options o ON o.seq = c.oid;
SELECT ora.own_view('USER_SEQUENCES', 'ALL_SEQUENCES', 'SEQUENCE_OWNER');

CREATE VIEW ora."ALL_SYNONYMS" AS
  SELECT owner::ora.varchar2 AS "OWNER", name::ora.varchar2 AS "SYNONYM_NAME", table_owner::ora.varchar2 AS "TABLE_OWNER",
    table_name::ora.varchar2 AS "TABLE_NAME", NULL::ora.varchar2 AS "DB_LINK" FROM ora.synonyms s
  WHERE ora.sees(s.owner, s.name) OR ora.sees(s.table_owner, s.table_name) OR (SELECT ora.may('SELECT ANY TABLE'));
SELECT ora.own_view('USER_SYNONYMS', 'ALL_SYNONYMS', 'OWNER');
CREATE VIEW ora."ALL_DB_LINKS" AS
  SELECT NULL::ora.varchar2 AS "OWNER", NULL::ora.varchar2 AS "DB_LINK", NULL::ora.varchar2 AS "USERNAME", NULL::ora.varchar2 AS "HOST" WHERE false;
CREATE VIEW ora."ALL_DIRECTORIES" AS
  SELECT 'SYS'::ora.varchar2 AS "OWNER", name::ora.varchar2 AS "DIRECTORY_NAME", path::ora.varchar2 AS "DIRECTORY_PATH", 1::numeric AS "ORIGIN_CON_ID" FROM ora.directories
  WHERE ora.sees('SYS', name) OR (SELECT ora.may('CREATE ANY DIRECTORY', 'DROP ANY DIRECTORY'));
CREATE VIEW ora."ALL_CREDENTIALS" AS
  SELECT owner::ora.varchar2 AS "OWNER", name::ora.varchar2 AS "CREDENTIAL_NAME", NULL::ora.varchar2 AS "USERNAME", NULL::ora.varchar2 AS "WINDOWS_DOMAIN",
    NULL::ora.varchar2 AS "COMMENTS", 'TRUE'::ora.varchar2 AS "ENABLED" FROM ora.credentials WHERE owner = current_setting('ora.user');
SELECT ora.own_view('USER_CREDENTIALS', 'ALL_CREDENTIALS', 'OWNER');
CREATE VIEW ora."ALL_USERS" AS
  SELECT name::ora.varchar2 AS "USERNAME", (100 + row_number() OVER (ORDER BY created, name))::numeric AS "USER_ID", created::timestamp::ora.odate AS "CREATED",
    'NO'::ora.varchar2 AS "COMMON", 'N'::ora.varchar2 AS "ORACLE_MAINTAINED" FROM ora.users
  UNION ALL -- Oracle Text is installed
  SELECT 'CTXSYS'::ora.varchar2, 88::numeric, NULL::ora.odate, 'YES'::ora.varchar2, 'Y'::ora.varchar2;
CREATE VIEW ora."USER_USERS" AS
  SELECT "USERNAME", "USER_ID", 'OPEN'::ora.varchar2 AS "ACCOUNT_STATUS", 'USERS'::ora.varchar2 AS "DEFAULT_TABLESPACE",
    'TEMP'::ora.varchar2 AS "TEMPORARY_TABLESPACE", "CREATED" FROM ora."ALL_USERS" WHERE "USERNAME"::text = ora.usr();

CREATE VIEW ora."ALL_TRIGGERS" AS
  SELECT t.owner::ora.varchar2 AS "OWNER", t.name::ora.varchar2 AS "TRIGGER_NAME", t.kind::ora.varchar2 AS "TRIGGER_TYPE",
    t.event::ora.varchar2 AS "TRIGGERING_EVENT", ora.name(n.nspname) AS "TABLE_OWNER",
    CASE c.relkind WHEN 'r' THEN 'TABLE' ELSE 'VIEW' END::ora.varchar2 AS "BASE_OBJECT_TYPE", ora.name(c.relname) AS "TABLE_NAME",
    NULL::ora.varchar2 AS "COLUMN_NAME", 'REFERENCING NEW AS NEW OLD AS OLD'::ora.varchar2 AS "REFERENCING_NAMES",
    t.condition::ora.varchar2 AS "WHEN_CLAUSE", CASE WHEN t.enabled THEN 'ENABLED' ELSE 'DISABLED' END::ora.varchar2 AS "STATUS",
    'PL/SQL     '::ora.varchar2 AS "ACTION_TYPE", t.body::ora.varchar2 AS "TRIGGER_BODY"
  FROM ora.triggers t JOIN pg_class c ON c.oid = t.rel JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE current_setting('ora.user') IN (t.owner, ora.name_of(n.nspname)) OR (SELECT ora.may('CREATE ANY TRIGGER', 'ALTER ANY TRIGGER', 'DROP ANY TRIGGER'));
SELECT ora.own_view('USER_TRIGGERS', 'ALL_TRIGGERS', 'OWNER');
CREATE VIEW ora."ALL_ERRORS" AS
  SELECT NULL::ora.varchar2 AS "OWNER", NULL::ora.varchar2 AS "NAME", NULL::ora.varchar2 AS "TYPE", NULL::numeric AS "SEQUENCE", NULL::numeric AS "LINE",
    NULL::numeric AS "POSITION", NULL::ora.varchar2 AS "TEXT", NULL::ora.varchar2 AS "ATTRIBUTE", NULL::numeric AS "MESSAGE_NUMBER" WHERE false;
SELECT ora.own_view('USER_ERRORS', 'ALL_ERRORS', 'OWNER');

CREATE VIEW ora.visible_models AS
  SELECT * FROM ora.model m WHERE ora.sees(m.owner, m.name) OR (SELECT ora.may('SELECT ANY MINING MODEL', 'ALTER ANY MINING MODEL', 'DROP ANY MINING MODEL'));
CREATE VIEW ora."ALL_MINING_MODELS" AS
  SELECT owner::ora.varchar2 AS "OWNER", name::ora.varchar2 AS "MODEL_NAME", pg_catalog.upper(COALESCE(metadata ->> 'function', 'embedding'))::ora.varchar2 AS "MINING_FUNCTION", 'ONNX'::ora.varchar2 AS "ALGORITHM",
    'NATIVE'::ora.varchar2 AS "ALGORITHM_TYPE", created::timestamp::ora.odate AS "CREATION_DATE", 0::numeric AS "BUILD_DURATION",
    octet_length(data)::numeric AS "MODEL_SIZE", 'NO'::ora.varchar2 AS "PARTITIONED", NULL::ora.varchar2 AS "COMMENTS" FROM ora.visible_models;
SELECT ora.own_view('USER_MINING_MODELS', 'ALL_MINING_MODELS', 'OWNER');
CREATE VIEW ora."ALL_MINING_MODEL_ATTRIBUTES" AS
  SELECT owner::ora.varchar2 AS "OWNER", name::ora.varchar2 AS "MODEL_NAME", 'ORA$ONNXTARGET'::ora.varchar2 AS "ATTRIBUTE_NAME",
    'VECTOR'::ora.varchar2 AS "ATTRIBUTE_TYPE", 'VECTOR'::ora.varchar2 AS "DATA_TYPE", NULL::numeric AS "DATA_LENGTH",
    ('VECTOR(' || dimensions || ',FLOAT32)')::ora.varchar2 AS "VECTOR_INFO", 'ACTIVE'::ora.varchar2 AS "USAGE_TYPE", 'YES'::ora.varchar2 AS "TARGET" FROM ora.visible_models
    WHERE metadata ->> 'function' IS DISTINCT FROM 'regression'
  UNION ALL
  SELECT m.owner::ora.varchar2, m.name::ora.varchar2, pg_catalog.upper(a.attribute)::ora.varchar2, 'TEXT'::ora.varchar2, 'VARCHAR2'::ora.varchar2, 4000::numeric,
    NULL::ora.varchar2, 'ACTIVE'::ora.varchar2, 'NO'::ora.varchar2
  FROM ora.visible_models m CROSS JOIN LATERAL jsonb_each(m.metadata -> 'input') i(tensor, attributes)
    CROSS JOIN LATERAL jsonb_array_elements_text(i.attributes) a(attribute)
  WHERE jsonb_typeof(m.metadata -> 'input') = 'object';
SELECT ora.own_view('USER_MINING_MODEL_ATTRIBUTES', 'ALL_MINING_MODEL_ATTRIBUTES', 'OWNER');

CREATE VIEW ora."ALL_OBJECTS" AS
  SELECT ora.name(c.nspname) AS "OWNER", ora.name(c.relname) AS "OBJECT_NAME", NULL::ora.varchar2 AS "SUBOBJECT_NAME", c.oid::int8::numeric AS "OBJECT_ID",
    CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'S' THEN 'SEQUENCE' WHEN 'i' THEN 'INDEX'
      ELSE CASE WHEN EXISTS (SELECT 1 FROM ora.synonyms s WHERE s.owner = c.nspname AND s.name = c.relname) THEN 'SYNONYM' ELSE 'VIEW' END END::ora.varchar2 AS "OBJECT_TYPE",
    'VALID'::ora.varchar2 AS "STATUS", 'N'::ora.varchar2 AS "TEMPORARY", 'N'::ora.varchar2 AS "GENERATED", 'N'::ora.varchar2 AS "SECONDARY"
  FROM ora.relations c WHERE c.relkind IN ('r', 'S', 'i', 'v') AND c.relname NOT LIKE '%$NULLS'
  UNION ALL
  SELECT owner::ora.varchar2, name::ora.varchar2, NULL, NULL, 'TRIGGER'::ora.varchar2, 'VALID'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2 FROM ora.triggers t
  WHERE t.owner = current_setting('ora.user') OR (SELECT ora.may('CREATE ANY TRIGGER', 'ALTER ANY TRIGGER', 'DROP ANY TRIGGER'))
  UNION ALL
  SELECT owner::ora.varchar2, name::ora.varchar2, NULL, NULL, 'VIEW'::ora.varchar2, 'INVALID'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2 FROM ora.invalid_views v WHERE ora.sees(v.owner, v.name)
  UNION ALL
  SELECT owner::ora.varchar2, name::ora.varchar2, NULL, NULL, 'MINING MODEL'::ora.varchar2, 'VALID'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2 FROM ora.visible_models
  UNION ALL
  SELECT "OWNER", "DIRECTORY_NAME", NULL, NULL, 'DIRECTORY'::ora.varchar2, 'VALID'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2 FROM ora."ALL_DIRECTORIES"
  UNION ALL
  SELECT 'SYS'::ora.varchar2, p.name::ora.varchar2, NULL, NULL, 'PACKAGE'::ora.varchar2, 'VALID'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2, 'N'::ora.varchar2
  FROM (VALUES ('DBMS_VECTOR'), ('DBMS_DATA_MINING'), ('DBMS_STATS'), ('DBMS_OUTPUT'), ('DBMS_SESSION'), ('DBMS_TRANSACTION'), ('DBMS_LOB')) p(name);
SELECT ora.own_view('USER_OBJECTS', 'ALL_OBJECTS', 'OWNER');
CREATE VIEW ora."USER_SEGMENTS" AS
  SELECT ora.name(c.relname) AS "SEGMENT_NAME", CASE c.relkind WHEN 'r' THEN 'TABLE' ELSE 'INDEX' END::ora.varchar2 AS "SEGMENT_TYPE",
    'USERS'::ora.varchar2 AS "TABLESPACE_NAME", pg_total_relation_size(c.oid)::numeric AS "BYTES",
    (pg_total_relation_size(c.oid) / 8192)::numeric AS "BLOCKS"
  FROM ora.relations c WHERE c.relkind IN ('r', 'i') AND c.nspname = ora.usr() AND c.relname NOT LIKE '%$NULLS';

-- Types of objects and collections: the one that DBMS_VECTOR_CHAIN takes, as the wire protocol describes it.
CREATE VIEW ora."ALL_TYPES" AS
  SELECT 'SYS'::ora.varchar2 AS "OWNER", 'VECTOR_ARRAY_T'::ora.varchar2 AS "TYPE_NAME", '\x0ae1c0de0000000000000000000000a1'::bytea AS "TYPE_OID",
    'COLLECTION'::ora.varchar2 AS "TYPECODE", 0::numeric AS "ATTRIBUTES", 0::numeric AS "METHODS", 'NO'::ora.varchar2 AS "PREDEFINED", 'NO'::ora.varchar2 AS "INCOMPLETE",
    'YES'::ora.varchar2 AS "FINAL", 'YES'::ora.varchar2 AS "INSTANTIABLE", 'YES'::ora.varchar2 AS "PERSISTABLE", NULL::ora.varchar2 AS "SUPERTYPE_OWNER", NULL::ora.varchar2 AS "SUPERTYPE_NAME";
CREATE VIEW ora."ALL_COLL_TYPES" AS
  SELECT "OWNER", "TYPE_NAME", 'TABLE'::ora.varchar2 AS "COLL_TYPE", NULL::numeric AS "UPPER_BOUND", NULL::ora.varchar2 AS "ELEM_TYPE_MOD",
    NULL::ora.varchar2 AS "ELEM_TYPE_OWNER", 'CLOB'::ora.varchar2 AS "ELEM_TYPE_NAME", NULL::numeric AS "LENGTH", NULL::numeric AS "PRECISION", NULL::numeric AS "SCALE",
    'CHAR_CS'::ora.varchar2 AS "CHARACTER_SET_NAME", NULL::ora.varchar2 AS "ELEM_STORAGE" FROM ora."ALL_TYPES";

-- Privileges.
CREATE VIEW ora."SESSION_PRIVS" AS
  SELECT DISTINCT p.privilege::ora.varchar2 AS "PRIVILEGE" FROM ora.privileges p JOIN ora.grantees g ON g.name = p.grantee WHERE p.kind = 'SYSTEM';
CREATE VIEW ora."SESSION_ROLES" AS
  SELECT DISTINCT p.privilege::ora.varchar2 AS "ROLE" FROM ora.privileges p JOIN ora.grantees g ON g.name = p.grantee WHERE p.kind = 'ROLE';
CREATE VIEW ora."USER_SYS_PRIVS" AS
  SELECT grantee::ora.varchar2 AS "USERNAME", privilege::ora.varchar2 AS "PRIVILEGE", CASE WHEN grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "ADMIN_OPTION"
  FROM ora.privileges WHERE kind = 'SYSTEM' AND grantee IN (ora.usr(), 'PUBLIC');
CREATE VIEW ora."USER_ROLE_PRIVS" AS
  SELECT grantee::ora.varchar2 AS "USERNAME", privilege::ora.varchar2 AS "GRANTED_ROLE", CASE WHEN grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "ADMIN_OPTION",
    'YES'::ora.varchar2 AS "DEFAULT_ROLE" FROM ora.privileges WHERE kind = 'ROLE' AND grantee IN (ora.usr(), 'PUBLIC');
CREATE VIEW ora."ROLE_SYS_PRIVS" AS
  SELECT p.grantee::ora.varchar2 AS "ROLE", p.privilege::ora.varchar2 AS "PRIVILEGE", CASE WHEN p.grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "ADMIN_OPTION"
  FROM ora.privileges p WHERE p.kind = 'SYSTEM' AND p.grantee IN (SELECT name FROM ora.roles) AND p.grantee IN (SELECT name FROM ora.grantees);
-- Those that one has, gave, or that are on what is one's own.
CREATE VIEW ora.visible_privileges AS
  SELECT * FROM ora.privileges p WHERE p.object <> ''
    AND (current_setting('ora.user') IN (p.grantor, p.owner) OR p.grantee IN (SELECT name FROM ora.grantees) OR (SELECT ora.may('GRANT ANY OBJECT PRIVILEGE')));
CREATE VIEW ora."ALL_TAB_PRIVS" AS
  SELECT grantor::ora.varchar2 AS "GRANTOR", grantee::ora.varchar2 AS "GRANTEE", owner::ora.varchar2 AS "TABLE_SCHEMA", object::ora.varchar2 AS "TABLE_NAME",
    privilege::ora.varchar2 AS "PRIVILEGE", CASE WHEN grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "GRANTABLE", kind::ora.varchar2 AS "TYPE"
  FROM ora.visible_privileges WHERE column_name = '';
CREATE VIEW ora."ALL_COL_PRIVS" AS
  SELECT grantor::ora.varchar2 AS "GRANTOR", grantee::ora.varchar2 AS "GRANTEE", owner::ora.varchar2 AS "TABLE_SCHEMA", object::ora.varchar2 AS "TABLE_NAME",
    column_name::ora.varchar2 AS "COLUMN_NAME", privilege::ora.varchar2 AS "PRIVILEGE", CASE WHEN grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "GRANTABLE"
  FROM ora.visible_privileges WHERE column_name <> '';
CREATE VIEW ora."USER_TAB_PRIVS" AS
  SELECT "GRANTEE", "TABLE_SCHEMA" AS "OWNER", "TABLE_NAME", "GRANTOR", "PRIVILEGE", "GRANTABLE", 'NO'::ora.varchar2 AS "HIERARCHY", "TYPE"
  FROM ora."ALL_TAB_PRIVS" WHERE ora.usr() IN ("GRANTEE"::text, "GRANTOR"::text, "TABLE_SCHEMA"::text);

-- What only the catalog's readers see (SELECT_CATALOG_ROLE, SELECT ANY DICTIONARY), and all of it.
CREATE VIEW ora."DBA_USERS" AS
  SELECT u."USERNAME", u."USER_ID", 'OPEN'::ora.varchar2 AS "ACCOUNT_STATUS", 'USERS'::ora.varchar2 AS "DEFAULT_TABLESPACE", 'TEMP'::ora.varchar2 AS "TEMPORARY_TABLESPACE",
    u."CREATED", 'DEFAULT'::ora.varchar2 AS "PROFILE", u."COMMON", u."ORACLE_MAINTAINED" FROM ora."ALL_USERS" u;
CREATE VIEW ora."DBA_ROLES" AS
  SELECT name::ora.varchar2 AS "ROLE", 'NO'::ora.varchar2 AS "PASSWORD_REQUIRED", 'NONE'::ora.varchar2 AS "AUTHENTICATION_TYPE", 'NO'::ora.varchar2 AS "COMMON" FROM ora.roles;
CREATE VIEW ora."DBA_SYS_PRIVS" AS
  SELECT grantee::ora.varchar2 AS "GRANTEE", privilege::ora.varchar2 AS "PRIVILEGE", CASE WHEN grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "ADMIN_OPTION",
    'NO'::ora.varchar2 AS "COMMON", 'NO'::ora.varchar2 AS "INHERITED" FROM ora.privileges WHERE kind = 'SYSTEM';
CREATE VIEW ora."DBA_ROLE_PRIVS" AS
  SELECT grantee::ora.varchar2 AS "GRANTEE", privilege::ora.varchar2 AS "GRANTED_ROLE", CASE WHEN grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "ADMIN_OPTION",
    'YES'::ora.varchar2 AS "DEFAULT_ROLE", 'NO'::ora.varchar2 AS "COMMON", 'NO'::ora.varchar2 AS "INHERITED" FROM ora.privileges WHERE kind = 'ROLE';
CREATE VIEW ora."DBA_TAB_PRIVS" AS
  SELECT grantee::ora.varchar2 AS "GRANTEE", owner::ora.varchar2 AS "OWNER", object::ora.varchar2 AS "TABLE_NAME", grantor::ora.varchar2 AS "GRANTOR",
    privilege::ora.varchar2 AS "PRIVILEGE", CASE WHEN grantable THEN 'YES' ELSE 'NO' END::ora.varchar2 AS "GRANTABLE", 'NO'::ora.varchar2 AS "HIERARCHY", kind::ora.varchar2 AS "TYPE"
  FROM ora.privileges WHERE object <> '' AND column_name = '';
CREATE VIEW ora."DBA_DIRECTORIES" AS
  SELECT 'SYS'::ora.varchar2 AS "OWNER", name::ora.varchar2 AS "DIRECTORY_NAME", path::ora.varchar2 AS "DIRECTORY_PATH", 1::numeric AS "ORIGIN_CON_ID" FROM ora.directories;
CREATE VIEW ora."DBA_MINING_MODELS" AS
  SELECT owner::ora.varchar2 AS "OWNER", name::ora.varchar2 AS "MODEL_NAME", pg_catalog.upper(COALESCE(metadata ->> 'function', 'embedding'))::ora.varchar2 AS "MINING_FUNCTION", 'ONNX'::ora.varchar2 AS "ALGORITHM",
    'NATIVE'::ora.varchar2 AS "ALGORITHM_TYPE", created::timestamp::ora.odate AS "CREATION_DATE", 0::numeric AS "BUILD_DURATION",
    octet_length(data)::numeric AS "MODEL_SIZE", 'NO'::ora.varchar2 AS "PARTITIONED", NULL::ora.varchar2 AS "COMMENTS" FROM ora.model;

-- The instance.
CREATE VIEW ora."V$VERSION" AS
  SELECT 'Oracle AI Database 26ai Free Release 23.26.0.0.0 (local stand-in of oraclerag, not Oracle software)'::ora.varchar2 AS "BANNER",
    'Oracle AI Database 26ai Free Release 23.26.0.0.0 (local stand-in of oraclerag, not Oracle software)'::ora.varchar2 AS "BANNER_FULL",
    'Oracle AI Database 26ai Free (local stand-in of oraclerag, not Oracle software)'::ora.varchar2 AS "BANNER_LEGACY", 0::numeric AS "CON_ID";
CREATE VIEW ora."PRODUCT_COMPONENT_VERSION" AS
  SELECT 'Oracle AI Database 26ai Free (local stand-in of oraclerag)'::ora.varchar2 AS "PRODUCT", '23.0.0.0.0'::ora.varchar2 AS "VERSION",
    '23.26.0.0.0'::ora.varchar2 AS "VERSION_FULL", 'Development'::ora.varchar2 AS "STATUS";
CREATE VIEW ora."V$INSTANCE" AS
  SELECT 1::numeric AS "INSTANCE_NUMBER", 'local'::ora.varchar2 AS "INSTANCE_NAME", 'localhost'::ora.varchar2 AS "HOST_NAME", '23.0.0.0.0'::ora.varchar2 AS "VERSION",
    '23.26.0.0.0'::ora.varchar2 AS "VERSION_FULL", pg_postmaster_start_time()::timestamp::ora.odate AS "STARTUP_TIME", 'OPEN'::ora.varchar2 AS "STATUS",
    'ACTIVE'::ora.varchar2 AS "DATABASE_STATUS", 'FREE'::ora.varchar2 AS "EDITION";
-- VECTOR_MEMORY_SIZE is what an HNSW index would need; there is no such pool here, and so no V$VECTOR_MEMORY_POOL.
CREATE VIEW ora."V$PARAMETER" AS
  SELECT p.num::numeric AS "NUM", p.name::ora.varchar2 AS "NAME", p.type::numeric AS "TYPE", p.value::ora.varchar2 AS "VALUE",
    p.value::ora.varchar2 AS "DISPLAY_VALUE", p.fixed::ora.varchar2 AS "DEFAULT_VALUE", CASE WHEN p.value = p.fixed THEN 'TRUE' ELSE 'FALSE' END::ora.varchar2 AS "ISDEFAULT",
    'FALSE'::ora.varchar2 AS "ISSES_MODIFIABLE", 'FALSE'::ora.varchar2 AS "ISSYS_MODIFIABLE", 'FALSE'::ora.varchar2 AS "ISPDB_MODIFIABLE", 'FALSE'::ora.varchar2 AS "ISMODIFIED",
    p.description::ora.varchar2 AS "DESCRIPTION", 0::numeric AS "CON_ID"
  FROM (VALUES
    (1, 'compatible', 2, '23.6.0', '23.6.0', 'Database will be completely compatible with this software version'),
    (2, 'db_block_size', 3, '8192', '8192', 'Size of database block in bytes'),
    (3, 'max_string_size', 2, pg_catalog.upper(coalesce(nullif(current_setting('ora.max_string_size', true), ''), 'STANDARD')), 'STANDARD', 'controls maximum size of VARCHAR2, NVARCHAR2, and RAW types in SQL'),
    (4, 'nls_length_semantics', 2, 'BYTE', 'BYTE', 'create columns using byte or char semantics by default'),
    (5, 'open_cursors', 3, '1000', '50', 'max # cursors per session'),
    (6, 'vector_memory_size', 6, '1073741824', '0', 'size in bytes of vector memory'))
    p(num, name, type, value, fixed, description);
CREATE VIEW ora."V$OPTION" AS
  SELECT p.name::ora.varchar2 AS "PARAMETER", p.value::ora.varchar2 AS "VALUE", 0::numeric AS "CON_ID"
  FROM (VALUES ('Partitioning', 'FALSE'), ('Real Application Clusters', 'FALSE'), ('Advanced Compression', 'FALSE'), ('Fine-grained access control', 'FALSE'),
    ('Bit-mapped indexes', 'FALSE'), ('Oracle Data Mining', 'TRUE'), ('Materialized view rewrite', 'FALSE')) p(name, value);
CREATE VIEW ora."NLS_DATABASE_PARAMETERS" AS
  SELECT p.name::ora.varchar2 AS "PARAMETER", p.value::ora.varchar2 AS "VALUE"
  FROM (VALUES ('NLS_CHARACTERSET', 'AL32UTF8'), ('NLS_NCHAR_CHARACTERSET', 'AL16UTF16'), ('NLS_LANGUAGE', 'AMERICAN'), ('NLS_TERRITORY', 'AMERICA'),
    ('NLS_DATE_FORMAT', 'DD-MON-RR'), ('NLS_TIMESTAMP_FORMAT', 'DD-MON-RR HH.MI.SSXFF AM'), ('NLS_TIMESTAMP_TZ_FORMAT', 'DD-MON-RR HH.MI.SSXFF AM TZR'), ('NLS_NUMERIC_CHARACTERS', '.,'), ('NLS_SORT', 'BINARY'),
    ('NLS_COMP', 'BINARY'), ('NLS_LENGTH_SEMANTICS', 'BYTE'), ('NLS_NCHAR_CONV_EXCP', 'FALSE'), ('NLS_RDBMS_VERSION', '23.0.0.0.0')) p(name, value);
CREATE VIEW ora."NLS_SESSION_PARAMETERS" AS
  SELECT "PARAMETER", coalesce(CASE WHEN "PARAMETER"::text LIKE '%\_FORMAT' THEN nullif(current_setting('ora.' || pg_catalog.lower("PARAMETER"::text), true), '') END, "VALUE"::text)::ora.varchar2 AS "VALUE"
  FROM ora."NLS_DATABASE_PARAMETERS" WHERE "PARAMETER"::text NOT IN ('NLS_CHARACTERSET', 'NLS_NCHAR_CHARACTERSET', 'NLS_RDBMS_VERSION');
CREATE VIEW ora."NLS_INSTANCE_PARAMETERS" AS
  SELECT "PARAMETER", CASE WHEN "PARAMETER"::text IN ('NLS_LANGUAGE', 'NLS_TERRITORY', 'NLS_COMP', 'NLS_LENGTH_SEMANTICS', 'NLS_NCHAR_CONV_EXCP') THEN "VALUE" END AS "VALUE"
  FROM ora."NLS_SESSION_PARAMETERS";
CREATE VIEW ora."V$NLS_PARAMETERS" AS
  SELECT "PARAMETER", "VALUE", 0::numeric AS "CON_ID" FROM ora."NLS_SESSION_PARAMETERS"
  UNION ALL SELECT "PARAMETER", "VALUE", 0 FROM ora."NLS_DATABASE_PARAMETERS" WHERE "PARAMETER"::text IN ('NLS_CHARACTERSET', 'NLS_NCHAR_CHARACTERSET');
CREATE VIEW ora."DATABASE_PROPERTIES" AS
  SELECT "PARAMETER" AS "PROPERTY_NAME", "VALUE" AS "PROPERTY_VALUE", NULL::ora.varchar2 AS "DESCRIPTION" FROM ora."NLS_DATABASE_PARAMETERS"
  UNION ALL SELECT p.name::ora.varchar2, p.value::ora.varchar2, NULL FROM (VALUES ('DEFAULT_PERMANENT_TABLESPACE', 'USERS'), ('DEFAULT_TEMP_TABLESPACE', 'TEMP'),
    ('MAX_STRING_SIZE', pg_catalog.upper(coalesce(nullif(current_setting('ora.max_string_size', true), ''), 'STANDARD'))), ('DBTIMEZONE', '00:00')) p(name, value);
-- Of VPD policies, which there are none of: DBMS_RLS is refused.
CREATE VIEW ora."ALL_POLICIES" AS
  SELECT NULL::ora.varchar2 AS "OBJECT_OWNER", NULL::ora.varchar2 AS "OBJECT_NAME", NULL::ora.varchar2 AS "POLICY_GROUP",
    NULL::ora.varchar2 AS "POLICY_NAME", NULL::ora.varchar2 AS "PF_OWNER", NULL::ora.varchar2 AS "PACKAGE", NULL::ora.varchar2 AS "FUNCTION",
    NULL::ora.varchar2 AS "SEL", NULL::ora.varchar2 AS "INS", NULL::ora.varchar2 AS "UPD", NULL::ora.varchar2 AS "DEL", NULL::ora.varchar2 AS "IDX",
    NULL::ora.varchar2 AS "CHK_OPTION", NULL::ora.varchar2 AS "ENABLE", NULL::ora.varchar2 AS "STATIC_POLICY", NULL::ora.varchar2 AS "POLICY_TYPE",
    NULL::ora.varchar2 AS "LONG_PREDICATE" WHERE false;
-- The session's own transaction; FLAG has bit 28 set when it is serializable.
CREATE VIEW ora."V$TRANSACTION" AS
  SELECT split_part(t.id, '.', 1)::numeric AS "XIDUSN", split_part(t.id, '.', 2)::numeric AS "XIDSLOT", split_part(t.id, '.', 3)::numeric AS "XIDSQN",
    'ACTIVE'::ora.varchar2 AS "STATUS", CASE current_setting('transaction_isolation') WHEN 'serializable' THEN 268435456 WHEN 'repeatable read' THEN 268435456 ELSE 0 END::numeric AS "FLAG"
  FROM (SELECT ora.transaction_id() AS id) t WHERE t.id IS NOT NULL;

GRANT USAGE ON SCHEMA ora TO PUBLIC;
