-- What the bodies of row triggers ask at run time. Loaded once, behind dictionary.sql.

-- UPDATING('COLUMN'): PostgreSQL knows which columns a statement names, but tells it to triggers UPDATE OF alone. Triggers
-- on the statement, before its rows, write them down: the first one forgets those of the statement before.
CREATE FUNCTION ora.note_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('ora.updated_' || tg_relid,
    CASE WHEN tg_nargs = 0 THEN '/' ELSE coalesce(current_setting('ora.updated_' || tg_relid, true), '/') || tg_argv[0] || '/' END, true);
  RETURN NULL;
END $$;
CREATE FUNCTION ora.updating(relation oid, operation text, number text) RETURNS bool LANGUAGE sql STABLE AS $$
  SELECT operation = 'UPDATE' AND coalesce(strpos(current_setting('ora.updated_' || relation, true), '/' || number || '/') > 0, false) $$;

-- Tables whose rows a DELETE on another one deletes or sets to NULL, over any number of steps.
CREATE FUNCTION ora.changed_along(relation oid) RETURNS SETOF oid LANGUAGE sql STABLE AS $$
  WITH RECURSIVE r(oid) AS (
    SELECT relation UNION SELECT k.conrelid FROM r JOIN pg_constraint k ON k.confrelid = r.oid AND k.contype = 'f' AND k.confdeltype IN ('c', 'n'))
  SELECT r.oid FROM r WHERE r.oid <> relation $$;

-- Whether a statement is that of a foreign key: PostgreSQL's own triggers delete and update ONLY the table, which no other
-- statement does. It is seen in the stack, before the rows; triggers behind them run when the outer statement has ended.
CREATE FUNCTION ora.note_cascade() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  stack text;
BEGIN
  GET DIAGNOSTICS stack = PG_CONTEXT;
  PERFORM set_config('ora.cascade_' || tg_relid, (stack ~ 'SQL statement "(DELETE FROM|UPDATE) ONLY ')::text, true);
  RETURN NULL;
END $$;

-- ORA-04091 for a row trigger that reads or writes a table which the same statement changes through a foreign key: below its
-- own table while a row of that is deleted, or above it while a DELETE there brings this row along.
CREATE FUNCTION ora.refuse_mutating(relation oid, operation text, VARIADIC touched regclass[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found oid;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.contype = 'f' AND k.confdeltype IN ('c', 'n') AND relation IN (k.conrelid, k.confrelid)) THEN
    RETURN;
  END IF;
  IF operation = 'DELETE' THEN
    SELECT t INTO found FROM unnest(touched::oid[]) t WHERE t IN (SELECT ora.changed_along(relation)) LIMIT 1;
  END IF;
  IF found IS NULL AND operation <> 'INSERT' AND current_setting('ora.cascade_' || relation, true) = 'true' THEN
    SELECT t INTO found FROM unnest(touched::oid[]) t WHERE relation IN (SELECT ora.changed_along(t)) LIMIT 1;
  END IF;
  IF found IS NOT NULL THEN
    PERFORM ora.raise(4091, format('table %s.%s is mutating, trigger/function may not see it', n.nspname, c.relname))
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = found;
  END IF;
END $$;
