-- Which embedding model is in force, and what is known of it.

-- name: settings
SELECT SETTING, SETTING_VALUE, UPDATED_AT FROM /*schema*/RAG_SETTING
WHERE SCOPE_NAME = '*' AND SETTING IN ('model', 'vector_column', 'model_replaced', 'vectors_as', 'second_model', 'second_column')

-- name: model
SELECT MODEL_NAME, DIMENSIONS, MAX_TOKENS, QUERY_PREFIX, PASSAGE_PREFIX, PROVIDER
FROM /*schema*/RAG_MODEL WHERE PHYSICAL_NAME = :physical_name

-- name: tokenizer
SELECT VOCABULARY, TOKENIZER FROM /*schema*/RAG_MODEL WHERE PHYSICAL_NAME = :physical_name
