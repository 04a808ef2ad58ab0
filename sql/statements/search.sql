-- What a search asks beside its own statement, which is composed.

-- name: usable_index
SELECT COUNT(*) FROM ALL_INDEXES i
WHERE i.OWNER = :owner AND i.TABLE_NAME = 'RAG_CHUNK' AND i.INDEX_TYPE = 'VECTOR' AND i.STATUS = 'VALID'

-- name: embed
SELECT VECTOR_EMBEDDING(/*model*/MODEL USING /*text*/TEXT AS DATA) FROM dual

-- name: ignores_case
-- Whether the session compares texts without their case: then no scope is true, see Scope.predicate.
SELECT CASE WHEN 'a' = 'A' THEN 1 ELSE 0 END FROM dual
