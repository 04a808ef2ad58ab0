-- What the dictionary says of the tables that a source reads.

-- name: object
-- A materialized view is listed twice, as a table too; what it is decides.
SELECT o.OWNER, o.OBJECT_NAME, MIN(o.OBJECT_TYPE) FROM ALL_OBJECTS o
WHERE o.OWNER = COALESCE(:owner, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA')) AND o.OBJECT_NAME = :object_name
  AND o.OBJECT_TYPE IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW', 'SYNONYM')
GROUP BY o.OWNER, o.OBJECT_NAME

-- name: synonym
SELECT s.TABLE_OWNER, s.TABLE_NAME, s.DB_LINK FROM ALL_SYNONYMS s
WHERE s.OWNER = :owner AND s.SYNONYM_NAME = :object_name

-- name: view_reads
SELECT d.REFERENCED_OWNER, d.REFERENCED_NAME, d.REFERENCED_TYPE FROM ALL_DEPENDENCIES d
WHERE d.OWNER = :owner AND d.NAME = :object_name AND d.TYPE = 'VIEW'
  AND d.REFERENCED_TYPE IN ('TABLE', 'VIEW', 'MATERIALIZED VIEW', 'SYNONYM')
ORDER BY d.REFERENCED_OWNER, d.REFERENCED_NAME

-- name: files
-- What was ingested, by id; whose it is stands in the row.
SELECT f.FILE_ID, f.TENANT_ID, f.COLLECTION, f.FILE_KIND, f.TITLE, f.URL, f.VISIBILITY, f.OWNER_ID, f.METADATA,
  f.OCCURRED_AT, f.BODY
FROM /*schema*/RAG_FILE f
WHERE f.FILE_ID IN (/*ids*/IDS)

-- name: file_ids
SELECT TO_CHAR(f.FILE_ID) AS SOURCE_ID, f.TENANT_ID AS TENANT_ID FROM /*schema*/RAG_FILE f

-- name: files_in_use
-- A file, or chunks of one that is gone.
SELECT 1 FROM /*schema*/RAG_FILE f
UNION ALL
SELECT 1 FROM /*schema*/RAG_ENTITY e WHERE e.SOURCE_TYPE = :source_type AND e.CHUNKS > 0
FETCH FIRST 1 ROW ONLY

-- name: resolutions
-- Resolved incidents, by id; whose one is stands in the row.
SELECT r.RESOLUTION_ID, r.TENANT_ID, r.COLLECTION, r.TITLE, r.VISIBILITY, r.OWNER_ID, r.VALIDATED_BY, r.VALIDATED_AT,
  r.RECORDED_AT, r.METADATA, r.SYMPTOM, r.ANALYSIS, r.FIX
FROM /*schema*/RAG_RESOLUTION r
WHERE r.RESOLUTION_ID IN (/*ids*/IDS)

-- name: resolution_ids
SELECT TO_CHAR(r.RESOLUTION_ID) AS SOURCE_ID, r.TENANT_ID AS TENANT_ID FROM /*schema*/RAG_RESOLUTION r

-- name: resolutions_in_use
-- A resolution, or chunks of one that is gone.
SELECT 1 FROM /*schema*/RAG_RESOLUTION r
UNION ALL
SELECT 1 FROM /*schema*/RAG_ENTITY e WHERE e.SOURCE_TYPE = :source_type AND e.CHUNKS > 0
FETCH FIRST 1 ROW ONLY
