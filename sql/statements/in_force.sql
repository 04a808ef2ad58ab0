-- What is in force: the active model and, per source, the fingerprint of its settings and whether it is paused; and the
-- revision of the tables, so that a worker which is older than they are finds out with every batch.

-- name: read
SELECT SCOPE_NAME, SETTING, SETTING_VALUE FROM /*schema*/RAG_SETTING
WHERE SETTING IN ('model', 'vector_column', 'vectors_as', 'second_model', 'second_column', 'fingerprint', 'paused')
UNION ALL
SELECT '*', 'revision', VERSION_NUM FROM /*schema*/RAG_ALEMBIC_VERSION

-- name: change
UPDATE /*schema*/RAG_SETTING SET SETTING_VALUE = :setting_value, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = :scope_name AND SETTING = :setting

-- name: add
INSERT INTO /*schema*/RAG_SETTING (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES (:scope_name, :setting, :setting_value)

-- name: remove
DELETE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = :scope_name AND SETTING = :setting
