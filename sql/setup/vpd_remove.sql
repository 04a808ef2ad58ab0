-- Takes away what vpd.sql made, and nothing else: from then on the predicate that every read of oraclerag carries is what
-- keeps tenants apart. Run by a DBA in the pluggable database, before drop_all.sql too.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @vpd_remove.sql
--
-- `oraclerag security uninstall` does the same, and with --sql prints this script. Can be run again after an error.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG

-- Policies go first: without their function every statement on the tables would be refused (ORA-28110).
BEGIN
  FOR item IN (
    SELECT OBJECT_NAME FROM ALL_POLICIES WHERE OBJECT_OWNER = '&rag_owner' AND POLICY_NAME = 'RAG_TENANT'
  ) LOOP
    SYS.DBMS_RLS.DROP_POLICY('&rag_owner', item.OBJECT_NAME, 'RAG_TENANT');
  END LOOP;
  FOR item IN (
    SELECT NAMESPACE FROM DBA_CONTEXT
    WHERE NAMESPACE = 'ORACLERAG_&rag_owner' AND SCHEMA = '&rag_owner' AND PACKAGE = 'RAG_SCOPE'
  ) LOOP
    EXECUTE IMMEDIATE 'DROP CONTEXT ' || item.NAMESPACE;
  END LOOP;
END;
/

DROP PACKAGE IF EXISTS &rag_owner..RAG_SCOPE
/

DROP FUNCTION IF EXISTS &rag_owner..RAG_TENANT_POLICY
/

PROMPT Done.
EXIT
