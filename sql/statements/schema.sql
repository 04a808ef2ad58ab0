-- name: version
SELECT VERSION_NUM FROM /*schema*/RAG_ALEMBIC_VERSION

-- name: columns
-- Columns of the tables and views that carry our prefix: what is there already, and is it ours?
SELECT TABLE_NAME, COLUMN_NAME FROM ALL_TAB_COLUMNS WHERE OWNER = :owner AND TABLE_NAME LIKE 'RAG\_%' ESCAPE '\'

-- name: indexes
SELECT INDEX_NAME, TABLE_NAME FROM ALL_INDEXES WHERE OWNER = :owner AND INDEX_NAME LIKE 'RAG\_%' ESCAPE '\'

-- name: character_set
SELECT VALUE FROM NLS_DATABASE_PARAMETERS WHERE PARAMETER = 'NLS_CHARACTERSET'

-- name: models
-- The models that this toolkit loaded and that are still there.
SELECT m.PHYSICAL_NAME FROM /*schema*/RAG_MODEL m
JOIN ALL_MINING_MODELS a ON a.OWNER = :owner AND a.MODEL_NAME = m.PHYSICAL_NAME
ORDER BY m.PHYSICAL_NAME

-- name: drop_model
BEGIN DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :name, force => TRUE); END;

-- name: triggers
-- Candidates for triggers that this toolkit wrote; their body says whether they are.
SELECT OWNER, TRIGGER_NAME, TRIGGER_BODY FROM ALL_TRIGGERS WHERE TRIGGER_NAME LIKE 'RAG\_%' ESCAPE '\'

-- name: drop_versions
DROP TABLE /*schema*/RAG_ALEMBIC_VERSION PURGE
