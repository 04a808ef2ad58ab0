-- Row security: whether it is there, for which tenant a session reads, and what a reader sees of rows that are taken back.

-- name: policies
SELECT p.OBJECT_NAME, p.ENABLE, p.SEL, p.INS, p.UPD, p.DEL, p.IDX, p.CHK_OPTION, p.POLICY_TYPE, p.PF_OWNER, p.FUNCTION
FROM ALL_POLICIES p
WHERE p.OBJECT_OWNER = :owner AND p.POLICY_NAME = 'RAG_TENANT'
ORDER BY p.OBJECT_NAME

-- name: tables
-- Those that the user can see at all.
SELECT t.TABLE_NAME FROM ALL_TABLES t
WHERE t.OWNER = :owner
  AND t.TABLE_NAME IN (
    'RAG_CHUNK', 'RAG_DOCUMENT', 'RAG_ENTITY', 'RAG_FILE', 'RAG_RESOLUTION', 'RAG_SEARCH', 'RAG_SEARCH_HIT'
  )

-- name: option
SELECT o.VALUE FROM V$OPTION o WHERE o.PARAMETER = 'Fine-grained access control'

-- name: exempt
-- Who has it is subject to no policy at all.
SELECT COUNT(*) FROM SESSION_PRIVS WHERE PRIVILEGE = 'EXEMPT ACCESS POLICY'

-- name: set_scope
BEGIN /*schema*/RAG_SCOPE.SET_SCOPE(:tenant_id); END;

-- name: clear_scope
BEGIN /*schema*/RAG_SCOPE.CLEAR_SCOPE; END;

-- name: restricted
BEGIN :restricted := /*schema*/RAG_SCOPE.RESTRICTED; END;

-- name: any_row
SELECT 1 FROM /*table*/TABLE_NAME t FETCH FIRST 1 ROWS ONLY

-- name: row_of
SELECT 1 FROM /*table*/TABLE_NAME t WHERE t.TENANT_ID = :tenant_id FETCH FIRST 1 ROWS ONLY

-- name: row_of_others
SELECT 1 FROM /*table*/TABLE_NAME t
WHERE t.TENANT_ID <> :tenant_id OR t.TENANT_ID IS NULL
FETCH FIRST 1 ROWS ONLY

-- name: add_entity
INSERT INTO /*schema*/RAG_ENTITY (SOURCE_TYPE, SOURCE_ID, TENANT_ID)
VALUES ('security_verify', :made_up, :tenant_id) RETURNING ENTITY_ID INTO :made

-- name: add_document
INSERT INTO /*schema*/RAG_DOCUMENT (ENTITY_ID, TENANT_ID) VALUES (:parent, :tenant_id)

-- name: add_chunk
INSERT INTO /*schema*/RAG_CHUNK (
  ENTITY_ID, CHUNK_NO, CONTENT, CONTENT_HASH, TENANT_ID, SOURCE_TYPE, SOURCE_ID, VISIBILITY
) VALUES (:parent, 0, 'made up', '-', :tenant_id, 'security_verify', :made_up, 'HIDDEN')

-- name: add_file
INSERT INTO /*schema*/RAG_FILE (TENANT_ID, COLLECTION, FILE_PATH, FILE_KIND, BODY, BODY_HASH)
VALUES (:tenant_id, 'security_verify', :made_up, 'docs', 'made up', '-')

-- name: add_resolution
INSERT INTO /*schema*/RAG_RESOLUTION (TENANT_ID, COLLECTION, TITLE, FIX)
VALUES (:tenant_id, 'security_verify', :made_up, 'made up')

-- name: add_search
INSERT INTO /*schema*/RAG_SEARCH (TENANT_ID, KIND, ASKED_ROLE, OUTCOME, QUESTION)
VALUES (:tenant_id, 'search', 'manager', 'nothing', :made_up) RETURNING SEARCH_ID INTO :made

-- name: add_search_hit
INSERT INTO /*schema*/RAG_SEARCH_HIT (SEARCH_ID, HIT_RANK, TENANT_ID, SOURCE_TYPE, SOURCE_ID, CHUNK_NO)
VALUES (:parent, 1, :tenant_id, 'security_verify', :made_up, 0)
