-- Oracle Text: CONTEXT indexes with the default lexer and an empty stop list, CONTAINS and SCORE for a few operators.
-- The index is a GIN index over the tokens of a text. What the order by SCORE is, is ours, not Oracle's.

-- Of a CONTEXT index: its column, COMMIT or MANUAL, and (MANUAL) what it knows: what was committed in this snapshot.
CREATE TABLE ora.text_indexes (
  idx oid PRIMARY KEY, rel oid NOT NULL, column_name text NOT NULL, sync text NOT NULL, synced pg_snapshot NOT NULL, parameters text NOT NULL);

-- The tokens of a text in lower case, a blank before and behind each. Letters and digits of any script; a point or comma
-- between digits belongs to the number, everything else parts tokens.
CREATE FUNCTION ora.text_words(t text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE WHEN w ~ '[.,][^0-9]|[^0-9][.,]|  ' -- the dear expression only where something is left for it
      THEN ' ' || pg_catalog.btrim(pg_catalog.regexp_replace(w, '(?:[.,](?![0-9])|(?<![0-9])[.,]| )+', ' ', 'g')) || ' ' ELSE w END
  FROM (SELECT ' ' || pg_catalog.btrim(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(
      pg_catalog.regexp_replace(pg_catalog.lower(t), '[^[:alnum:].,]+', ' ', 'g') || ' ', '. ', ' '), ', ', ' '), ' .', ' '), ' ,', ' '), '  ', ' '), '  ', ' ')) || ' ') s(w) $$;
CREATE FUNCTION ora.text_tokens(text) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
  SELECT pg_catalog.string_to_array(pg_catalog.btrim(ora.text_words($1)), ' ') $$;

CREATE FUNCTION ora.text_error(message text) RETURNS text LANGUAGE sql AS $$
  SELECT ora.fail(29902, E'error in executing ODCIIndexStart() routine\nORA-20000: Oracle Text error:\n' || message) $$;

-- A query as it was read: terms are words or phrases, tokens all of theirs; all_of: every term must be there (&), else
-- any (ACCUM). weights: how rare each term is. exact: who has one of the tokens has one of the terms.
CREATE TYPE ora.text_search AS (all_of bool, exact bool, tokens text[], terms text[], weights float8[]);

CREATE FUNCTION ora.text_search(relation regclass, column_name text, query text) RETURNS ora.text_search LANGUAGE plpgsql STABLE AS $$
DECLARE
  reserved CONSTANT text[] := '{ABOUT,BT,BTG,BTI,BTP,EQUIV,FUZZY,HASPATH,INPATH,MDATA,MINUS,NEAR,NOT,NT,NTG,NTI,NTP,OR,PATTERN,PT,RT,SQE,SYN,TR,TRSYN,TT,WITHIN}';
  rest text := query;
  piece text;
  phrase text;
  operator text;
  found ora.text_search;
  total float8;
  holders float8;
BEGIN
  IF query IS NULL THEN
    PERFORM ora.text_error('DRG-50901: text query parser syntax error on line 1, column 1');
  END IF;
  LOOP
    rest := pg_catalog.ltrim(rest, E' \t\r\n');
    piece := pg_catalog.substring(rest, '^\{(?:[^}]|\}\})*\}');
    IF piece IS NOT NULL THEN
      rest := pg_catalog.substr(rest, pg_catalog.length(piece) + 1);
      phrase := coalesce(phrase || ' ', '') || pg_catalog.replace(pg_catalog.substr(piece, 2, pg_catalog.length(piece) - 2), '}}', '}');
      CONTINUE;
    END IF;
    piece := pg_catalog.upper(coalesce(pg_catalog.substring(rest, '^(?:[,&]|(?:ACCUM|AND)(?![^[:space:]{]))'), pg_catalog.substring(rest, '^(?:accum|and)(?![^[:space:]{])')));
    IF piece IS NOT NULL OR rest = '' THEN
      IF phrase IS NULL THEN
        PERFORM ora.text_error('DRG-50901: text query parser syntax error on line 1, column ' || pg_catalog.length(query) - pg_catalog.length(rest) + 1);
      END IF;
      found.terms := found.terms || pg_catalog.btrim(ora.text_words(phrase));
      phrase := NULL;
      EXIT WHEN rest = '';
      rest := pg_catalog.substr(rest, pg_catalog.length(pg_catalog.substring(rest, '^(?:[,&]|[A-Za-z]+)')) + 1);
      piece := CASE piece WHEN ',' THEN 'ACCUM' WHEN '&' THEN 'AND' ELSE piece END;
      IF operator <> piece THEN
        PERFORM ora.fail(3001, 'unimplemented feature: CONTAINS with ACCUM and AND beside one another');
      END IF;
      operator := piece;
      CONTINUE;
    END IF;
    piece := pg_catalog.substring(rest, '^[^[:space:]{},&=?\\()\[\];~|$!>*%_-]+');
    IF piece IS NULL OR pg_catalog.upper(piece) = ANY (reserved) THEN
      IF pg_catalog.left(rest, 1) IN ('{', '}', ')', ']') THEN
        PERFORM ora.text_error('DRG-50901: text query parser syntax error on line 1, column ' || pg_catalog.length(query) - pg_catalog.length(rest) + 1);
      END IF;
      PERFORM ora.fail(3001, 'unimplemented feature: CONTAINS with the operator ' || coalesce(pg_catalog.upper(piece), pg_catalog.left(rest, 1)));
    END IF;
    rest := pg_catalog.substr(rest, pg_catalog.length(piece) + 1);
    phrase := coalesce(phrase || ' ', '') || piece;
  END LOOP;
  found.terms := pg_catalog.array_remove(found.terms, '');
  IF pg_catalog.cardinality(found.terms) = 0 THEN
    PERFORM ora.fail(3001, 'unimplemented feature: CONTAINS without a word');
  END IF;
  found.all_of := coalesce(operator = 'AND', false);
  found.tokens := pg_catalog.string_to_array(pg_catalog.array_to_string(found.terms, ' '), ' ');
  found.exact := NOT found.all_of AND pg_catalog.cardinality(found.tokens) = pg_catalog.cardinality(found.terms);
  EXECUTE pg_catalog.format('SELECT count(*) FROM %s', relation) INTO total;
  FOREACH phrase IN ARRAY found.terms LOOP
    EXECUTE pg_catalog.format('SELECT count(*) FROM %s WHERE ora.text_tokens((%I)::text) @> $1', relation, column_name)
      USING pg_catalog.string_to_array(phrase, ' ') INTO holders;
    found.weights := found.weights || pg_catalog.ln(1 + total / (1 + holders));
  END LOOP;
  RETURN found;
END $$;

-- 1 to 100 as a text has more of the terms, rarer ones counting more; 0 where it does not match.
CREATE FUNCTION ora.text_score(words text, search ora.text_search) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $$
  SELECT CASE WHEN search.all_of AND pg_catalog.min(n.times) = 0 THEN 0
      ELSE LEAST(100, pg_catalog.ceil(100 * pg_catalog.sum(t.weight * n.times / (n.times + 1)) / pg_catalog.sum(t.weight)))::numeric END
  FROM (SELECT pg_catalog.replace(words, ' ', '  ')) d(words) CROSS JOIN unnest(search.terms, search.weights) t(term, weight)
    CROSS JOIN LATERAL (SELECT ' ' || pg_catalog.replace(t.term, ' ', '  ') || ' ') p(pattern) -- each token with blanks of its own
    CROSS JOIN LATERAL (SELECT ((pg_catalog.length(d.words) - pg_catalog.length(pg_catalog.replace(d.words, p.pattern, ''))) / pg_catalog.length(p.pattern))::float8) n(times) $$;

-- Whether an index knows a version of a row: not what this transaction wrote; MANUAL: what was committed when it was synchronised.
CREATE FUNCTION ora.text_knows(version xid) RETURNS bool LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce(pg_xact_status(version::text::xid8) <> 'in progress', true) $$;
CREATE FUNCTION ora.text_knows(version xid, synced pg_snapshot) RETURNS bool LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT ora.text_knows(version) AND pg_visible_in_snapshot(version::text::xid8, synced) $$;

CREATE FUNCTION ora.text_pending() RETURNS TABLE (owner name, index_name name, place tid) LANGUAGE plpgsql STABLE AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT n.nspname, i.relname, t.rel, t.synced FROM ora.text_indexes t JOIN pg_class i ON i.oid = t.idx
      JOIN pg_namespace n ON n.oid = i.relnamespace WHERE t.sync = 'MANUAL'
  LOOP
    RETURN QUERY EXECUTE pg_catalog.format('SELECT %L::name, %L::name, ctid FROM %s WHERE NOT ora.text_knows(xmin, $1)', one.nspname, one.relname, one.rel::regclass)
      USING one.synced;
  END LOOP;
END $$;
CREATE VIEW ora."CTX_USER_PENDING" AS
  SELECT ora.name_of(p.index_name)::ora.varchar2 AS "PND_INDEX_NAME", NULL::ora.varchar2 AS "PND_PARTITION_NAME", p.place::text::ora.varchar2 AS "PND_ROWID",
    NULL::ora.odate AS "PND_TIMESTAMP" FROM ora.text_pending() p WHERE ora.name_of(p.owner) = current_setting('ora.user');
