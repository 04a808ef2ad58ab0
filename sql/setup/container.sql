-- For the development container (compose.dev.yml): run as SYS at its first start, after the user RAG was created with
-- DB_DEVELOPER_ROLE and a quota. Scripts of the image start in the root container.
WHENEVER SQLERROR EXIT FAILURE
ALTER SESSION SET CONTAINER = FREEPDB1;
GRANT CREATE MINING MODEL TO RAG;
GRANT EXECUTE ON SYS.DBMS_VECTOR TO RAG;

-- The folder ./models of the project, from which `oraclerag provision --directory RAG_MODELS` loads.
CREATE OR REPLACE DIRECTORY RAG_MODELS AS '/opt/oraclerag/models';
GRANT READ ON DIRECTORY RAG_MODELS TO RAG;
