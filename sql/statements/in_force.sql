-- What is in force: the active model and, per source, the fingerprint of its settings and whether it is paused.

-- name: read
SELECT SCOPE_NAME, SETTING, SETTING_VALUE FROM /*schema*/RAG_SETTING
WHERE SETTING IN ('model', 'vector_column', 'fingerprint', 'paused')

-- name: change
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = :setting_value, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = :setting

-- name: add
INSERT INTO /*schema*/RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES (:scope_name, :setting, :setting_value)

-- name: remove
DELETE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = :scope_name AND SETTING = :setting

-- name: claim_backfill
-- One backfill per source at a time. One that was interrupted stops counting after the lease.
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = :claim_token, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill'
  AND (SETTING_VALUE IS NULL OR SETTING_VALUE = :claim_token
       OR UPDATED_AT < SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:lease, 'SECOND'))

-- name: renew_backfill
UPDATE /*schema*/RAG_SETTING SET UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill' AND SETTING_VALUE = :claim_token

-- name: end_backfill
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = NULL, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = 'backfill' AND SETTING_VALUE = :claim_token
