-- The index follows the documents of one batch, in one transaction. Long texts and JSON are bound last (ORA-24816), and
-- texts straight into VALUES and SET: inside a function argument or a SELECT from dual a longer one is ORA-01461.

-- name: chunks
SELECT c.ENTITY_ID, c.CHUNK_NO, c.CONTENT_HASH, c.TEXT_START, c.TEXT_END, c.HEAD_LENGTH, c.SECTION, c.PARENT_NO
FROM /*schema*/RAG_CHUNK c
WHERE c.ENTITY_ID IN (/*ids*/IDS)

-- name: details
-- Who may see it and what it is about, without a word of its text and without its vectors.
UPDATE /*schema*/RAG_CHUNK
SET TENANT_ID = :tenant_id, COLLECTION = :collection, VISIBILITY = :visibility, OWNER_ID = :owner_id,
    PROJECT_ID = :project_id, SPRINT_ID = :sprint_id, OCCURRED_AT = :occurred_at,
    UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP), METADATA = :metadata
WHERE ENTITY_ID = :entity_id AND CHUNK_NO >= 0

-- name: chunk_details
-- The same, where chunks say something of their own: which errors they name.
UPDATE /*schema*/RAG_CHUNK
SET TENANT_ID = :tenant_id, COLLECTION = :collection, VISIBILITY = :visibility, OWNER_ID = :owner_id,
    PROJECT_ID = :project_id, SPRINT_ID = :sprint_id, OCCURRED_AT = :occurred_at,
    UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP), METADATA = :metadata
WHERE ENTITY_ID = :entity_id AND CHUNK_NO = :chunk_no

-- name: restrict
-- An owner counts where the chunk is its owner's alone. DECODE takes two NULLs for equal.
UPDATE /*schema*/RAG_CHUNK SET VISIBILITY = 'HIDDEN', UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE ENTITY_ID = :entity_id AND VISIBILITY <> 'HIDDEN'
  AND (TENANT_ID <> :tenant_id OR VISIBILITY <> :visibility
       OR (VISIBILITY = 'OWNER' AND DECODE(OWNER_ID, :owner_id, 0, 1) = 1))

-- name: forget_vectors
UPDATE /*schema*/RAG_CHUNK SET /*no_vectors*/EMBEDDING = NULL WHERE ENTITY_ID = :entity_id

-- name: change_chunk
-- Every vector that there is was of the text before.
UPDATE /*schema*/RAG_CHUNK
SET CONTENT_HASH = :content_hash, TEXT_START = :text_start, TEXT_END = :text_end, HEAD_LENGTH = :head_length,
    PARENT_NO = :parent_no, /*no_vectors*/EMBEDDING = NULL, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP),
    SECTION = :section, CONTENT = :content
WHERE ENTITY_ID = :entity_id AND CHUNK_NO = :chunk_no

-- name: move_chunk
-- The same text at another place of the document.
UPDATE /*schema*/RAG_CHUNK
SET TEXT_START = :text_start, TEXT_END = :text_end, HEAD_LENGTH = :head_length, PARENT_NO = :parent_no,
    SECTION = :section
WHERE ENTITY_ID = :entity_id AND CHUNK_NO = :chunk_no

-- name: add_chunk
INSERT INTO /*schema*/RAG_CHUNK (
  ENTITY_ID, CHUNK_NO, PARENT_NO, TEXT_START, TEXT_END, HEAD_LENGTH, CONTENT_HASH, TENANT_ID, COLLECTION, SOURCE_TYPE,
  SOURCE_ID, VISIBILITY, OWNER_ID, PROJECT_ID, SPRINT_ID, OCCURRED_AT, SECTION, CONTENT, METADATA
) VALUES (
  :entity_id, :chunk_no, :parent_no, :text_start, :text_end, :head_length, :content_hash, :tenant_id, :collection,
  :source_type, :source_id, :visibility, :owner_id, :project_id, :sprint_id, :occurred_at, :section, :content, :metadata
)

-- name: prune
-- Behind the last chunk, and what an interrupted batch left in front of the first.
DELETE FROM /*schema*/RAG_CHUNK WHERE ENTITY_ID = :entity_id AND (CHUNK_NO >= :chunks OR CHUNK_NO < 0)

-- name: prune_staged
DELETE FROM /*schema*/RAG_CHUNK WHERE ENTITY_ID = :entity_id AND CHUNK_NO < 0

-- name: note_staged
-- Should the text go back to what it was, it is still compared, and what was staged is pruned.
UPDATE /*schema*/RAG_ENTITY SET CONTENT_HASH = 'STAGED' WHERE ENTITY_ID = :entity_id

-- name: drop_chunk
DELETE FROM /*schema*/RAG_CHUNK WHERE ENTITY_ID = :entity_id AND CHUNK_NO = :chunk_no

-- name: promote
UPDATE /*schema*/RAG_CHUNK SET CHUNK_NO = -CHUNK_NO - 1 WHERE ENTITY_ID = :entity_id AND CHUNK_NO < 0

-- name: embed
-- One statement for the slice: the database reads the texts where they are and embeds them in batches.
UPDATE /*schema*/RAG_CHUNK SET /*column*/EMBEDDING = VECTOR_EMBEDDING(/*model*/MODEL USING CONTENT AS DATA)
WHERE ENTITY_ID IN (/*ids*/IDS) AND /*column*/EMBEDDING IS NULL

-- name: embed_prefixed
UPDATE /*schema*/RAG_CHUNK
SET /*column*/EMBEDDING = VECTOR_EMBEDDING(/*model*/MODEL USING :prefix || CONTENT AS DATA)
WHERE ENTITY_ID IN (/*ids*/IDS) AND /*column*/EMBEDDING IS NULL

-- name: set_vector
-- Where a provider embeds: the vector of exactly this text.
UPDATE /*schema*/RAG_CHUNK SET /*column*/EMBEDDING = :vector
WHERE ENTITY_ID = :entity_id AND CHUNK_NO = :chunk_no AND CONTENT_HASH = :content_hash

-- name: change_document
UPDATE /*schema*/RAG_DOCUMENT
SET TENANT_ID = :tenant_id, OCCURRED_AT = :occurred_at, UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP), TITLE = :title,
    URL = :url, METADATA = :metadata, BODY = :body
WHERE ENTITY_ID = :entity_id

-- name: add_document
INSERT INTO /*schema*/RAG_DOCUMENT (ENTITY_ID, TENANT_ID, OCCURRED_AT, TITLE, URL, METADATA, BODY)
VALUES (:entity_id, :tenant_id, :occurred_at, :title, :url, :metadata, :body)

-- name: drop_document
DELETE FROM /*schema*/RAG_DOCUMENT WHERE ENTITY_ID = :entity_id

-- name: note_entity
-- The state of the entity, and its ticket is free again.
UPDATE /*schema*/RAG_ENTITY
SET TENANT_ID = :tenant_id, COLLECTION = :collection, FINGERPRINT = :fingerprint, CONTENT_HASH = :content_hash,
    DETAILS_HASH = :details_hash, CHUNKS = :chunks, INDEXED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP),
    HOLDER = NULL, HELD_UNTIL = NULL
WHERE ENTITY_ID = :entity_id AND HOLDER = :claim_token

-- name: note_unchanged
-- One statement for all of them: what they are is what their rows say already.
UPDATE /*schema*/RAG_ENTITY
SET INDEXED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP), HOLDER = NULL, HELD_UNTIL = NULL
WHERE ENTITY_ID IN (/*ids*/IDS) AND HOLDER = :claim_token
