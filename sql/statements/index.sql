-- The vector index over RAG_CHUNK; its DDL is composed.

-- name: status
-- The number tells an index from an earlier one of the same name.
SELECT i.STATUS, i.INDEX_SUBTYPE,
  (SELECT MAX(o.OBJECT_ID) FROM ALL_OBJECTS o
    WHERE o.OWNER = i.OWNER AND o.OBJECT_NAME = i.INDEX_NAME AND o.OBJECT_TYPE = 'INDEX')
FROM ALL_INDEXES i
WHERE i.OWNER = :owner AND i.TABLE_OWNER = :owner AND i.TABLE_NAME = 'RAG_CHUNK' AND i.INDEX_NAME = 'RAG_CHUNK_EMB_IDX'

-- name: built
SELECT SETTING_VALUE, UPDATED_AT FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING = 'vector_index'

-- name: embedded
-- How many chunks have a vector in the column in force.
SELECT COUNT(*) FROM /*schema*/RAG_CHUNK WHERE /*column*/EMBEDDING IS NOT NULL

-- name: policies
-- An index with included columns and a VPD policy exclude one another (ORA-51987).
SELECT DISTINCT p.POLICY_NAME FROM ALL_POLICIES p
WHERE p.OBJECT_OWNER = :owner AND p.OBJECT_NAME = 'RAG_CHUNK' ORDER BY 1

-- name: asked
-- What was asked last in a tenant; more than are wanted, for many are asked twice.
SELECT s.QUESTION FROM /*schema*/RAG_SEARCH s
WHERE s.TENANT_ID = :tenant AND 'a' <> 'A'
ORDER BY s.SEARCH_ID DESC
FETCH FIRST :most ROWS ONLY

-- name: texts
-- Chunks as if drawn by lot: :factor is another number every time.
SELECT c.CONTENT FROM /*schema*/RAG_CHUNK c
WHERE c.TENANT_ID = :tenant AND 'a' <> 'A' AND c.VISIBILITY IN ('SHARED', 'OWNER') AND c./*column*/EMBEDDING IS NOT NULL
ORDER BY MOD(c.CHUNK_ID * :factor, 1000003), c.CHUNK_ID
FETCH FIRST :most ROWS ONLY

-- name: accuracy
BEGIN
  :report := DBMS_VECTOR.INDEX_ACCURACY_QUERY(OWNER_NAME => :owner, INDEX_NAME => 'RAG_CHUNK_EMB_IDX', QV => :vector,
    TOP_K => :k, TARGET_ACCURACY => :accuracy);
END;
