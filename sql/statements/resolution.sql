-- Resolved incidents: kept, looked at and taken away by who may see them. SEEN is what a scope may see.

-- name: add
INSERT INTO /*schema*/RAG_RESOLUTION (
  TENANT_ID, COLLECTION, TITLE, VISIBILITY, OWNER_ID, VALIDATED_BY, VALIDATED_AT, METADATA, SYMPTOM, ANALYSIS, FIX
) VALUES (
  :tenant_id, :collection, :title, :visibility, :owner_id, :validated_by,
  CASE WHEN :validated_by IS NOT NULL
       THEN COALESCE(CAST(:validated_at AS TIMESTAMP), SYS_EXTRACT_UTC(SYSTIMESTAMP)) END,
  :metadata, :symptom, :analysis, :fix
) RETURNING RESOLUTION_ID INTO :resolution_id

-- name: replace
UPDATE /*schema*/RAG_RESOLUTION
SET COLLECTION = :collection, TITLE = :title, VISIBILITY = :visibility, OWNER_ID = :owner_id,
    VALIDATED_BY = :validated_by,
    VALIDATED_AT = CASE WHEN :validated_by IS NOT NULL
                        THEN COALESCE(CAST(:validated_at AS TIMESTAMP), SYS_EXTRACT_UTC(SYSTIMESTAMP)) END,
    UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP), METADATA = :metadata, SYMPTOM = :symptom, ANALYSIS = :analysis,
    FIX = :fix
WHERE RESOLUTION_ID = :resolution_id AND TENANT_ID = :tenant_id

-- name: validate
UPDATE /*schema*/RAG_RESOLUTION
SET VALIDATED_BY = :validated_by,
    VALIDATED_AT = COALESCE(CAST(:validated_at AS TIMESTAMP), SYS_EXTRACT_UTC(SYSTIMESTAMP)),
    UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE RESOLUTION_ID = :resolution_id AND RESOLUTION_ID IN (/*seen*/SEEN)

-- name: remove
DELETE FROM /*schema*/RAG_RESOLUTION WHERE RESOLUTION_ID = :resolution_id AND RESOLUTION_ID IN (/*seen*/SEEN)

-- name: get
SELECT r.RESOLUTION_ID, r.TENANT_ID, r.COLLECTION, r.TITLE, r.VISIBILITY, r.OWNER_ID, r.VALIDATED_BY, r.VALIDATED_AT,
  r.RECORDED_AT, r.METADATA, r.SYMPTOM, r.ANALYSIS, r.FIX
FROM /*schema*/RAG_RESOLUTION r
WHERE r.RESOLUTION_ID = :resolution_id AND r.RESOLUTION_ID IN (/*seen*/SEEN)

-- name: list
-- The youngest first; what is validated, what is not, or both.
SELECT r.RESOLUTION_ID, r.TENANT_ID, r.COLLECTION, r.TITLE, r.VISIBILITY, r.OWNER_ID, r.VALIDATED_BY, r.VALIDATED_AT,
  r.RECORDED_AT, r.METADATA, r.SYMPTOM, r.ANALYSIS, r.FIX
FROM /*schema*/RAG_RESOLUTION r
WHERE r.RESOLUTION_ID IN (/*seen*/SEEN)
  AND (:validated = 2 OR :validated = CASE WHEN r.VALIDATED_BY IS NULL THEN 0 ELSE 1 END)
ORDER BY r.RESOLUTION_ID DESC
FETCH FIRST :how_many ROWS ONLY
