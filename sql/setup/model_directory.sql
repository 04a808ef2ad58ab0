-- A folder of the database host from which the owner of the tables may load models (`oraclerag provision --directory`,
-- `oraclerag model load --directory`): run once by a DBA in the pluggable database.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @model_directory.sql
--
-- Only where the file is not to be sent through the connection, which needs nothing of this. Can be run again.
--
-- Three names, the first two in upper case; rag_path has no blanks:
--   rag_owner      owns the tables and the models.
--   rag_directory  the name of the DIRECTORY.
--   rag_path       the folder on the database host that holds the .onnx file.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_owner = RAG
DEFINE rag_directory = RAG_MODELS
DEFINE rag_path = /opt/oraclerag/models

CREATE OR REPLACE DIRECTORY &rag_directory AS '&rag_path';
GRANT READ ON DIRECTORY &rag_directory TO &rag_owner;

PROMPT Done.
EXIT
