-- The vector index over RAG_CHUNK. The accuracy and the parameters are literals that the module checks.

-- name: status
SELECT i.STATUS, i.INDEX_TYPE, i.INDEX_SUBTYPE FROM ALL_INDEXES i
WHERE i.OWNER = :owner AND i.TABLE_OWNER = :owner AND i.TABLE_NAME = 'RAG_CHUNK' AND i.INDEX_NAME = 'RAG_CHUNK_EMB_IDX'

-- name: embedded
-- How many chunks have a vector in the column in force.
SELECT COUNT(*) FROM /*schema*/RAG_CHUNK WHERE /*column*/EMBEDDING IS NOT NULL

-- name: create
CREATE VECTOR INDEX /*schema*/RAG_CHUNK_EMB_IDX ON /*schema*/RAG_CHUNK (/*column*/EMBEDDING)
ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE WITH TARGET ACCURACY /*accuracy*/N

-- name: create_partitioned
CREATE VECTOR INDEX /*schema*/RAG_CHUNK_EMB_IDX ON /*schema*/RAG_CHUNK (/*column*/EMBEDDING)
ORGANIZATION NEIGHBOR PARTITIONS DISTANCE COSINE WITH TARGET ACCURACY /*accuracy*/N
PARAMETERS (TYPE IVF, NEIGHBOR PARTITIONS /*partitions*/N)

-- name: drop
DROP INDEX /*schema*/RAG_CHUNK_EMB_IDX
