-- The vector index over RAG_CHUNK; its DDL is composed.

-- name: status
-- The number tells an index from an earlier one of the same name.
SELECT i.STATUS, i.INDEX_SUBTYPE,
  (SELECT MAX(o.OBJECT_ID) FROM ALL_OBJECTS o
    WHERE o.OWNER = i.OWNER AND o.OBJECT_NAME = i.INDEX_NAME AND o.OBJECT_TYPE = 'INDEX') AS OBJECT_ID
FROM ALL_INDEXES i
WHERE i.OWNER = :owner AND i.TABLE_OWNER = :owner AND i.TABLE_NAME = 'RAG_CHUNK' AND i.INDEX_NAME = :index_name

-- name: built
SELECT SETTING_VALUE, UPDATED_AT FROM /*schema*/RAG_SETTING WHERE SCOPE_NAME = '*' AND SETTING = :setting

-- name: embedded
-- How many chunks have a vector.
SELECT COUNT(*) FROM /*schema*/RAG_CHUNK WHERE /*column*/EMBEDDING IS NOT NULL

-- name: policies
-- An index with included columns and a VPD policy exclude one another (ORA-51987).
SELECT DISTINCT p.POLICY_NAME FROM ALL_POLICIES p
WHERE p.OBJECT_OWNER = :owner AND p.OBJECT_NAME = 'RAG_CHUNK' ORDER BY 1

-- name: asked
-- What was asked last in a tenant; more than are wanted, for many are asked twice.
SELECT s.QUESTION FROM /*schema*/RAG_SEARCH s
WHERE s.TENANT_ID = :tenant AND 'a' <> 'A' AND s.QUESTION IS NOT NULL
ORDER BY s.SEARCH_ID DESC
FETCH FIRST :most ROWS ONLY

-- name: texts
-- Chunks as if drawn by lot: :factor is another number every time.
SELECT c.CONTENT FROM /*schema*/RAG_CHUNK c
WHERE c.TENANT_ID = :tenant AND 'a' <> 'A' AND c.VISIBILITY IN ('SHARED', 'OWNER') AND c./*column*/EMBEDDING IS NOT NULL
ORDER BY MOD(c.CHUNK_ID * :factor, 1000003), c.CHUNK_ID
FETCH FIRST :most ROWS ONLY

-- name: embed
SELECT VECTOR_EMBEDDING(/*model*/MODEL USING :text AS DATA) FROM dual

-- name: accuracy
BEGIN
  :report := DBMS_VECTOR.INDEX_ACCURACY_QUERY(OWNER_NAME => :owner, INDEX_NAME => :index_name, QV => :vector,
    TOP_K => :k, TARGET_ACCURACY => :accuracy);
END;

-- name: text_status
-- The text index, if there is one; Oracle Text is there where its user is.
SELECT
  (SELECT COUNT(*) FROM ALL_USERS u WHERE u.USERNAME = 'CTXSYS') AS INSTALLED,
  SYS_CONTEXT('USERENV', 'SESSION_USER') AS SESSION_USER,
  (SELECT MAX(CASE WHEN i.STATUS = 'VALID' AND i.DOMIDX_STATUS = 'VALID' AND i.DOMIDX_OPSTATUS = 'VALID' THEN 'VALID'
      WHEN i.DOMIDX_OPSTATUS <> 'VALID' THEN i.DOMIDX_OPSTATUS WHEN i.DOMIDX_STATUS <> 'VALID' THEN i.DOMIDX_STATUS
      ELSE i.STATUS END)
    FROM ALL_INDEXES i WHERE i.OWNER = :owner AND i.INDEX_NAME = 'RAG_CHUNK_TEXT_IDX') AS STATE
FROM dual

-- name: text_pending
-- Changed rows that the text index does not know yet; the view shows those of its owner.
SELECT COUNT(*) FROM CTX_USER_PENDING w WHERE w.PND_INDEX_NAME = 'RAG_CHUNK_TEXT_IDX'

-- name: text_create
-- No stop words: every word of a code or a title can be found. What is committed is found at once.
CREATE INDEX /*schema*/RAG_CHUNK_TEXT_IDX ON /*schema*/RAG_CHUNK (CONTENT)
INDEXTYPE IS CTXSYS.CONTEXT
PARAMETERS ('LEXER CTXSYS.DEFAULT_LEXER STOPLIST CTXSYS.EMPTY_STOPLIST SYNC (ON COMMIT)')

-- name: text_create_maintained
-- Where SYNC is refused beside the automatic maintenance that is the default since 23ai: found a little later.
CREATE INDEX /*schema*/RAG_CHUNK_TEXT_IDX ON /*schema*/RAG_CHUNK (CONTENT)
INDEXTYPE IS CTXSYS.CONTEXT
PARAMETERS ('LEXER CTXSYS.DEFAULT_LEXER STOPLIST CTXSYS.EMPTY_STOPLIST')

-- name: text_drop
-- FORCE: also one that failed, which blocks every change of the table (ORA-29861).
DROP INDEX /*schema*/RAG_CHUNK_TEXT_IDX FORCE

-- name: text_sync
BEGIN CTX_DDL.SYNC_INDEX(:name); END;
