-- An example, not run by anything and not verified: data grants of 26ai (Deep Data Security, release update 23.26.2 and
-- later) in the place of the policies of vpd.sql. See docs/security.md for what is known of them and what is not.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @data_grants.sql
--
-- Whether the database has them: SELECT 1 FROM SYSTEM_PRIVILEGE_MAP WHERE NAME = 'CREATE DATA GRANT'. Run vpd.sql down to
-- the context first (package and context say which tenant a session reads), and leave out its last block. The owner of
-- the tables is not subject to data grants on them, grants add up, and who has READ on a table by an ordinary grant is to
-- be looked at: give such users the data role in the place of RAG_SEARCHER.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG

CREATE DATA ROLE RAG_SEARCHER_DATA
/

CREATE DATA GRANT &rag_owner..RAG_CHUNK_OF_TENANT AS SELECT ON &rag_owner..RAG_CHUNK
  WHERE TENANT_ID = SYS_CONTEXT('ORACLERAG_&rag_owner', 'TENANT_ID') AND 'a' <> 'A'
  TO RAG_SEARCHER_DATA
/

CREATE DATA GRANT &rag_owner..RAG_DOCUMENT_OF_TENANT AS SELECT ON &rag_owner..RAG_DOCUMENT
  WHERE TENANT_ID = SYS_CONTEXT('ORACLERAG_&rag_owner', 'TENANT_ID') AND 'a' <> 'A'
  TO RAG_SEARCHER_DATA
/

PROMPT Done. Next: look with two tenants, as docs/security.md says.
EXIT
