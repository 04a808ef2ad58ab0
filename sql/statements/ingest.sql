-- Files of record: RAG_FILE is written by `ingest` alone. Every statement names the tenant. Long texts and JSON are bound
-- last (ORA-24816).

-- name: known
-- What there is of these files, without their texts.
SELECT f.FILE_ID, f.FILE_PATH, f.FILE_KIND, f.TITLE, f.URL, f.VISIBILITY, f.OWNER_ID, f.BODY_HASH, f.OCCURRED_AT,
  f.METADATA
FROM /*schema*/RAG_FILE f
WHERE f.TENANT_ID = :tenant_id AND f.COLLECTION = :collection AND f.FILE_PATH IN (/*names*/NAMES)

-- name: below
-- The names of all files of a kind whose names begin so.
SELECT f.FILE_PATH, f.FILE_ID FROM /*schema*/RAG_FILE f
WHERE f.TENANT_ID = :tenant_id AND f.COLLECTION = :collection AND f.FILE_KIND = :file_kind
  AND SUBSTR(f.FILE_PATH, 1, LENGTH(:beginning)) = :beginning
ORDER BY f.FILE_PATH

-- name: add_file
INSERT INTO /*schema*/RAG_FILE (
  TENANT_ID, COLLECTION, FILE_PATH, FILE_KIND, VISIBILITY, OWNER_ID, BODY_HASH, OCCURRED_AT, TITLE, URL, METADATA, BODY
) VALUES (
  :tenant_id, :collection, :file_path, :file_kind, :visibility, :owner_id, :body_hash, :occurred_at, :title, :url,
  :metadata, :body
)

-- name: file_id
SELECT f.FILE_ID FROM /*schema*/RAG_FILE f
WHERE f.TENANT_ID = :tenant_id AND f.COLLECTION = :collection AND f.FILE_PATH = :file_path

-- name: change_file
UPDATE /*schema*/RAG_FILE
SET FILE_KIND = :file_kind, VISIBILITY = :visibility, OWNER_ID = :owner_id, BODY_HASH = :body_hash,
    OCCURRED_AT = :occurred_at, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP), TITLE = :title, URL = :url,
    METADATA = :metadata, BODY = :body
WHERE FILE_ID = :file_id AND TENANT_ID = :tenant_id

-- name: change_details
-- Everything but the text, which is what it was.
UPDATE /*schema*/RAG_FILE
SET FILE_KIND = :file_kind, VISIBILITY = :visibility, OWNER_ID = :owner_id, OCCURRED_AT = :occurred_at,
    UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP), TITLE = :title, URL = :url, METADATA = :metadata
WHERE FILE_ID = :file_id AND TENANT_ID = :tenant_id AND BODY_HASH = :body_hash

-- name: remove_file
DELETE FROM /*schema*/RAG_FILE WHERE FILE_ID = :file_id AND TENANT_ID = :tenant_id
