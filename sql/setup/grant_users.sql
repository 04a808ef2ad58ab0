-- Least privileges for those who are not the owner of the tables: run by a DBA, after `oraclerag migrate`.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @grant_users.sql
--
-- Four kinds of users, one role for each; application_users.sql makes users that have them. All of them set
-- ORACLERAG_SCHEMA to the owner. Roles do not count inside triggers and stored code: grant what such code uses to its
-- owner directly. Can be run again.
--
-- Two names, in upper case:
--   rag_owner  owns the tables.
--   rag_role   what the four roles begin with. Where the database holds the tables of two owners, give each a prefix of
--              its own: who has a role can do what it says with the tables of every owner that granted to it.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG
DEFINE rag_role = RAG

DECLARE
  found NUMBER;
BEGIN
  FOR one IN (
    SELECT '&rag_role._ENQUEUER' AS NAME FROM dual
    UNION ALL SELECT '&rag_role._SEARCHER' FROM dual
    UNION ALL SELECT '&rag_role._WORKER' FROM dual
    UNION ALL SELECT '&rag_role._RECORDER' FROM dual
  ) LOOP
    SELECT COUNT(*) INTO found FROM DBA_ROLES WHERE ROLE = one.NAME;
    IF found = 0 THEN
      EXECUTE IMMEDIATE 'CREATE ROLE ' || one.NAME;
    END IF;
  END LOOP;
END;
/

-- Everybody: which revision the tables have.
-- READ and not SELECT where nothing is written: SELECT would allow LOCK TABLE and SELECT FOR UPDATE.

-- 1. Services that announce changes. They can add to the queue and not look into it. A service that waits until its
-- changes are applied (rag.wait) needs READ on RAG_DIRTY as well, which shows the keys of every tenant's changes.
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO &rag_role._ENQUEUER;
GRANT INSERT (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION) ON &rag_owner..RAG_DIRTY TO &rag_role._ENQUEUER;
GRANT INSERT ON &rag_owner..RAG_ENQUEUE TO &rag_role._ENQUEUER;

-- 2. Services that search. Who may see what is decided by the scope that they pass, so only trusted services get this
-- role, never end users. They write the search log, read it for those scopes, and change nothing of it but what was said
-- of an answer. RETURNING, and UPDATE with WHERE, take SELECT on what they name.
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO &rag_role._SEARCHER;
GRANT READ ON &rag_owner..RAG_CHUNK TO &rag_role._SEARCHER;
GRANT READ ON &rag_owner..RAG_DOCUMENT TO &rag_role._SEARCHER;
GRANT READ ON &rag_owner..RAG_SETTING TO &rag_role._SEARCHER;
GRANT READ ON &rag_owner..RAG_MODEL TO &rag_role._SEARCHER;
GRANT READ ON &rag_owner..RAG_WAITING TO &rag_role._SEARCHER;
GRANT SELECT, INSERT, UPDATE (FEEDBACK, FEEDBACK_NOTE, FEEDBACK_AT) ON &rag_owner..RAG_SEARCH TO &rag_role._SEARCHER;
GRANT READ, INSERT ON &rag_owner..RAG_SEARCH_HIT TO &rag_role._SEARCHER;

-- 3. Workers: `oraclerag worker`, `reindex`, `queue`. They also need READ on the tables of their sources. DDL stays the
-- owner's: building the vector index, compacting the queue. Of the search log they clear prompts and answers that quote
-- what is gone, by the keys of the hits.
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO &rag_role._WORKER;
GRANT READ ON &rag_owner..RAG_MODEL TO &rag_role._WORKER;
GRANT READ ON &rag_owner..RAG_FILE TO &rag_role._WORKER;
GRANT READ ON &rag_owner..RAG_RESOLUTION TO &rag_role._WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_DIRTY TO &rag_role._WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_ENTITY TO &rag_role._WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_DOCUMENT TO &rag_role._WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_CHUNK TO &rag_role._WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_SETTING TO &rag_role._WORKER;
GRANT SELECT, INSERT, UPDATE ON &rag_owner..RAG_USAGE TO &rag_role._WORKER;
GRANT SELECT, UPDATE (PROMPT, ANSWER) ON &rag_owner..RAG_SEARCH_TEXT TO &rag_role._WORKER;
GRANT READ ON &rag_owner..RAG_SEARCH_HIT TO &rag_role._WORKER;

-- 4. Who takes in files and resolved incidents: `oraclerag ingest`, `oraclerag resolution`. With the tables of record
-- they can read what was taken in, of every tenant, and nothing of the index.
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO &rag_role._RECORDER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_FILE TO &rag_role._RECORDER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_RESOLUTION TO &rag_role._RECORDER;
GRANT INSERT (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION) ON &rag_owner..RAG_DIRTY TO &rag_role._RECORDER;

-- Searchers and workers also need the model in force, once there is one: grant_model.sql.
PROMPT Done. Next: application_users.sql
EXIT
