-- Looking whether changes were applied: for whoever must read his own writes. Nothing is locked.

-- name: rows_of_entities
-- Types and ids are asked for apart, so that one list of each is enough; the caller drops what belongs to neither key.
SELECT d.DIRTY_ID, d.SOURCE_TYPE, d.SOURCE_ID, d.STATE, d.ATTEMPTS, d.ERROR_CODE, d.LAST_ERROR
FROM /*schema*/RAG_DIRTY d
WHERE d.SOURCE_TYPE IN (/*types*/TYPES) AND d.SOURCE_ID IN (/*ids*/IDS)

-- name: fresh_rows_of_entities
-- Rows that nobody has tried: they are claimed, if at all, after this.
SELECT d.DIRTY_ID, d.SOURCE_TYPE, d.SOURCE_ID, d.STATE, d.ATTEMPTS, d.ERROR_CODE, d.LAST_ERROR
FROM /*schema*/RAG_DIRTY d
WHERE d.SOURCE_TYPE IN (/*types*/TYPES) AND d.SOURCE_ID IN (/*ids*/IDS)
  AND d.STATE = 'READY' AND d.CLAIM IS NULL AND d.ATTEMPTS = 0

-- name: rows_enqueued
-- Those that wait, or with another state those that were given up.
SELECT d.DIRTY_ID, d.SOURCE_TYPE, d.SOURCE_ID, d.STATE, d.ATTEMPTS, d.ERROR_CODE, d.LAST_ERROR
FROM /*schema*/RAG_DIRTY d
WHERE d.STATE = :state AND d.ENQUEUED_AT <= :until
FETCH FIRST :how_many ROWS ONLY

-- name: time
SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM dual
