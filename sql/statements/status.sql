-- The state of an installation.

-- name: indexed
-- An entity that is gone, or has no text, keeps its row with no chunks.
SELECT SOURCE_TYPE, COUNT(CASE WHEN CHUNKS > 0 THEN 1 END) AS ENTITIES, SUM(CHUNKS) AS CHUNKS, MAX(INDEXED_AT) AS LAST_INDEXED
FROM /*schema*/RAG_ENTITY
GROUP BY SOURCE_TYPE
ORDER BY SOURCE_TYPE
