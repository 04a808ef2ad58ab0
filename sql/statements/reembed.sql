-- A second vector column beside the one in force: filled, compared, put in its place, taken away.

-- name: settings
SELECT SETTING, SETTING_VALUE FROM /*schema*/RAG_SETTING
WHERE SCOPE_NAME = '*' AND SETTING IN ('model', 'vector_column', 'vectors_as', 'second_model', 'second_column', 'second_state', 'second_done')

-- name: alone
-- Whoever changes what a switch says reads it behind this lock; it goes with the commit.
SELECT SETTING_VALUE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING = 'model' FOR UPDATE

-- name: end_claim
-- Of whoever is making a column; another process may have given it up, and a third begun anew.
DELETE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING = 'second_claim' AND SETTING_VALUE = :claimed

-- name: forget
-- The column's name stays until the column is gone.
DELETE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING IN ('second_model', 'second_done', 'second_claim')

-- name: forget_all
DELETE FROM /*schema*/RAG_SETTING
WHERE SCOPE_NAME = '*' AND SETTING IN ('second_model', 'second_column', 'second_state', 'second_done', 'second_claim')

-- name: barrier
-- Waits for whoever is writing chunks and does not know yet what has just been committed; the lock goes with the rollback.
LOCK TABLE /*schema*/RAG_CHUNK IN SHARE MODE WAIT 30

-- name: next
-- In the order of the key, so that rows are locked as they are fetched and no further; what a worker has is his.
SELECT /*+ FIRST_ROWS(64) INDEX_ASC(c RAG_CHUNK_PK) */ c.CHUNK_ID
FROM /*schema*/RAG_CHUNK c
WHERE c.CHUNK_ID > :done AND c./*column*/EMBEDDING IS NULL
ORDER BY c.CHUNK_ID
FOR UPDATE SKIP LOCKED

-- name: embed
UPDATE /*schema*/RAG_CHUNK SET /*column*/EMBEDDING = VECTOR_EMBEDDING(/*model*/MODEL USING CONTENT AS DATA)
WHERE CHUNK_ID IN (/*ids*/IDS)

-- name: embed_prefixed
UPDATE /*schema*/RAG_CHUNK
SET /*column*/EMBEDDING = VECTOR_EMBEDDING(/*model*/MODEL USING :prefix || CONTENT AS DATA)
WHERE CHUNK_ID IN (/*ids*/IDS)

-- name: chunks
SELECT COUNT(*) FROM /*schema*/RAG_CHUNK

-- name: filled
-- No aggregate of a vector: that it can be tested for NULL is documented, that it can be counted is not.
SELECT COUNT(*) AS CHUNKS, COUNT(CASE WHEN /*column*/EMBEDDING IS NOT NULL THEN 1 END) AS FILLED FROM /*schema*/RAG_CHUNK

-- name: provided
-- Read and not locked: a provider is asked next.
SELECT c.CHUNK_ID, c.TENANT_ID, c.SOURCE_TYPE, c.SOURCE_ID, c.CONTENT_HASH, c.CONTENT
FROM /*schema*/RAG_CHUNK c
WHERE c.CHUNK_ID > :done AND c./*column*/EMBEDDING IS NULL
ORDER BY c.CHUNK_ID
FETCH FIRST :how_many ROWS ONLY

-- name: set_provided
UPDATE /*schema*/RAG_CHUNK SET /*column*/EMBEDDING = :vector
WHERE CHUNK_ID = :chunk_id AND CONTENT_HASH = :content_hash AND /*column*/EMBEDDING IS NULL
