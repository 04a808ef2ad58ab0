-- What tenants have sent to providers for embedding. Days are those of UTC, by the database's clock.

-- name: spent
-- The tokens of a tenant today, and how many seconds are left of it.
SELECT (SELECT SUM(u.TOKENS) FROM /*schema*/RAG_USAGE u
         WHERE u.TENANT_ID = :tenant_id AND u.USAGE_DAY = TRUNC(SYS_EXTRACT_UTC(SYSTIMESTAMP))) AS TOKENS,
       86400 - ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - TRUNC(SYS_EXTRACT_UTC(SYSTIMESTAMP))) * 86400) AS LEFT_OF_DAY
FROM dual

-- name: add
UPDATE /*schema*/RAG_USAGE SET TOKENS = TOKENS + :tokens, REQUESTS = REQUESTS + :requests
WHERE TENANT_ID = :tenant_id AND USAGE_DAY = TRUNC(SYS_EXTRACT_UTC(SYSTIMESTAMP)) AND PHYSICAL_NAME = :physical_name

-- name: begin
INSERT INTO /*schema*/RAG_USAGE (TENANT_ID, USAGE_DAY, PHYSICAL_NAME, TOKENS, REQUESTS)
VALUES (:tenant_id, TRUNC(SYS_EXTRACT_UTC(SYSTIMESTAMP)), :physical_name, :tokens, :requests)
