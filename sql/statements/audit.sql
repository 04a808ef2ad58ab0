-- Is the index equal to a source? ENUMERATION is the source's own query over all its entities, narrowed to a range of ids.

-- name: total
SELECT COUNT(DISTINCT s.SOURCE_ID) FROM (/*enumeration*/ENUMERATION) s

-- name: ids
SELECT s.SOURCE_ID FROM (/*enumeration*/ENUMERATION) s

-- name: gone
-- Indexed, and no longer in the source, or no longer under a tenant (which ENUMERATION leaves out then).
SELECT e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type
  AND (e.CHUNKS > 0 OR EXISTS (SELECT 1 FROM /*schema*/RAG_CHUNK c WHERE c.ENTITY_ID = e.ENTITY_ID))
  AND NOT EXISTS (SELECT 1 FROM (/*enumeration*/ENUMERATION) s WHERE s.SOURCE_ID = e.SOURCE_ID)

-- name: entities
SELECT e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e WHERE e.SOURCE_TYPE = :source_type AND e.CHUNKS > 0

-- name: drawn
-- Those whose hash is least: another seed gives others, the same seed the same.
SELECT s.SOURCE_ID FROM (/*enumeration*/ENUMERATION) s
ORDER BY ORA_HASH(s.SOURCE_ID, 4294967295, :seed), s.SOURCE_ID
FETCH FIRST :how_many ROWS ONLY

-- name: indexed
-- Entity and chunks in one statement: a write that is committed meanwhile is seen whole or not at all. No text and no
-- vector travels.
SELECT e.SOURCE_ID, e.FINGERPRINT, e.CONTENT_HASH, e.DETAILS_HASH, e.CHUNKS, e.INDEXED_AT,
       e.TENANT_ID AS ENTITY_TENANT, c.CHUNK_NO, c.CONTENT_HASH AS CHUNK_HASH, c.TENANT_ID, c.OWNER_ID, c.VISIBILITY,
       CASE WHEN c./*column*/EMBEDDING IS NULL THEN 0 ELSE 1 END AS HAS_VECTOR,
       CASE WHEN c.CONTENT_HASH = LOWER(RAWTOHEX(STANDARD_HASH(c.CONTENT, 'SHA256'))) THEN 1 ELSE 0 END AS IS_WHOLE,
       CASE WHEN o.ENTITY_ID IS NULL THEN 0 ELSE 1 END AS HAS_DOCUMENT
FROM /*schema*/RAG_ENTITY e
LEFT JOIN /*schema*/RAG_DOCUMENT o ON o.ENTITY_ID = e.ENTITY_ID
LEFT JOIN /*schema*/RAG_CHUNK c ON c.ENTITY_ID = e.ENTITY_ID AND c.CHUNK_NO >= 0
WHERE e.SOURCE_TYPE = :source_type AND e.SOURCE_ID IN (/*ids*/IDS)

-- name: state
SELECT e.SOURCE_ID, e.FINGERPRINT, e.CONTENT_HASH, e.DETAILS_HASH, e.CHUNKS, e.INDEXED_AT FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type AND e.SOURCE_ID IN (/*ids*/IDS)

-- name: queued
SELECT d.SOURCE_ID, COUNT(CASE WHEN d.STATE = 'READY' THEN 1 END) AS READY FROM /*schema*/RAG_DIRTY d
WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID IN (/*ids*/IDS)
GROUP BY d.SOURCE_ID

-- name: forget
-- What is not remembered is not "unchanged": text, details and vectors are written again. No settings and no model have
-- this fingerprint; one that is NULL would mean that there is no row of RAG_DOCUMENT yet.
UPDATE /*schema*/RAG_ENTITY
SET FINGERPRINT = '0000000000000000000000000000000000000000000000000000000000000000',
    CONTENT_HASH = NULL, DETAILS_HASH = NULL
WHERE SOURCE_TYPE = :source_type AND SOURCE_ID IN (/*ids*/IDS)

-- name: rehash
-- A text that is not the one that was hashed counts as another one, so that it is written again.
UPDATE /*schema*/RAG_CHUNK SET CONTENT_HASH = LOWER(RAWTOHEX(STANDARD_HASH(CONTENT, 'SHA256')))
WHERE SOURCE_TYPE = :source_type AND SOURCE_ID IN (/*ids*/IDS)
  AND CONTENT_HASH <> LOWER(RAWTOHEX(STANDARD_HASH(CONTENT, 'SHA256')))

-- name: hide
UPDATE /*schema*/RAG_CHUNK SET VISIBILITY = 'HIDDEN', UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SOURCE_TYPE = :source_type AND SOURCE_ID IN (/*ids*/IDS) AND VISIBILITY <> 'HIDDEN'

-- name: enqueue
INSERT INTO /*schema*/RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION)
SELECT 1, :tenant_id, :source_type, :source_id, :action FROM dual
WHERE NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID = :source_id
                    AND d.STATE = 'READY' AND d.CLAIM IS NULL)
