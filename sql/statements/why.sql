-- Why something was not found: what is known of one entity, for who may know it.

-- name: entity
-- HIDDEN counts the chunks that nobody sees, because who may could not be read.
SELECT e.TENANT_ID, e.CHUNKS, e.INDEXED_AT, e.FINGERPRINT,
       (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c
        WHERE c.ENTITY_ID = e.ENTITY_ID AND c.CHUNK_NO >= 0 AND c.TENANT_ID = :tenant_id AND c.VISIBILITY = 'HIDDEN') AS HIDDEN
FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type AND e.SOURCE_ID = :source_id

-- name: queue
-- Without LAST_ERROR: the code is enough here.
SELECT d.TENANT_ID, d.ACTION, d.STATE, d.LANE, d.ENQUEUED_AT, d.AVAILABLE_AT, d.CLAIM, d.ATTEMPTS, d.CRASHES, d.ERROR_CODE
FROM /*schema*/RAG_DIRTY d
WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID = :source_id
ORDER BY d.ENQUEUED_AT, d.DIRTY_ID
FETCH FIRST 20 ROWS ONLY
