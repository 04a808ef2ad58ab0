-- The key of a language model that the database asks (generate.provider = "database"): run by the database user of
-- oraclerag, once network_acl.sql has given it CREATE CREDENTIAL.
--
--   sqlplus rag@//dbhost:1521/FREEPDB1 @credential.sql
--
-- The package is that of generate.package. Can be run again: that puts another key in force. The key is asked for and
-- stands in no file. It stands in the text of the block below, as passwords do in such scripts: V$SQL shows it to DBAs
-- until it ages out. To remove it:
--   EXECUTE DBMS_VECTOR.DROP_CREDENTIAL('RAG_LLM')
--
-- OCI Generative AI takes no access_token but, in its place, user_ocid, tenancy_ocid, compartment_ocid, fingerprint and
-- private_key (the key without its BEGIN and END lines, on one line). Ollama takes no credential at all.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_credential = RAG_LLM
DEFINE rag_package = DBMS_VECTOR
ACCEPT rag_key CHAR PROMPT 'Key of the language model: ' HIDE

DECLARE
  found NUMBER;
BEGIN
  IF '&rag_key' IS NULL THEN
    RAISE_APPLICATION_ERROR(-20000, 'A key is required.');
  END IF;
  SELECT COUNT(*) INTO found FROM USER_CREDENTIALS WHERE CREDENTIAL_NAME = '&rag_credential';
  IF found = 1 THEN
    &rag_package..DROP_CREDENTIAL(credential_name => '&rag_credential');
  END IF;
  &rag_package..CREATE_CREDENTIAL(
    credential_name => '&rag_credential',
    params          => JSON('{"access_token": "&rag_key"}'));
END;
/

PROMPT Done. Next: generate.credential = "RAG_LLM"; see docs/generate.md.
EXIT
