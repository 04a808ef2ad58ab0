-- Lets workers and services that search embed with the model in force: run by the owner of the tables or a DBA, after
-- `oraclerag provision` or `oraclerag model use`, and again after another model was taken into use.
--
--   sqlplus rag@//dbhost:1521/FREEPDB1 @grant_model.sql
--
-- Nothing is to be granted where a provider embeds (embedding.provider). Can be run again.
--
-- Two names, in upper case:
--   rag_owner  owns the tables and the model.
--   rag_role   what the roles begin with, as in grant_users.sql.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG
DEFINE rag_role = RAG

DECLARE
  found NUMBER := 0;
BEGIN
  FOR model IN (
    SELECT m.PHYSICAL_NAME, a.MODEL_NAME
    FROM &rag_owner..RAG_SETTING s
    JOIN &rag_owner..RAG_MODEL m ON m.PHYSICAL_NAME = s.SETTING_VALUE
    LEFT JOIN ALL_MINING_MODELS a ON a.OWNER = '&rag_owner' AND a.MODEL_NAME = m.PHYSICAL_NAME
    WHERE s.SCOPE_NAME = '*' AND s.SETTING = 'model'
  ) LOOP
    found := found + 1;
    IF model.MODEL_NAME IS NOT NULL THEN
      EXECUTE IMMEDIATE 'GRANT SELECT ON MINING MODEL &rag_owner..' || model.MODEL_NAME || ' TO &rag_role._SEARCHER';
      EXECUTE IMMEDIATE 'GRANT SELECT ON MINING MODEL &rag_owner..' || model.MODEL_NAME || ' TO &rag_role._WORKER';
    END IF;
  END LOOP;
  IF found = 0 THEN
    RAISE_APPLICATION_ERROR(-20000, 'No model is in force: run oraclerag provision as the owner first.');
  END IF;
END;
/

PROMPT Done.
EXIT
