-- What a search asks beside its own statement, which is composed.

-- name: usable_indexes
-- How many vector indexes there are; the text index: 1 usable, 0 not usable, none; whether Oracle Text is installed.
SELECT
  (SELECT COUNT(*) FROM ALL_INDEXES i
   WHERE i.OWNER = :owner AND i.TABLE_NAME = 'RAG_CHUNK' AND i.INDEX_TYPE = 'VECTOR' AND i.STATUS = 'VALID') AS VECTORS,
  (SELECT MAX(CASE WHEN i.STATUS = 'VALID' AND i.DOMIDX_STATUS = 'VALID' AND i.DOMIDX_OPSTATUS = 'VALID' THEN 1 ELSE 0 END)
   FROM ALL_INDEXES i
   WHERE i.OWNER = :owner AND i.INDEX_NAME = 'RAG_CHUNK_TEXT_IDX' AND i.ITYP_NAME = 'CONTEXT') AS TEXTS,
  (SELECT COUNT(*) FROM ALL_USERS u WHERE u.USERNAME = 'CTXSYS') AS ORACLE_TEXT
FROM dual

-- name: embed
SELECT VECTOR_EMBEDDING(/*model*/MODEL USING /*text*/TEXT AS DATA) FROM dual

-- name: nothing_found
-- Whether the session compares texts without their case, then no scope is true, see Scope.predicate; and which model is
-- in force now, and since when.
SELECT CASE WHEN 'a' = 'A' THEN 1 ELSE 0 END AS IGNORES_CASE, s.SETTING_VALUE, s.UPDATED_AT
FROM dual LEFT JOIN /*schema*/RAG_SETTING s ON s.SCOPE_NAME = '*' AND s.SETTING = 'model'
