-- How many chunks a search would read: kept per source, so that a search need not ask.

-- name: count
SELECT SOURCE_TYPE, TENANT_ID, COUNT(*) AS CHUNKS, COUNT(CASE WHEN VISIBILITY = 'OWNER' THEN 1 END) AS OWNED,
       COUNT(DISTINCT OWNER_ID) AS OWNERS
FROM /*schema*/RAG_CHUNK
GROUP BY SOURCE_TYPE, TENANT_ID
ORDER BY SOURCE_TYPE, COUNT(*) DESC, TENANT_ID

-- name: read
SELECT SCOPE_NAME, SETTING_VALUE FROM /*schema*/RAG_SETTING WHERE SETTING = 'counts'

-- name: update
-- The text is bound straight into SET: over 1,000 characters it could not stand in a SELECT from dual (ORA-01461).
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = :counts, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :source AND SETTING = 'counts'

-- name: insert
INSERT INTO /*schema*/RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES (:source, 'counts', :counts)

-- name: forget
DELETE FROM /*schema*/RAG_SETTING WHERE SETTING = 'counts' AND SCOPE_NAME = :source
