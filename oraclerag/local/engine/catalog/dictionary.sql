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

-- Of an index over expressions: Oracle's text of each, by position, and whether it is a multivalue index.
CREATE TABLE ora.index_expressions (idx oid NOT NULL, number int4 NOT NULL, source text NOT NULL, PRIMARY KEY (idx, number));
CREATE TABLE ora.storage_note (relation oid PRIMARY KEY, ini_trans int4, pct_free int4, tablespace text, logging bool NOT NULL);
CREATE TABLE ora.check_note (relation oid NOT NULL, name text NOT NULL, source text NOT NULL, PRIMARY KEY (relation, name));
CREATE TABLE ora.sequence_options (seq oid PRIMARY KEY, cache int4 NOT NULL, ordered bool NOT NULL);
CREATE TABLE ora.view_texts (rel oid PRIMARY KEY, source text NOT NULL, read_only bool NOT NULL);
CREATE TABLE ora.triggers (
  owner text NOT NULL, name text NOT NULL, rel oid NOT NULL, kind text NOT NULL, event text NOT NULL, condition text,
  body text NOT NULL, enabled bool NOT NULL DEFAULT true, PRIMARY KEY (owner, name));

CREATE TABLE ora.synonyms (
  owner text NOT NULL, name text NOT NULL, table_owner text NOT NULL, table_name text NOT NULL, PRIMARY KEY (owner, name));
CREATE TABLE ora.directories (name text PRIMARY KEY, path text NOT NULL);
CREATE TABLE ora.roles (name text PRIMARY KEY);
-- Granted roles and system privileges (object empty), and object privileges. Recorded, not enforced.
CREATE TABLE ora.privileges (
  grantee text NOT NULL, privilege text NOT NULL, kind text NOT NULL, owner text NOT NULL DEFAULT '', object text NOT NULL DEFAULT '',
  grantor text NOT NULL, grantable bool NOT NULL, PRIMARY KEY (grantee, privilege, owner, object));
INSERT INTO ora.roles VALUES ('CONNECT'), ('RESOURCE'), ('DBA'), ('DB_DEVELOPER_ROLE'), ('SELECT_CATALOG_ROLE'), ('CTXAPP'), ('CLOUD_USER'), ('DWROLE');

-- Numbers of unnamed constraints and identity sequences.
CREATE SEQUENCE ora.system_names START 7001;

CREATE FUNCTION ora.forget_dropped() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
  dropped record;
BEGIN
  FOR dropped IN SELECT objid, objsubid, object_type FROM pg_event_trigger_dropped_objects()
                 WHERE object_type IN ('table', 'table column', 'view', 'index', 'sequence')
  LOOP
    IF dropped.object_type = 'index' THEN
      DELETE FROM ora.vector_indexes WHERE idx = dropped.objid;
      DELETE FROM ora.index_expressions WHERE idx = dropped.objid;
      DELETE FROM ora.storage_note WHERE relation = dropped.objid;
    ELSIF dropped.object_type = 'sequence' THEN
      DELETE FROM ora.sequence_options WHERE seq = dropped.objid;
    ELSE
      DELETE FROM ora.column_info WHERE rel = dropped.objid AND (dropped.objsubid = 0 OR number = dropped.objsubid);
      IF dropped.objsubid = 0 THEN
        DELETE FROM ora.view_texts WHERE rel = dropped.objid;
        DELETE FROM ora.triggers WHERE rel = dropped.objid;
        DELETE FROM ora.check_note WHERE relation = dropped.objid;
        DELETE FROM ora.storage_note WHERE relation = dropped.objid;
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

