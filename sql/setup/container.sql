-- For the development container (compose.dev.yml): run as SYS at its first start, after the user RAG was created with
-- DB_DEVELOPER_ROLE and a quota. Scripts of the image start in the root container.
WHENEVER SQLERROR EXIT FAILURE
ALTER SESSION SET CONTAINER = FREEPDB1;
GRANT CREATE MINING MODEL TO RAG;
GRANT EXECUTE ON SYS.DBMS_VECTOR TO RAG;
