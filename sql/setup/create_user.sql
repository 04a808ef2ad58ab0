-- The owner of the tables of oraclerag: run once by a DBA in the pluggable database.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @create_user.sql
--
-- On Autonomous Database run it as ADMIN, with DATA as the tablespace. Change the four names below if you like, in upper
-- case. Can be run again.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG
DEFINE rag_tablespace = USERS
DEFINE rag_quota = 10G
DEFINE rag_temporary = TEMP
ACCEPT rag_password CHAR PROMPT 'Password for the owner of the tables: ' HIDE

-- The tablespace needs automatic segment space management, so never SYSTEM: ORA-43853 for JSON and VECTOR columns. A user
-- who is there keeps the password that it has.
DECLARE
  found NUMBER;
BEGIN
  SELECT COUNT(*) INTO found FROM ALL_USERS WHERE USERNAME = '&rag_owner';
  IF found = 0 THEN
    EXECUTE IMMEDIATE q'[CREATE USER &rag_owner IDENTIFIED BY "&rag_password"
      DEFAULT TABLESPACE &rag_tablespace TEMPORARY TABLESPACE &rag_temporary]';
  END IF;
END;
/

ALTER USER &rag_owner QUOTA &rag_quota ON &rag_tablespace;

-- Sessions, tables (identity columns need CREATE SEQUENCE), views, triggers.
GRANT DB_DEVELOPER_ROLE TO &rag_owner;

-- To load the embedding model. The role has it in most releases; granted here so that it does not depend on that, and
-- so that it also holds inside stored code, where roles do not count.
GRANT CREATE MINING MODEL TO &rag_owner;

-- Only where EXECUTE ON DBMS_VECTOR is not granted to PUBLIC (ORA-00904 or PLS-00201 at `oraclerag model load`), as SYS:
--   GRANT EXECUTE ON SYS.DBMS_VECTOR TO RAG

-- Only for `oraclerag model load --directory`, where the .onnx file lies on the database host: model_directory.sql.

-- For `oraclerag index build --lexical` (hybrid search), where the database has Oracle Text.
DECLARE
  found NUMBER;
BEGIN
  SELECT COUNT(*) INTO found FROM DBA_ROLES WHERE ROLE = 'CTXAPP';
  IF found = 1 THEN
    EXECUTE IMMEDIATE 'GRANT CTXAPP TO &rag_owner';
  END IF;
END;
/

-- The tables that sources read stay where they are; the owner, or the user of the worker, must be able to read them:
--   GRANT READ ON APP.TASK TO RAG

PROMPT Done. Next: ORACLE_USER=RAG oraclerag provision
EXIT
