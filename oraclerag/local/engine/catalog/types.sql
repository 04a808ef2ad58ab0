-- Oracle's types, casts and operators in the schema ora, and the engine's own tables.
-- A base type needs no C code: its input and output functions are built-in ones under another name.
-- Loaded once, by a superuser, before functions.sql and dictionary.sql.

CREATE EXTENSION IF NOT EXISTS vector;
CREATE SCHEMA ora;

-- Errors that have a number of their own travel as SQLSTATE OR000 with the number in DETAIL.

CREATE FUNCTION ora.raise(number int4, message text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'OR000', DETAIL = number::text, MESSAGE = message;
END $$;

-- The same while a statement is planned: the body of an SQL function that calls it is inlined and folded, so a statement
-- that can never be right fails even where there are no rows.
CREATE FUNCTION ora.refuse(number int4, message text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'OR000', DETAIL = number::text, MESSAGE = message;
END $$;

-- For a CHECK that knows its column: c IS NULL OR octet_length(c::text) <= 5 OR ora.too_long('"S"."T"', '"C"', octet_length(c::text), 5).
-- Without the IS NULL arm a NULL would fall through to this function.
CREATE FUNCTION ora.too_long(relation text, attribute text, actual int4, maximum int4) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'OR000', DETAIL = '12899',
    MESSAGE = format('value too large for column %s.%s (actual: %s, maximum: %s)', relation, attribute, actual, maximum);
END $$;

-- VARCHAR2(n): the length is kept as typmod and reported, not enforced; a CHECK on the column enforces it.

CREATE TYPE ora.varchar2;
CREATE FUNCTION ora.varchar2_in(cstring) RETURNS ora.varchar2 LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textin';
CREATE FUNCTION ora.varchar2_out(ora.varchar2) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textout';
CREATE FUNCTION ora.varchar2_recv(internal) RETURNS ora.varchar2 LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textrecv';
CREATE FUNCTION ora.varchar2_send(ora.varchar2) RETURNS bytea LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textsend';
CREATE TYPE ora.varchar2 (
  INPUT = ora.varchar2_in, OUTPUT = ora.varchar2_out, RECEIVE = ora.varchar2_recv, SEND = ora.varchar2_send,
  TYPMOD_IN = varchartypmodin, TYPMOD_OUT = varchartypmodout, LIKE = text, CATEGORY = 'S', COLLATABLE = true);

-- CLOB and BLOB: their casts to text and bytea are made with a function (an identity), because a binary-coercible
-- type would inherit the operator classes of text and could be sorted, grouped and compared, which Oracle refuses.

CREATE TYPE ora.clob;
CREATE FUNCTION ora.clob_in(cstring) RETURNS ora.clob LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textin';
CREATE FUNCTION ora.clob_out(ora.clob) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'textout';
CREATE FUNCTION ora.clob_recv(internal) RETURNS ora.clob LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textrecv';
CREATE FUNCTION ora.clob_send(ora.clob) RETURNS bytea LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'textsend';
CREATE TYPE ora.clob (
  INPUT = ora.clob_in, OUTPUT = ora.clob_out, RECEIVE = ora.clob_recv, SEND = ora.clob_send,
  LIKE = text, CATEGORY = 'S', COLLATABLE = true);

CREATE TYPE ora.blob;
CREATE FUNCTION ora.blob_in(cstring) RETURNS ora.blob LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteain';
CREATE FUNCTION ora.blob_out(ora.blob) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteaout';
CREATE FUNCTION ora.blob_recv(internal) RETURNS ora.blob LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'bytearecv';
CREATE FUNCTION ora.blob_send(ora.blob) RETURNS bytea LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'byteasend';
CREATE TYPE ora.blob (
  INPUT = ora.blob_in, OUTPUT = ora.blob_out, RECEIVE = ora.blob_recv, SEND = ora.blob_send, LIKE = bytea, CATEGORY = 'U');

-- DATE: a timestamp of whole seconds, with arithmetic in days.

CREATE TYPE ora.odate;
CREATE FUNCTION ora.odate_in(cstring, oid, int4) RETURNS ora.odate LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'timestamp_in';
CREATE FUNCTION ora.odate_out(ora.odate) RETURNS cstring LANGUAGE internal STABLE STRICT PARALLEL SAFE AS 'timestamp_out';
CREATE FUNCTION ora.odate_recv(internal, oid, int4) RETURNS ora.odate LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'timestamp_recv';
CREATE FUNCTION ora.odate_send(ora.odate) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'timestamp_send';
CREATE TYPE ora.odate (
  INPUT = ora.odate_in, OUTPUT = ora.odate_out, RECEIVE = ora.odate_recv, SEND = ora.odate_send, LIKE = timestamp, CATEGORY = 'D');

-- Text.

CREATE FUNCTION ora.clob_text(ora.clob) RETURNS text LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'xmltotext';
CREATE FUNCTION ora.blob_bytea(ora.blob) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'byteasend';

CREATE CAST (ora.varchar2 AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (text AS ora.varchar2) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (varchar AS ora.varchar2) WITHOUT FUNCTION AS ASSIGNMENT;
-- CHAR beside VARCHAR2 in UNION, CASE or COALESCE: a VARCHAR2, with its blanks.
CREATE CAST (bpchar AS ora.varchar2) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (ora.clob AS text) WITH FUNCTION ora.clob_text(ora.clob) AS IMPLICIT;
CREATE CAST (text AS ora.clob) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (ora.varchar2 AS ora.clob) WITHOUT FUNCTION AS IMPLICIT;
CREATE CAST (ora.clob AS ora.varchar2) WITHOUT FUNCTION AS ASSIGNMENT;
CREATE CAST (ora.blob AS bytea) WITH FUNCTION ora.blob_bytea(ora.blob) AS IMPLICIT;
CREATE CAST (bytea AS ora.blob) WITHOUT FUNCTION AS ASSIGNMENT;

-- Numbers in text, by Oracle's syntax: PostgreSQL would also take NaN, 0x1F and 1_000.
-- The conversion itself is the input function of numeric, since the cast of text to numeric is this function.
CREATE FUNCTION ora.no_number(t text) RETURNS numeric LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'OR000', DETAIL = '1722', MESSAGE = 'unable to convert string value to a number';
END $$;
CREATE FUNCTION ora.num(t text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN t ~ '^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$' THEN numeric_in(textout(t), 0, -1) ELSE ora.no_number(t) END $$;
CREATE FUNCTION ora.num(t ora.varchar2) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT ora.num(t::text) $$;
-- A number as Oracle prints it: no trailing zeros, no zero before the point.
CREATE FUNCTION ora.num_text(n numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT regexp_replace(trim_scale(n)::text, '^(-?)0\.', '\1.') $$;
CREATE FUNCTION ora.num_varchar2(n numeric) RETURNS ora.varchar2 LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.num_text(n)::ora.varchar2 $$;

-- What Oracle converts silently when it assigns.
CREATE CAST (text AS numeric) WITH FUNCTION ora.num(text) AS ASSIGNMENT;
CREATE CAST (ora.varchar2 AS numeric) WITH FUNCTION ora.num(ora.varchar2) AS ASSIGNMENT;
CREATE CAST (numeric AS ora.varchar2) WITH FUNCTION ora.num_varchar2(numeric) AS ASSIGNMENT;
CREATE CAST (text AS jsonb) WITH INOUT AS ASSIGNMENT;
CREATE CAST (ora.varchar2 AS jsonb) WITH INOUT AS ASSIGNMENT;
CREATE CAST (ora.clob AS jsonb) WITH INOUT AS ASSIGNMENT;
CREATE CAST (text AS vector) WITH INOUT AS ASSIGNMENT;
CREATE CAST (ora.varchar2 AS vector) WITH INOUT AS ASSIGNMENT;
CREATE CAST (ora.clob AS vector) WITH INOUT AS ASSIGNMENT;

CREATE FUNCTION ora.bool_num(b bool) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN b THEN 1 ELSE 0 END::numeric $$;
CREATE FUNCTION ora.num_bool(n numeric) RETURNS bool LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$ SELECT n <> 0 $$;
CREATE CAST (bool AS numeric) WITH FUNCTION ora.bool_num(bool) AS ASSIGNMENT;
CREATE CAST (numeric AS bool) WITH FUNCTION ora.num_bool(numeric) AS ASSIGNMENT;

-- Dates.

CREATE CAST (ora.odate AS timestamp) WITHOUT FUNCTION AS IMPLICIT;
-- The larger of two timestamps under another type: with -infinity beside it, a change of type that costs nothing.
CREATE FUNCTION ora.as_odate(timestamp, timestamp) RETURNS ora.odate LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'timestamp_larger';
CREATE FUNCTION ora.timestamp_odate(t timestamp) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate(date_trunc('second', t), '-infinity') $$;
CREATE FUNCTION ora.timestamptz_odate(t timestamptz) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate(date_trunc('second', t::timestamp), '-infinity') $$;
CREATE FUNCTION ora.date_odate(d date) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate(d::timestamp, '-infinity') $$;
CREATE FUNCTION ora.odate_timestamptz(d ora.odate) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT d::timestamp::timestamptz $$;
CREATE CAST (timestamp AS ora.odate) WITH FUNCTION ora.timestamp_odate(timestamp) AS ASSIGNMENT;
CREATE CAST (timestamptz AS ora.odate) WITH FUNCTION ora.timestamptz_odate(timestamptz) AS ASSIGNMENT;
CREATE CAST (date AS ora.odate) WITH FUNCTION ora.date_odate(date) AS ASSIGNMENT;
CREATE CAST (ora.odate AS timestamptz) WITH FUNCTION ora.odate_timestamptz(ora.odate) AS IMPLICIT;

CREATE FUNCTION ora.no_clob_comparison(ora.clob, ora.clob) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
  SELECT ora.refuse(932, 'inconsistent datatypes: expected - got CLOB') $$;
CREATE FUNCTION ora.no_blob_comparison(ora.blob, ora.blob) RETURNS bool LANGUAGE sql IMMUTABLE AS $$
  SELECT ora.refuse(932, 'inconsistent datatypes: expected - got BLOB') $$;

DO $$
DECLARE
  o record;
BEGIN
  FOR o IN SELECT * FROM (VALUES
      ('<', 'lt', '>', '>=', 'scalarlt'), ('<=', 'le', '>=', '>', 'scalarle'), ('=', 'eq', '=', '<>', 'eq'),
      ('<>', 'ne', '<>', '=', 'neq'), ('>=', 'ge', '<=', '<', 'scalarge'), ('>', 'gt', '<', '<=', 'scalargt')
    ) AS operators(sign, name, commutator, negator, selectivity)
  LOOP
    EXECUTE format('CREATE FUNCTION ora.odate_%1$s(ora.odate, ora.odate) RETURNS bool LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS %2$L',
                   o.name, 'timestamp_' || o.name);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = ora.odate, RIGHTARG = ora.odate, FUNCTION = ora.odate_%s, COMMUTATOR = OPERATOR(ora.%s),'
                   ' NEGATOR = OPERATOR(ora.%s), RESTRICT = %5$ssel, JOIN = %5$sjoinsel%6$s)', o.sign, o.name, o.commutator, o.negator,
                   o.selectivity, CASE WHEN o.sign = '=' THEN ', HASHES, MERGES' END);
    -- Mixed comparisons are inlined to those of timestamps, so that an index on a TIMESTAMP column serves them.
    EXECUTE format('CREATE FUNCTION ora.timestamp_odate_%s(timestamp, ora.odate) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS '
                   '$f$ SELECT $1 %s $2::timestamp $f$', o.name, o.sign);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = timestamp, RIGHTARG = ora.odate, FUNCTION = ora.timestamp_odate_%s)', o.sign, o.name);
    EXECUTE format('CREATE FUNCTION ora.odate_timestamp_%s(ora.odate, timestamp) RETURNS bool LANGUAGE sql IMMUTABLE PARALLEL SAFE AS '
                   '$f$ SELECT $1::timestamp %s $2 $f$', o.name, o.sign);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = ora.odate, RIGHTARG = timestamp, FUNCTION = ora.odate_timestamp_%s)', o.sign, o.name);
    -- A number compared with text: Oracle converts the text.
    EXECUTE format('CREATE FUNCTION ora.number_text_%s(numeric, text) RETURNS bool LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS '
                   '$f$ SELECT $1 %s ora.num($2) $f$', o.name, o.sign);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = numeric, RIGHTARG = text, FUNCTION = ora.number_text_%s)', o.sign, o.name);
    EXECUTE format('CREATE FUNCTION ora.text_number_%s(text, numeric) RETURNS bool LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS '
                   '$f$ SELECT ora.num($1) %s $2 $f$', o.name, o.sign);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = text, RIGHTARG = numeric, FUNCTION = ora.text_number_%s)', o.sign, o.name);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = ora.clob, RIGHTARG = ora.clob, FUNCTION = ora.no_clob_comparison)', o.sign);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = ora.blob, RIGHTARG = ora.blob, FUNCTION = ora.no_blob_comparison)', o.sign);
  END LOOP;
END $$;

CREATE FUNCTION ora.odate_cmp(ora.odate, ora.odate) RETURNS int4 LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'timestamp_cmp';
CREATE FUNCTION ora.odate_hash(ora.odate) RETURNS int4 LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'timestamp_hash';
CREATE OPERATOR CLASS ora.odate_ops DEFAULT FOR TYPE ora.odate USING btree AS
  OPERATOR 1 ora.<, OPERATOR 2 ora.<=, OPERATOR 3 ora.=, OPERATOR 4 ora.>=, OPERATOR 5 ora.>, FUNCTION 1 ora.odate_cmp(ora.odate, ora.odate);
CREATE OPERATOR CLASS ora.odate_hash_ops DEFAULT FOR TYPE ora.odate USING hash AS OPERATOR 1 ora.=, FUNCTION 1 ora.odate_hash(ora.odate);

CREATE FUNCTION ora.odate_larger(ora.odate, ora.odate) RETURNS ora.odate LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'timestamp_larger';
CREATE FUNCTION ora.odate_smaller(ora.odate, ora.odate) RETURNS ora.odate LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'timestamp_smaller';
CREATE AGGREGATE ora.max(ora.odate) (SFUNC = ora.odate_larger, STYPE = ora.odate, SORTOP = OPERATOR(ora.>), COMBINEFUNC = ora.odate_larger, PARALLEL = SAFE);
CREATE AGGREGATE ora.min(ora.odate) (SFUNC = ora.odate_smaller, STYPE = ora.odate, SORTOP = OPERATOR(ora.<), COMBINEFUNC = ora.odate_smaller, PARALLEL = SAFE);

-- Days are added exactly: a day has 86,400,000,000 microseconds, DATE is rounded to the second.
CREATE FUNCTION ora.days(n numeric) RETURNS interval LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT make_interval(days => trunc(n)::int4, secs => round((n - trunc(n)) * 86400)::float8) $$;
CREATE FUNCTION ora.odate_add(ora.odate, numeric) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate($1::timestamp + ora.days($2), '-infinity') $$;
CREATE FUNCTION ora.number_odate_add(numeric, ora.odate) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate($2::timestamp + ora.days($1), '-infinity') $$;
CREATE FUNCTION ora.odate_subtract(ora.odate, numeric) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate($1::timestamp - ora.days($2), '-infinity') $$;
CREATE FUNCTION ora.odate_difference(ora.odate, ora.odate) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT trim_scale(round(extract(epoch FROM ($1::timestamp - $2::timestamp)) / 86400, 38)) $$;
CREATE FUNCTION ora.odate_add_interval(ora.odate, interval) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate(date_trunc('second', $1::timestamp + $2), '-infinity') $$;
CREATE FUNCTION ora.odate_subtract_interval(ora.odate, interval) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.as_odate(date_trunc('second', $1::timestamp - $2), '-infinity') $$;
CREATE OPERATOR ora.+ (LEFTARG = ora.odate, RIGHTARG = numeric, FUNCTION = ora.odate_add);
CREATE OPERATOR ora.+ (LEFTARG = numeric, RIGHTARG = ora.odate, FUNCTION = ora.number_odate_add);
CREATE OPERATOR ora.- (LEFTARG = ora.odate, RIGHTARG = numeric, FUNCTION = ora.odate_subtract);
CREATE OPERATOR ora.- (LEFTARG = ora.odate, RIGHTARG = ora.odate, FUNCTION = ora.odate_difference);
CREATE OPERATOR ora.+ (LEFTARG = ora.odate, RIGHTARG = interval, FUNCTION = ora.odate_add_interval);
CREATE OPERATOR ora.- (LEFTARG = ora.odate, RIGHTARG = interval, FUNCTION = ora.odate_subtract_interval);

-- TIMESTAMP and a number give a DATE.
CREATE FUNCTION ora.timestamp_add(timestamp, numeric) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.odate_add(ora.timestamp_odate($1), $2) $$;
CREATE FUNCTION ora.timestamp_subtract(timestamp, numeric) RETURNS ora.odate LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.odate_subtract(ora.timestamp_odate($1), $2) $$;
CREATE FUNCTION ora.timestamptz_add(timestamptz, numeric) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.odate_add(ora.timestamptz_odate($1), $2) $$;
CREATE FUNCTION ora.timestamptz_subtract(timestamptz, numeric) RETURNS ora.odate LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT ora.odate_subtract(ora.timestamptz_odate($1), $2) $$;
CREATE OPERATOR ora.+ (LEFTARG = timestamp, RIGHTARG = numeric, FUNCTION = ora.timestamp_add);
CREATE OPERATOR ora.- (LEFTARG = timestamp, RIGHTARG = numeric, FUNCTION = ora.timestamp_subtract);
CREATE OPERATOR ora.+ (LEFTARG = timestamptz, RIGHTARG = numeric, FUNCTION = ora.timestamptz_add);
CREATE OPERATOR ora.- (LEFTARG = timestamptz, RIGHTARG = numeric, FUNCTION = ora.timestamptz_subtract);

-- Arithmetic with text: Oracle converts it to a number. (Division is a function of the translation.)
DO $$
DECLARE
  o record;
BEGIN
  FOR o IN SELECT * FROM (VALUES ('+', 'add'), ('-', 'subtract'), ('*', 'multiply')) AS operators(sign, name)
  LOOP
    EXECUTE format('CREATE FUNCTION ora.text_%s(text, numeric) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS '
                   '$f$ SELECT ora.num($1) %s $2 $f$', o.name, o.sign);
    EXECUTE format('CREATE FUNCTION ora.text_%s(numeric, text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS '
                   '$f$ SELECT $1 %s ora.num($2) $f$', o.name, o.sign);
    EXECUTE format('CREATE FUNCTION ora.text_%s(text, text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS '
                   '$f$ SELECT ora.num($1) %s ora.num($2) $f$', o.name, o.sign);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = text, RIGHTARG = numeric, FUNCTION = ora.text_%s)', o.sign, o.name);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = numeric, RIGHTARG = text, FUNCTION = ora.text_%s)', o.sign, o.name);
    EXECUTE format('CREATE OPERATOR ora.%s (LEFTARG = text, RIGHTARG = text, FUNCTION = ora.text_%s)', o.sign, o.name);
  END LOOP;
END $$;

-- Text assigned to a column of another type is read as the functions of functions.sql read it (which come later: PL/pgSQL
-- looks names up when it runs). text to bytea is among them.
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT source, target, reader FROM
      (VALUES ('text'), ('ora.varchar2')) AS sources(source),
      (VALUES ('ora.odate', 'as_date'), ('timestamp', 'as_timestamp'), ('timestamptz', 'to_timestamp_tz'), ('bool', 'to_boolean'),
              ('float8', 'as_double'), ('interval', 'as_interval'), ('bytea', 'as_raw')) AS targets(target, reader)
    WHERE source <> 'text' OR target <> 'bytea'
  LOOP
    EXECUTE format('CREATE FUNCTION ora.assign_%s(t %s) RETURNS %s LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS '
                   '$f$ BEGIN RETURN ora.%1$s(t::text); END $f$', c.reader, c.source, c.target);
    EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION ora.assign_%s(%1$s) AS ASSIGNMENT', c.source, c.target, c.reader);
  END LOOP;
END $$;

-- And the other way round, as ora.s prints it: without these casts PostgreSQL would use its own text for every type.
DO $$
DECLARE
  c record;
BEGIN
  FOR c IN SELECT source, target FROM
      (VALUES ('ora.odate'), ('timestamp'), ('timestamptz'), ('interval'), ('bool'), ('float8'), ('jsonb'), ('vector'), ('tid'), ('bytea'), ('numeric'))
        AS sources(source),
      (VALUES ('ora.varchar2'), ('ora.clob')) AS targets(target)
    WHERE (source, target) NOT IN (('numeric', 'ora.varchar2'), ('bytea', 'ora.clob'))
  LOOP
    EXECUTE format('CREATE FUNCTION ora.assign_%s(v %s) RETURNS %s LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS '
                   '$f$ BEGIN RETURN ora.s(v)::%3$s; END $f$', split_part(c.target, '.', 2), c.source, c.target);
    EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION ora.assign_%s(%1$s) AS ASSIGNMENT', c.source, c.target, split_part(c.target, '.', 2));
  END LOOP;
END $$;

-- A function of LANGUAGE internal is looked up by name among PostgreSQL's 3,000 built-in ones whenever a value of its type
-- is read or a comparison starts: 5 microseconds, several times the work itself. So, now that the checks of CREATE TYPE
-- are passed, the types, operators and operator classes are pointed at the built-in functions themselves.

UPDATE pg_type SET typinput = 'textin'::regproc, typoutput = 'textout'::regproc, typreceive = 'textrecv'::regproc, typsend = 'textsend'::regproc
WHERE oid IN ('ora.varchar2'::regtype, 'ora.clob'::regtype);
UPDATE pg_type SET typinput = 'byteain'::regproc, typoutput = 'byteaout'::regproc, typreceive = 'bytearecv'::regproc, typsend = 'byteasend'::regproc
WHERE oid = 'ora.blob'::regtype;
UPDATE pg_type SET typinput = 'timestamp_in'::regproc, typoutput = 'timestamp_out'::regproc, typreceive = 'timestamp_recv'::regproc,
  typsend = 'timestamp_send'::regproc
WHERE oid = 'ora.odate'::regtype;
UPDATE pg_operator SET oprcode = ('pg_catalog.timestamp_' || substr(p.proname, 7))::regproc
FROM pg_proc p WHERE p.oid = oprcode AND oprleft = 'ora.odate'::regtype AND oprright = 'ora.odate'::regtype AND p.proname ~ '^odate_(lt|le|eq|ne|ge|gt)$';
UPDATE pg_amproc SET amproc = CASE amproc WHEN 'ora.odate_cmp'::regproc THEN 'timestamp_cmp'::regproc ELSE 'timestamp_hash'::regproc END
WHERE amproclefttype = 'ora.odate'::regtype;
UPDATE pg_cast SET castfunc = 'pg_catalog.text(xml)'::regprocedure WHERE castfunc = 'ora.clob_text'::regproc;

-- A VECTOR cannot be sorted, grouped or compared (ORA-22848); ivfflat and hnsw do not need these.

ALTER EXTENSION vector DROP OPERATOR CLASS vector_ops USING btree;
DROP OPERATOR CLASS vector_ops USING btree;
ALTER EXTENSION vector DROP OPERATOR FAMILY vector_ops USING btree;
DROP OPERATOR FAMILY vector_ops USING btree;
DO $$
DECLARE
  sign text;
BEGIN
  FOREACH sign IN ARRAY ARRAY['=', '<>', '<', '<=', '>', '>=']
  LOOP
    EXECUTE format('ALTER EXTENSION vector DROP OPERATOR %s (vector, vector)', sign);
    EXECUTE format('DROP OPERATOR %s (vector, vector)', sign);
  END LOOP;
END $$;

-- The engine's own tables.

-- What the digests stand for that PostgreSQL has in the place of names of more than 63 bytes (long_names.py). The tables of
-- the schema ora hold names as Oracle knows them.
CREATE TABLE ora.long_names (stored text PRIMARY KEY, name text NOT NULL);
CREATE FUNCTION ora.long_name(text) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce((SELECT l.name FROM ora.long_names l WHERE l.stored = $1), $1) $$;
-- A name of PostgreSQL's catalog as Oracle knows it; inlined, so that a short one costs a comparison.
CREATE FUNCTION ora.name_of(n name) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN n::text ^@ '~' THEN ora.long_name(n::text) ELSE n::text END $$;

-- Users: a user NAME owns the schema "NAME". The password is kept because the login protocol needs it.
CREATE TABLE ora.users (name text PRIMARY KEY, password text NOT NULL, created timestamptz NOT NULL DEFAULT now());

-- ONNX models. digest is the SHA-256 of data in hex.
CREATE TABLE ora.model (
  owner text NOT NULL, name text NOT NULL, dimensions int4 NOT NULL, digest text NOT NULL, metadata jsonb NOT NULL DEFAULT '{}',
  data bytea NOT NULL, created timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (owner, name));
ALTER TABLE ora.model ALTER COLUMN data SET STORAGE EXTERNAL;

-- Credentials for endpoints. held is JSON with secrets: no view reads it.
CREATE TABLE ora.credentials (owner text NOT NULL, name text NOT NULL, held text NOT NULL, PRIMARY KEY (owner, name));

-- What else PostgreSQL does not keep (column_info, vector_indexes, sequence_options, synonyms, system_names) is in dictionary.sql.

-- Embeddings of texts in columns: a text that is not in the cache is announced by a NOTICE; the engine embeds what was
-- announced, fills the cache and runs the statement again. The place-holder has the right dimension and is not zero,
-- because a cosine with zero is NaN.
CREATE UNLOGGED TABLE ora.embed_cache (
  model text NOT NULL, digest uuid NOT NULL, embedding vector NOT NULL, number int8 GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (model, digest));
CREATE INDEX embed_cache_number ON ora.embed_cache (number);
-- The same for a transaction whose snapshot does not see what others commit: its own rows, gone when the statement is done.
CREATE UNLOGGED TABLE ora.embed_own (
  session int4 NOT NULL, model text NOT NULL, digest uuid NOT NULL, embedding vector NOT NULL, PRIMARY KEY (session, model, digest));
CREATE FUNCTION ora.embed(model_name text, dimensions int4, input text) RETURNS vector LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  found_embedding vector;
BEGIN
  IF input IS NULL OR input = '' THEN
    RETURN NULL;
  END IF;
  SELECT c.embedding INTO found_embedding FROM ora.embed_cache c WHERE c.model = model_name AND c.digest = md5(input)::uuid;
  IF FOUND THEN
    RETURN found_embedding;
  END IF;
  SELECT c.embedding INTO found_embedding FROM ora.embed_own c
  WHERE c.session = pg_backend_pid() AND c.model = model_name AND c.digest = md5(input)::uuid;
  IF FOUND THEN
    RETURN found_embedding;
  END IF;
  RAISE NOTICE USING ERRCODE = '01EMB', DETAIL = model_name, MESSAGE = input;
  RETURN ('[' || repeat('0,', dimensions - 1) || '1]')::vector;
END $$;

-- Two texts as the one that ora.embed takes: the first has so many characters.
CREATE FUNCTION ora.pair(first_input text, second_input text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF first_input IS NULL OR second_input IS NULL OR first_input = '' OR second_input = '' THEN
    RAISE EXCEPTION USING ERRCODE = 'OR000', DETAIL = '3001', MESSAGE = 'unimplemented feature: PREDICTION of a NULL';
  END IF;
  RETURN length(first_input) || ':' || first_input || second_input;
END $$;

-- What was cached for a model is not true for another one of the same name.
CREATE FUNCTION ora.forget_embeddings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ora.embed_cache WHERE model = OLD.owner || '.' || OLD.name;
  RETURN NULL;
END $$;
CREATE TRIGGER forget_embeddings AFTER UPDATE OR DELETE ON ora.model FOR EACH ROW EXECUTE FUNCTION ora.forget_embeddings();

GRANT USAGE ON SCHEMA ora TO PUBLIC;
