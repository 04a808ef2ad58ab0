-- The embedding models in the database and which of them is in force.

-- name: exists
SELECT MODEL_NAME FROM ALL_MINING_MODELS WHERE OWNER = :owner AND MODEL_NAME = :physical_name AND MINING_FUNCTION = 'EMBEDDING'

-- name: dimensions
-- The model's only vector, as text: VECTOR(384,FLOAT32).
SELECT VECTOR_INFO FROM ALL_MINING_MODEL_ATTRIBUTES
WHERE OWNER = :owner AND MODEL_NAME = :physical_name AND ATTRIBUTE_NAME = 'ORA$ONNXTARGET'

-- name: load_data
BEGIN
  DBMS_VECTOR.LOAD_ONNX_MODEL(model_name => :model_name, model_data => :model_data, metadata => JSON(:metadata));
END;

-- name: load_file
BEGIN
  DBMS_VECTOR.LOAD_ONNX_MODEL(directory => :directory, file_name => :file_name, model_name => :model_name, metadata => JSON(:metadata));
END;

-- name: load_url
-- NULL as the credential: a pre-authenticated request carries its own.
BEGIN
  DBMS_VECTOR.LOAD_ONNX_MODEL_CLOUD(model_name => :model_name, credential => NULL, uri => :uri, metadata => JSON(:metadata));
END;

-- name: drop
BEGIN
  DBMS_VECTOR.DROP_ONNX_MODEL(model_name => :model_name, force => TRUE);
END;

-- name: record
INSERT INTO /*schema*/RAG_MODEL (PHYSICAL_NAME, MODEL_NAME, SHA256, DIMENSIONS, MAX_TOKENS, QUERY_PREFIX, PASSAGE_PREFIX, VOCABULARY, TOKENIZER)
VALUES (:physical_name, :model_name, :sha256, :dimensions, :max_tokens, :query_prefix, :passage_prefix, :vocabulary, :tokenizer)

-- name: record_external
INSERT INTO /*schema*/RAG_MODEL (
  PHYSICAL_NAME, MODEL_NAME, SHA256, DIMENSIONS, MAX_TOKENS, QUERY_PREFIX, PASSAGE_PREFIX, PROVIDER, REMOTE_NAME, TOKENIZER
) VALUES (
  :physical_name, :model_name, :sha256, :dimensions, :max_tokens, :query_prefix, :passage_prefix, :provider, :remote_name,
  :tokenizer
)

-- name: forget
DELETE FROM /*schema*/RAG_MODEL WHERE PHYSICAL_NAME = :physical_name

-- name: list
SELECT m.PHYSICAL_NAME, m.MODEL_NAME, m.SHA256, m.DIMENSIONS, m.MAX_TOKENS, m.QUERY_PREFIX, m.PASSAGE_PREFIX,
       CASE WHEN m.TOKENIZER IS NULL THEN 0 ELSE 1 END AS EXACT, m.LOADED_AT,
       CASE WHEN s.SETTING_VALUE IS NULL THEN 0 ELSE 1 END AS ACTIVE, m.PROVIDER
FROM /*schema*/RAG_MODEL m
LEFT JOIN /*schema*/RAG_SETTING s
  ON s.SCOPE_NAME = '*' AND s.SETTING = 'model' AND s.SETTING_VALUE = m.PHYSICAL_NAME
ORDER BY m.MODEL_NAME, m.LOADED_AT DESC, m.PHYSICAL_NAME

-- name: embed
SELECT VECTOR_EMBEDDING(/*model*/MODEL USING :text AS DATA) FROM dual

-- name: setting
SELECT SETTING_VALUE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING = :setting

-- name: set
MERGE INTO /*schema*/RAG_SETTING t
USING (SELECT '*' AS SCOPE_NAME, :setting AS SETTING, :value AS SETTING_VALUE FROM dual) n
ON (t.SCOPE_NAME = n.SCOPE_NAME AND t.SETTING = n.SETTING)
WHEN MATCHED THEN UPDATE SET t.SETTING_VALUE = n.SETTING_VALUE, t.UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHEN NOT MATCHED THEN INSERT (SCOPE_NAME, SETTING, SETTING_VALUE) VALUES (n.SCOPE_NAME, n.SETTING, n.SETTING_VALUE)

-- name: column
-- Described, not fetched: the driver is told dimension and format of the column.
SELECT /*column*/EMBEDDING FROM /*schema*/RAG_CHUNK WHERE 1 = 0

-- name: column_in_use
SELECT CHUNK_ID FROM /*schema*/RAG_CHUNK WHERE /*column*/EMBEDDING IS NOT NULL FETCH FIRST 1 ROWS ONLY

-- name: add_column
ALTER TABLE /*schema*/RAG_CHUNK ADD (/*column*/EMBEDDING /*type*/VECTOR)

-- name: drop_column
ALTER TABLE /*schema*/RAG_CHUNK DROP COLUMN /*column*/EMBEDDING

-- name: take_out_of_force
-- Kept under another name: what the vectors were made with must be known when this is interrupted.
UPDATE /*schema*/RAG_SETTING SET SETTING = 'model_replaced', UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = '*' AND SETTING = 'model'

-- name: put_in_force
UPDATE /*schema*/RAG_SETTING SET SETTING = 'model', UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE SCOPE_NAME = '*' AND SETTING = 'model_replaced'

-- name: forget_replaced
DELETE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING = 'model_replaced'

-- name: forget_vectors_as
-- What the vectors were taken over from is of no matter once they are made anew.
DELETE FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING = 'vectors_as'

-- name: forget_model_of_entities
-- The second half of a fingerprint stands for the model: without it, every entity has to be embedded.
UPDATE /*schema*/RAG_ENTITY SET FINGERPRINT = SUBSTR(FINGERPRINT, 1, 32) WHERE LENGTH(FINGERPRINT) > 32

-- name: vector_index
SELECT i.INDEX_NAME FROM ALL_INDEXES i
WHERE i.OWNER = :owner AND i.TABLE_OWNER = :owner AND i.TABLE_NAME = 'RAG_CHUNK' AND i.INDEX_NAME = :index_name

-- name: drop_vector_index
DROP INDEX /*index*/RAG_CHUNK_EMB_IDX
