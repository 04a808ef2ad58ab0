-- Row security (Virtual Private Database): the database itself keeps the tenants of oraclerag apart. Run by a DBA in the
-- pluggable database, after `oraclerag migrate` and grant_users.sql; see docs/security.md for what it gives and costs.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @vpd.sql
--
-- `oraclerag security install` does the same, and with --sql prints this script with the names filled in. Whoever runs
-- it needs EXECUTE on SYS.DBMS_RLS and CREATE ANY CONTEXT, which nobody is given here. Can be run again: that puts
-- other names in force. vpd_remove.sql takes it away.
--
-- Three names, in upper case:
--   rag_owner    owns the tables. It is subject to the policies as well, unless it is rag_worker.
--   rag_worker   the database user of the workers, and of reindex, audit, index build, model use: sees every row. It must
--                not be the user of an application that searches.
--   rag_readers  users and roles that search, ingest and record: they may set the tenant that they read for. No blanks.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG
DEFINE rag_worker = RAG_INDEXER
DEFINE rag_readers = RAG_SEARCHER,RAG_RECORDER

DECLARE
  found NUMBER;
BEGIN
  SELECT COUNT(*) INTO found FROM ALL_USERS WHERE USERNAME = '&rag_worker';
  IF found = 0 THEN
    RAISE_APPLICATION_ERROR(-20000, 'There is no user &rag_worker for the workers.');
  END IF;
  SELECT COUNT(*) INTO found FROM ALL_TABLES WHERE OWNER = '&rag_owner' AND TABLE_NAME = 'RAG_CHUNK';
  IF found = 0 THEN
    RAISE_APPLICATION_ERROR(-20000, 'There is no table &rag_owner..RAG_CHUNK: run oraclerag migrate first.');
  END IF;
END;
/

-- What the database adds to every statement. The predicate is the same text for all tenants, so that cursors are shared;
-- it is never true while no tenant is set, nor in a session that takes 'a' for 'A' (NLS_COMP=LINGUISTIC with an NLS_SORT
-- such as BINARY_CI), where ACME would read what is of acme. Nobody needs EXECUTE on this function.
CREATE OR REPLACE FUNCTION &rag_owner..RAG_TENANT_POLICY (
  schema_name IN VARCHAR2,
  table_name  IN VARCHAR2
) RETURN VARCHAR2 AUTHID DEFINER IS
BEGIN
  IF SYS_CONTEXT('USERENV', 'SESSION_USER') = '&rag_worker' THEN
    RETURN NULL;
  END IF;
  RETURN 'TENANT_ID = SYS_CONTEXT(''ORACLERAG_&rag_owner'', ''TENANT_ID'') AND ''a'' <> ''A''';
END RAG_TENANT_POLICY;
/

-- The only way to say for which tenant a session reads: the context below takes it from this package alone. It has no
-- state of its own. RESTRICTED is 0 for the workers' user, else 1.
CREATE OR REPLACE PACKAGE &rag_owner..RAG_SCOPE AUTHID DEFINER AS
  PROCEDURE SET_SCOPE(tenant IN VARCHAR2);
  PROCEDURE CLEAR_SCOPE;
  FUNCTION RESTRICTED RETURN NUMBER;
END RAG_SCOPE;
/

CREATE OR REPLACE PACKAGE BODY &rag_owner..RAG_SCOPE AS
  PROCEDURE SET_SCOPE(tenant IN VARCHAR2) IS
  BEGIN
    IF tenant IS NULL THEN
      RAISE_APPLICATION_ERROR(-20000, 'A tenant is required.');
    END IF;
    SYS.DBMS_SESSION.SET_CONTEXT('ORACLERAG_&rag_owner', 'TENANT_ID', tenant);
  END SET_SCOPE;
  PROCEDURE CLEAR_SCOPE IS
  BEGIN
    SYS.DBMS_SESSION.CLEAR_ALL_CONTEXT('ORACLERAG_&rag_owner');
  END CLEAR_SCOPE;
  FUNCTION RESTRICTED RETURN NUMBER IS
  BEGIN
    IF RAG_TENANT_POLICY(NULL, NULL) IS NULL THEN
      RETURN 0;
    END IF;
    RETURN 1;
  END RESTRICTED;
END RAG_SCOPE;
/

-- Contexts belong to the whole database, so the name carries that of the owner.
CREATE OR REPLACE CONTEXT ORACLERAG_&rag_owner USING &rag_owner..RAG_SCOPE
/

-- The owner of the package may call it anyhow, and nobody grants to himself (ORA-01749).
BEGIN
  IF '&rag_worker' <> '&rag_owner' THEN
    EXECUTE IMMEDIATE 'GRANT EXECUTE ON &rag_owner..RAG_SCOPE TO &rag_worker';
  END IF;
END;
/

GRANT EXECUTE ON &rag_owner..RAG_SCOPE TO &rag_readers
/

-- Every table that holds texts or the keys of data. RAG_CHUNK is first: where its vector index has INCLUDE columns, it
-- refuses (ORA-51988, ORA-51991) before another has a policy. RAG_DIRTY has no policy: applications and triggers insert
-- there in sessions that have no tenant, and waiting for a change must not take a hidden row for one that is done.
-- All kinds of statements, for else MERGE is ORA-28132; INDEX, so that an index that would show or miss rows is
-- ORA-28133. CONTEXT_SENSITIVE: the predicate depends on the user of the session, so STATIC, which keeps one for all
-- sessions, would show every row to everybody once a worker was first.
DECLARE
  there_already EXCEPTION;
  PRAGMA EXCEPTION_INIT(there_already, -28101);
BEGIN
  FOR item IN (
    SELECT 1 AS PLACE, 'RAG_CHUNK' AS TABLE_NAME FROM dual
    UNION ALL SELECT 2, 'RAG_DOCUMENT' FROM dual
    UNION ALL SELECT 3, 'RAG_ENTITY' FROM dual
    UNION ALL SELECT 4, 'RAG_FILE' FROM dual
    UNION ALL SELECT 5, 'RAG_RESOLUTION' FROM dual
    UNION ALL SELECT 6, 'RAG_SEARCH' FROM dual
    UNION ALL SELECT 7, 'RAG_SEARCH_HIT' FROM dual
    ORDER BY 1
  ) LOOP
    BEGIN
      SYS.DBMS_RLS.ADD_POLICY(
        object_schema   => '&rag_owner',
        object_name     => item.TABLE_NAME,
        policy_name     => 'RAG_TENANT',
        function_schema => '&rag_owner',
        policy_function => 'RAG_TENANT_POLICY',
        statement_types => 'SELECT,INSERT,UPDATE,DELETE,INDEX',
        update_check    => TRUE,
        enable          => TRUE,
        policy_type     => SYS.DBMS_RLS.CONTEXT_SENSITIVE,
        namespace       => 'ORACLERAG_&rag_owner',
        attribute       => 'TENANT_ID');
    EXCEPTION
      WHEN there_already THEN
        SYS.DBMS_RLS.ENABLE_POLICY('&rag_owner', item.TABLE_NAME, 'RAG_TENANT', TRUE);
        SYS.DBMS_RLS.REFRESH_POLICY('&rag_owner', item.TABLE_NAME, 'RAG_TENANT');
    END;
  END LOOP;
END;
/

PROMPT Done. Next, as a user that searches: oraclerag security verify
EXIT
