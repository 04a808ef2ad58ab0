-- The one INSERT by which a change announces itself, in the caller's own transaction.

-- name: enqueue
INSERT INTO /*schema*/RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION)
VALUES (:lane, :tenant_id, :source_type, :source_id, :action)
