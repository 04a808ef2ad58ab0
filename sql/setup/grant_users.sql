-- Least privileges for those who are not the owner of the tables: run by the owner or a DBA, after `oraclerag migrate`.
--
--   sqlplus rag@//dbhost:1521/FREEPDB1 @grant_users.sql
--
-- Four kinds of users, one role for each. Who runs it as the owner needs CREATE ROLE, or a DBA makes the roles first.
-- All of them set ORACLERAG_SCHEMA to the owner. Roles do not count inside triggers and stored code: grant what such
-- code uses to its owner directly.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG

-- Everybody: which revision the tables have.
-- READ and not SELECT where nothing is written: SELECT would allow LOCK TABLE and SELECT FOR UPDATE.

-- 1. Services that announce changes. They can add to the queue and not look into it.
CREATE ROLE RAG_ENQUEUER;
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO RAG_ENQUEUER;
GRANT INSERT (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION) ON &rag_owner..RAG_DIRTY TO RAG_ENQUEUER;
GRANT INSERT ON &rag_owner..RAG_ENQUEUE TO RAG_ENQUEUER;

-- 2. Services that search. Who may see what is decided by the scope that they pass, so only trusted services get this
-- role, never end users. They write the search log, read it for those scopes, and change nothing of it but what was said
-- of an answer. RETURNING, and UPDATE with WHERE, take SELECT on what they name.
CREATE ROLE RAG_SEARCHER;
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO RAG_SEARCHER;
GRANT READ ON &rag_owner..RAG_CHUNK TO RAG_SEARCHER;
GRANT READ ON &rag_owner..RAG_DOCUMENT TO RAG_SEARCHER;
GRANT READ ON &rag_owner..RAG_SETTING TO RAG_SEARCHER;
GRANT READ ON &rag_owner..RAG_MODEL TO RAG_SEARCHER;
GRANT READ ON &rag_owner..RAG_WAITING TO RAG_SEARCHER;
GRANT SELECT, INSERT, UPDATE (FEEDBACK, FEEDBACK_NOTE, FEEDBACK_AT) ON &rag_owner..RAG_SEARCH TO RAG_SEARCHER;
GRANT READ, INSERT ON &rag_owner..RAG_SEARCH_HIT TO RAG_SEARCHER;

-- 3. Workers: `oraclerag worker`, `reindex`, `queue`. They also need READ on the tables of their sources. DDL stays the
-- owner's: building the vector index, compacting the queue. Of the search log they clear prompts and answers that quote
-- what is gone, by the keys of the hits.
CREATE ROLE RAG_WORKER;
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO RAG_WORKER;
GRANT READ ON &rag_owner..RAG_MODEL TO RAG_WORKER;
GRANT READ ON &rag_owner..RAG_FILE TO RAG_WORKER;
GRANT READ ON &rag_owner..RAG_RESOLUTION TO RAG_WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_DIRTY TO RAG_WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_ENTITY TO RAG_WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_DOCUMENT TO RAG_WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_CHUNK TO RAG_WORKER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_SETTING TO RAG_WORKER;
GRANT SELECT, INSERT, UPDATE ON &rag_owner..RAG_USAGE TO RAG_WORKER;
GRANT SELECT, UPDATE (PROMPT, ANSWER) ON &rag_owner..RAG_SEARCH_TEXT TO RAG_WORKER;
GRANT READ ON &rag_owner..RAG_SEARCH_HIT TO RAG_WORKER;

-- 4. Who takes in files and resolved incidents: `oraclerag ingest`, `oraclerag resolution`. With the tables of record
-- they can read what was taken in, of every tenant, and nothing of the index.
CREATE ROLE RAG_RECORDER;
GRANT READ ON &rag_owner..RAG_ALEMBIC_VERSION TO RAG_RECORDER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_FILE TO RAG_RECORDER;
GRANT SELECT, INSERT, UPDATE, DELETE ON &rag_owner..RAG_RESOLUTION TO RAG_RECORDER;
GRANT INSERT (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION) ON &rag_owner..RAG_DIRTY TO RAG_RECORDER;

-- Searchers and workers embed with the model, once it is loaded; `oraclerag model list` gives its physical name:
--   GRANT SELECT ON MINING MODEL RAG.ALL_MINILM_L12_V2_1A2B3C4D TO RAG_SEARCHER
--   GRANT SELECT ON MINING MODEL RAG.ALL_MINILM_L12_V2_1A2B3C4D TO RAG_WORKER

-- Then give the roles to users:
--   GRANT RAG_ENQUEUER TO TRACKER_APP
EXIT
