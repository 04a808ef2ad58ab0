-- Enqueue what is missing, what was made with other settings, and what is gone. ENUMERATION is a source's own query over
-- all its entities: SOURCE_ID as text and TENANT_ID.

-- name: missing
-- DETAILS_HASH is forgotten when an entity fails: one that was given up is missing, though it was indexed once.
SELECT s.SOURCE_ID, s.TENANT_ID FROM (/*enumeration*/ENUMERATION) s
LEFT JOIN /*schema*/RAG_ENTITY e ON e.SOURCE_TYPE = :source_type AND e.SOURCE_ID = s.SOURCE_ID
WHERE s.SOURCE_ID IS NOT NULL AND (e.FINGERPRINT IS NULL OR e.FINGERPRINT <> :fingerprint OR e.DETAILS_HASH IS NULL)

-- name: everything
SELECT s.SOURCE_ID, s.TENANT_ID FROM (/*enumeration*/ENUMERATION) s WHERE s.SOURCE_ID IS NOT NULL

-- name: gone
SELECT e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type AND e.CHUNKS > 0
  AND NOT EXISTS (SELECT 1 FROM (/*enumeration*/ENUMERATION) s WHERE s.SOURCE_ID = e.SOURCE_ID)

-- name: gone_or_without_tenant
SELECT e.SOURCE_ID, e.TENANT_ID FROM /*schema*/RAG_ENTITY e
WHERE e.SOURCE_TYPE = :source_type AND e.CHUNKS > 0
  AND NOT EXISTS (SELECT 1 FROM (/*enumeration*/ENUMERATION) s
                  WHERE s.SOURCE_ID = e.SOURCE_ID AND s.TENANT_ID IS NOT NULL)

-- name: total
-- Entities, and rows that have no id.
SELECT COUNT(s.SOURCE_ID), COUNT(*) - COUNT(s.SOURCE_ID) FROM (/*enumeration*/ENUMERATION) s

-- name: enqueue
-- An entity that has an untouched row is in the queue already. One that was claimed may have been read before.
INSERT INTO /*schema*/RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION)
SELECT 1, :tenant_id, :source_type, :source_id, :action FROM dual
WHERE NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID = :source_id
                    AND d.STATE = 'READY' AND d.CLAIM IS NULL)

-- name: enqueue_not_given_up
INSERT INTO /*schema*/RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION)
SELECT 1, :tenant_id, :source_type, :source_id, :action FROM dual
WHERE NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID = :source_id
                    AND (d.STATE = 'DEAD' OR d.CLAIM IS NULL))

-- name: claim
-- One backfill per source at a time. One that was interrupted stops counting after the lease.
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = :claim_token, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill'
  AND (SETTING_VALUE IS NULL OR SETTING_VALUE = :claim_token
       OR UPDATED_AT < SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:lease, 'SECOND'))

-- name: renew
UPDATE /*schema*/RAG_SETTING SET UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill' AND SETTING_VALUE = :claim_token

-- name: finish
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = NULL, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill' AND SETTING_VALUE = :claim_token
