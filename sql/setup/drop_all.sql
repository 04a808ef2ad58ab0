-- Everything that oraclerag made, and nothing else: run by the owner or a DBA. The data is lost, that of
-- RAG_FILE and RAG_RESOLUTION too, which no source can give again. `oraclerag migrate --to base` does the same.
--
--   sqlplus rag@//dbhost:1521/FREEPDB1 @drop_all.sql
--
-- Stop workers first. Can be run again after an error.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG
ACCEPT rag_sure CHAR PROMPT 'Type DROP to remove all tables and models of oraclerag: '

DECLARE
  found NUMBER;
BEGIN
  IF '&rag_sure' <> 'DROP' THEN
    RAISE_APPLICATION_ERROR(-20000, 'Nothing was removed.');
  END IF;
  -- The triggers that `oraclerag source triggers` wrote. Those that you wrote yourself and that insert into RAG_ENQUEUE
  -- are yours to drop: their tables cannot be changed any more without it.
  FOR written IN (
    SELECT OWNER, TRIGGER_NAME, TRIGGER_BODY FROM ALL_TRIGGERS WHERE TRIGGER_NAME LIKE 'RAG!_%' ESCAPE '!'
  ) LOOP
    IF INSTR(written.TRIGGER_BODY, 'INTO "&rag_owner".RAG_ENQUEUE ') > 0 THEN
      EXECUTE IMMEDIATE 'DROP TRIGGER "' || written.OWNER || '"."' || written.TRIGGER_NAME || '"';
    END IF;
  END LOOP;
  -- The models that oraclerag loaded are listed in RAG_MODEL; in a second run it may be gone already.
  SELECT COUNT(*) INTO found FROM ALL_TABLES WHERE OWNER = '&rag_owner' AND TABLE_NAME = 'RAG_MODEL';
  IF found = 1 THEN
    EXECUTE IMMEDIATE q'[
      BEGIN
        FOR model IN (
          SELECT m.PHYSICAL_NAME FROM &rag_owner..RAG_MODEL m
          JOIN ALL_MINING_MODELS a ON a.OWNER = '&rag_owner' AND a.MODEL_NAME = m.PHYSICAL_NAME
        ) LOOP
          DBMS_VECTOR.DROP_ONNX_MODEL(model_name => '&rag_owner..' || model.PHYSICAL_NAME, force => TRUE);
        END LOOP;
      END;]';
  END IF;
END;
/

-- Indexes, the vector index too, go with their table; PURGE takes the sequences of identity columns.
DROP TABLE IF EXISTS &rag_owner..RAG_SEARCH_HIT CASCADE CONSTRAINTS PURGE;
DROP VIEW IF EXISTS &rag_owner..RAG_SEARCH_TEXT;
DROP TABLE IF EXISTS &rag_owner..RAG_SEARCH CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_RESOLUTION CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_FILE CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_USAGE CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_SETTING CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_MODEL CASCADE CONSTRAINTS PURGE;
DROP VIEW IF EXISTS &rag_owner..RAG_WAITING;
DROP VIEW IF EXISTS &rag_owner..RAG_ENQUEUE;
DROP TABLE IF EXISTS &rag_owner..RAG_DIRTY CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_CHUNK CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_DOCUMENT CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_ENTITY CASCADE CONSTRAINTS PURGE;
DROP TABLE IF EXISTS &rag_owner..RAG_ALEMBIC_VERSION PURGE;

-- What `oraclerag provision --sql-api` made.
DROP PACKAGE IF EXISTS &rag_owner..RAG_API;

-- Of row security, where it was installed: policies went with their tables; its context is a DBA's (vpd_remove.sql).
DROP PACKAGE IF EXISTS &rag_owner..RAG_SCOPE;
DROP FUNCTION IF EXISTS &rag_owner..RAG_TENANT_POLICY;
EXIT
