-- Enqueue what is missing, what was made with other settings, and what is gone: no row leaves the database.
-- ENUMERATION is a source's own query over all its entities, SOURCE_ID as text and TENANT_ID, narrowed to a range of ids.
-- Texts are compared as bytes (NLS_COMP = BINARY), so a range is the same for the source and for RAG_ENTITY.

-- name: missing
-- DETAILS_HASH is forgotten when an entity fails: one that was given up is missing, though it was indexed once. So is
-- one that has not the chunks it should have, or no document. An entity with an empty text has a fingerprint and neither.
SELECT s.SOURCE_ID, MIN(s.TENANT_ID) AS TENANT_ID FROM (/*enumeration*/ENUMERATION) s
LEFT JOIN /*schema*/RAG_ENTITY e ON e.SOURCE_TYPE = :source_type AND e.SOURCE_ID = s.SOURCE_ID
WHERE e.FINGERPRINT IS NULL OR e.FINGERPRINT <> :fingerprint OR e.DETAILS_HASH IS NULL
   OR e.CHUNKS <> (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c
                   WHERE c.SOURCE_TYPE = e.SOURCE_TYPE AND c.SOURCE_ID = e.SOURCE_ID AND c.CHUNK_NO >= 0)
   OR (e.CHUNKS > 0 AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DOCUMENT o WHERE o.ENTITY_ID = e.ENTITY_ID))
GROUP BY s.SOURCE_ID

-- name: everything
-- One row for an id, also where the select gives several.
SELECT s.SOURCE_ID, MIN(s.TENANT_ID) AS TENANT_ID FROM (/*enumeration*/ENUMERATION) s GROUP BY s.SOURCE_ID

-- name: gone
-- Indexed, and no longer in the source, or no longer under a tenant (which ENUMERATION leaves out then).
SELECT e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type
  AND (e.CHUNKS > 0 OR EXISTS (SELECT 1 FROM /*schema*/RAG_CHUNK c WHERE c.ENTITY_ID = e.ENTITY_ID))
  AND NOT EXISTS (SELECT 1 FROM (/*enumeration*/ENUMERATION) s WHERE s.SOURCE_ID = e.SOURCE_ID)

-- name: indexed
SELECT e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e WHERE e.SOURCE_TYPE = :source_type AND e.CHUNKS > 0

-- name: not_waiting
-- An entity that has an untouched row is in the queue already. One that was claimed may have been read before.
SELECT w.SOURCE_ID, NVL(w.TENANT_ID, '-') AS TENANT_ID FROM (/*wanted*/WANTED) w
WHERE NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID = w.SOURCE_ID
                    AND d.STATE = 'READY' AND d.CLAIM IS NULL)

-- name: not_waiting_nor_given_up
SELECT w.SOURCE_ID, NVL(w.TENANT_ID, '-') AS TENANT_ID FROM (/*wanted*/WANTED) w
WHERE NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID = w.SOURCE_ID
                    AND (d.STATE = 'DEAD' OR d.CLAIM IS NULL))

-- name: enqueue
-- Rows of the queue have no key but their own number: nobody who enqueues the same entity waits for this.
INSERT INTO /*schema*/RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION)
SELECT 1, n.TENANT_ID, :source_type, n.SOURCE_ID, :action FROM (/*wanted*/WANTED) n

-- name: count
SELECT COUNT(*) FROM (/*wanted*/WANTED) n

-- name: sample
-- Those whose hash is least: another seed gives others, the same seed the same.
SELECT n.SOURCE_ID FROM (/*wanted*/WANTED) n
ORDER BY ORA_HASH(n.SOURCE_ID, 4294967295, :seed), n.SOURCE_ID
FETCH FIRST :how_many ROWS ONLY

-- name: chunks
-- What of a sample is embedded already.
SELECT e.SOURCE_ID, e.FINGERPRINT, c.CHUNK_NO, c.CONTENT_HASH FROM /*schema*/RAG_ENTITY e
JOIN /*schema*/RAG_CHUNK c ON c.ENTITY_ID = e.ENTITY_ID
WHERE e.SOURCE_TYPE = :source_type AND e.SOURCE_ID IN (/*ids*/IDS) AND c.CHUNK_NO >= 0

-- name: embed
-- A query, which writes nothing: how long does the database take for a text?
SELECT VECTOR_EMBEDDING(/*model*/MODEL USING :passage AS DATA) FROM dual

-- name: total
-- Entities, rows that have no id, and those whose id or tenant no column holds.
SELECT COUNT(s.SOURCE_ID), COUNT(*) - COUNT(s.SOURCE_ID),
       COUNT(CASE WHEN LENGTHB(TO_CHAR(s.SOURCE_ID)) > :id_bytes THEN 1 END),
       COUNT(CASE WHEN LENGTHB(s.TENANT_ID) > :tenant_bytes THEN 1 END)
FROM (/*enumeration*/ENUMERATION) s

-- name: incomplete
-- Entities that have not the chunks or the document they should have. What a long document keeps out of sight has negative numbers.
SELECT e.ENTITY_ID, e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type AND e.FINGERPRINT IS NOT NULL
  AND (e.CHUNKS <> (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c
                    WHERE c.SOURCE_TYPE = e.SOURCE_TYPE AND c.SOURCE_ID = e.SOURCE_ID AND c.CHUNK_NO >= 0)
       OR (e.CHUNKS > 0 AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DOCUMENT o WHERE o.ENTITY_ID = e.ENTITY_ID)))

-- name: damaged
-- The same, and those whose chunks lack their vector, or are another tenant's, or have another text than was hashed.
SELECT e.ENTITY_ID, e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type AND e.FINGERPRINT IS NOT NULL
  AND (e.CHUNKS <> (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c
                    WHERE c.SOURCE_TYPE = e.SOURCE_TYPE AND c.SOURCE_ID = e.SOURCE_ID AND c.CHUNK_NO >= 0)
       OR (e.CHUNKS > 0 AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DOCUMENT o WHERE o.ENTITY_ID = e.ENTITY_ID))
       OR EXISTS (SELECT 1 FROM /*schema*/RAG_CHUNK k
                  WHERE k.ENTITY_ID = e.ENTITY_ID AND k.CHUNK_NO >= 0
                    AND (k./*column*/EMBEDDING IS NULL OR k.TENANT_ID <> e.TENANT_ID
                         OR k.CONTENT_HASH <> LOWER(RAWTOHEX(STANDARD_HASH(k.CONTENT, 'SHA256'))))))

-- name: rehash
-- A text that is not the one that was hashed counts as another one, so that it is written again.
UPDATE /*schema*/RAG_CHUNK SET CONTENT_HASH = LOWER(RAWTOHEX(STANDARD_HASH(CONTENT, 'SHA256')))
WHERE CONTENT_HASH <> LOWER(RAWTOHEX(STANDARD_HASH(CONTENT, 'SHA256')))
  AND ENTITY_ID IN (SELECT d.ENTITY_ID FROM (/*damaged*/DAMAGED) d)

-- name: forget
-- What is not remembered is not "unchanged": text, details and vectors are written again, in one transaction as ever.
-- No settings and no model have this fingerprint; one that is NULL would mean that RAG_DOCUMENT has no row yet.
UPDATE /*schema*/RAG_ENTITY
SET FINGERPRINT = '0000000000000000000000000000000000000000000000000000000000000000',
    CONTENT_HASH = NULL, DETAILS_HASH = NULL
WHERE ENTITY_ID IN (SELECT d.ENTITY_ID FROM (/*damaged*/DAMAGED) d)

-- name: lock
-- The row stays locked until the commit; who finds it locked knows enough.
SELECT b.SETTING_VALUE,
       CASE WHEN b.UPDATED_AT < SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:lease, 'SECOND') THEN 1 ELSE 0 END
FROM /*schema*/RAG_SETTING b
WHERE b.SCOPE_NAME = :scope_name AND b.SETTING = 'backfill'
FOR UPDATE NOWAIT

-- name: renew
UPDATE /*schema*/RAG_SETTING SET UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill' AND SETTING_VALUE = :claim_token

-- name: finish
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = NULL, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill' AND SETTING_VALUE = :claim_token

-- name: recent
SELECT COUNT(*) FROM /*schema*/RAG_SETTING b
WHERE b.SCOPE_NAME = :scope_name AND b.SETTING = 'last_backfill' AND b.SETTING_VALUE = :fingerprint
  AND b.UPDATED_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:within, 'SECOND')
