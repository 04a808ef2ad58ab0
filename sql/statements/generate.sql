-- An answer that a language model writes, asked by the database.

-- name: generate
-- The prompt is bound as a CLOB, the parameters as a text: JSON() takes one wherever it is documented.
SELECT /*package*/DBMS_VECTOR.UTL_TO_GENERATE_TEXT(:data, JSON(:params)) AS ANSWER FROM dual
