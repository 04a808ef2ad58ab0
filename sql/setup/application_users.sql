-- Two database users that are not the owner of the tables: one for workers, one for an application that announces changes
-- and searches. Run by a DBA, after grant_users.sql.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @application_users.sql
--
-- Neither has tablespace or may create anything. Where one program only searches, or only announces, give it a user with
-- the one role; who takes in files and resolved incidents needs the role RAG_RECORDER as well. Can be run again: a user
-- who is there keeps the password that it has.
--
-- Three names, in upper case:
--   rag_role         what the roles begin with, as in grant_users.sql.
--   rag_worker       the user of the workers.
--   rag_application  the user of the application.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_role = RAG
DEFINE rag_worker = RAG_INDEXER
DEFINE rag_application = RAG_APP
ACCEPT rag_worker_password CHAR PROMPT 'Password for the user of the workers: ' HIDE
ACCEPT rag_application_password CHAR PROMPT 'Password for the user of the application: ' HIDE

DECLARE
  found NUMBER;
BEGIN
  SELECT COUNT(*) INTO found FROM ALL_USERS WHERE USERNAME = '&rag_worker';
  IF found = 0 THEN
    EXECUTE IMMEDIATE q'[CREATE USER &rag_worker IDENTIFIED BY "&rag_worker_password"]';
  END IF;
  SELECT COUNT(*) INTO found FROM ALL_USERS WHERE USERNAME = '&rag_application';
  IF found = 0 THEN
    EXECUTE IMMEDIATE q'[CREATE USER &rag_application IDENTIFIED BY "&rag_application_password"]';
  END IF;
END;
/

GRANT CREATE SESSION, &rag_role._WORKER TO &rag_worker;
GRANT CREATE SESSION, &rag_role._SEARCHER, &rag_role._ENQUEUER TO &rag_application;

-- The tables that sources read: the worker must be able to read them, and nothing else of them.
--   GRANT READ ON APP.TASK TO RAG_INDEXER

PROMPT Done. Next, once there is a model: grant_model.sql
EXIT
