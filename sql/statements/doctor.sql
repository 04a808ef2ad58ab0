-- What doctor asks beside what other stages know. Everything is read; nothing waits for a lock.

-- name: protocol
SELECT SYS_CONTEXT('USERENV', 'NETWORK_PROTOCOL') FROM dual

-- name: now
SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM dual

-- name: banner
SELECT BANNER_FULL FROM V$VERSION

-- name: cloud_service
-- NULL but on an Autonomous Database.
SELECT SYS_CONTEXT('USERENV', 'CLOUD_SERVICE') FROM dual

-- name: character_set
SELECT VALUE FROM NLS_DATABASE_PARAMETERS WHERE PARAMETER = 'NLS_CHARACTERSET'

-- name: string_size
-- RPAD gives no more than a VARCHAR2 holds: 4,000 bytes with MAX_STRING_SIZE = STANDARD.
SELECT LENGTHB(RPAD('x', 4001, 'x')) FROM dual

-- name: session_user
SELECT SYS_CONTEXT('USERENV', 'SESSION_USER') FROM dual

-- name: system_privileges
SELECT p.PRIVILEGE FROM SESSION_PRIVS p

-- name: schema_privileges
-- Of those on a schema, which there are since 23ai.
SELECT p.PRIVILEGE FROM SESSION_SCHEMA_PRIVS p WHERE p.SCHEMA = :owner

-- name: table_privileges
-- Granted to the user, to a role of the session, or to everybody; or by the user, who must have it for that.
SELECT p.TABLE_NAME, p.PRIVILEGE FROM ALL_TAB_PRIVS p
WHERE p.TABLE_SCHEMA = :owner

-- name: column_privileges
SELECT p.TABLE_NAME, p.PRIVILEGE, p.COLUMN_NAME FROM ALL_COL_PRIVS p
WHERE p.TABLE_SCHEMA = :owner

-- name: searches
SELECT COUNT(*) AS QUESTIONS, MIN(s.ASKED_AT) AS OLDEST, MAX(SYS_EXTRACT_UTC(SYSTIMESTAMP)) AS NOW_UTC
FROM /*schema*/RAG_SEARCH s

-- name: model
-- MODEL_SIZE is in what the release counts in.
SELECT m.MODEL_NAME, m.MODEL_SIZE FROM ALL_MINING_MODELS m
WHERE m.OWNER = :owner AND m.MODEL_NAME = :physical_name

-- name: model_age
-- How much later, in days, the model was created than it was recorded; ages, since CREATION_DATE has no time zone.
SELECT (CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(r.LOADED_AT AS DATE)) - (SYSDATE - m.CREATION_DATE) AS LATER
FROM ALL_MINING_MODELS m
JOIN /*schema*/RAG_MODEL r ON r.PHYSICAL_NAME = m.MODEL_NAME
WHERE m.OWNER = :owner AND m.MODEL_NAME = :physical_name

-- name: embed
SELECT VECTOR_EMBEDDING(/*model*/MODEL USING :text AS DATA) FROM dual

-- name: column
-- Described, not fetched: the driver is told the dimension of the column.
SELECT /*column*/EMBEDDING FROM /*schema*/RAG_CHUNK WHERE 1 = 0

-- name: second_model
-- Of a switch of models: the second one, its state, and since how many days.
SELECT s.SETTING, s.SETTING_VALUE,
       CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(s.UPDATED_AT AS DATE) AS DAYS
FROM /*schema*/RAG_SETTING s
WHERE s.SCOPE_NAME = '*' AND s.SETTING IN ('second_model', 'second_state') AND s.SETTING_VALUE IS NOT NULL

-- name: vector_info
SELECT a.VECTOR_INFO FROM ALL_MINING_MODEL_ATTRIBUTES a
WHERE a.OWNER = :owner AND a.MODEL_NAME = :physical_name AND a.ATTRIBUTE_NAME = 'ORA$ONNXTARGET'

-- name: vector_pool
-- What is allocated of the pool in this container.
SELECT SUM(p.ALLOC_BYTES) FROM V$VECTOR_MEMORY_POOL p
WHERE p.CON_ID IN (0, TO_NUMBER(SYS_CONTEXT('USERENV', 'CON_ID')))

-- name: vector_parameter
SELECT TO_NUMBER(p.VALUE) FROM V$PARAMETER p WHERE p.NAME = 'vector_memory_size'

-- name: orphans
-- One pass over the chunks, one over the entities. What a long document keeps out of sight has negative numbers.
SELECT NVL(SUM(CASE WHEN e.ENTITY_ID IS NULL THEN n.ROWS_THERE END), 0) AS CHUNKS,
       COUNT(CASE WHEN e.ENTITY_ID IS NOT NULL AND e.CHUNKS <> NVL(n.HOW_MANY, 0) THEN 1 END) AS INCOMPLETE,
       NVL(SUM(n.BARE), 0) AS BARE
FROM (
  SELECT c.ENTITY_ID, COUNT(*) AS ROWS_THERE, COUNT(CASE WHEN c.CHUNK_NO >= 0 THEN 1 END) AS HOW_MANY,
         COUNT(CASE WHEN c.CHUNK_NO >= 0 AND c./*column*/EMBEDDING IS NULL THEN 1 END) AS BARE
  FROM /*schema*/RAG_CHUNK c
  GROUP BY c.ENTITY_ID
) n
FULL OUTER JOIN /*schema*/RAG_ENTITY e ON e.ENTITY_ID = n.ENTITY_ID

-- name: orphaned_documents
SELECT COUNT(*) FROM /*schema*/RAG_DOCUMENT d
WHERE NOT EXISTS (SELECT 1 FROM /*schema*/RAG_ENTITY e WHERE e.ENTITY_ID = d.ENTITY_ID)

-- name: indexed_sources
SELECT e.SOURCE_TYPE, COUNT(*) AS ENTITIES FROM /*schema*/RAG_ENTITY e
WHERE e.CHUNKS > 0
GROUP BY e.SOURCE_TYPE
ORDER BY e.SOURCE_TYPE

-- name: coverage
-- ENUMERATION is a source's own query over all its entities. An entity with an empty text has a fingerprint.
SELECT COUNT(*) AS ENTITIES, COUNT(CASE WHEN q.FINGERPRINT IS NULL THEN 1 END) AS MISSING,
       COUNT(CASE WHEN q.FINGERPRINT IS NULL AND q.WAITS = 1 THEN 1 END) AS WAITING
FROM (
  SELECT e.FINGERPRINT,
         CASE WHEN e.FINGERPRINT IS NULL
               AND EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                            WHERE d.SOURCE_TYPE = :source_type AND d.SOURCE_ID = s.SOURCE_ID AND d.STATE = 'READY')
              THEN 1 ELSE 0 END AS WAITS
  FROM (/*enumeration*/ENUMERATION) s
  LEFT JOIN /*schema*/RAG_ENTITY e ON e.SOURCE_TYPE = :source_type AND e.SOURCE_ID = s.SOURCE_ID
  WHERE s.SOURCE_ID IS NOT NULL
) q

-- name: chunks
SELECT COUNT(*) FROM /*schema*/RAG_CHUNK

-- name: plan
SELECT PLAN_TABLE_OUTPUT FROM TABLE(DBMS_XPLAN.DISPLAY)

-- name: length
SELECT LENGTHB(:text) FROM dual

-- name: fill
-- The table of a probe, which it makes and drops.
INSERT INTO /*scratch*/SCRATCH (ID, EMBEDDING) VALUES (:id, :vector)

-- name: fill_ids
INSERT INTO /*scratch*/SCRATCH (ID) VALUES (:id)

-- name: fill_text
INSERT INTO /*scratch*/SCRATCH (ID, CONTENT) VALUES (:id, :text)

-- name: lock_in_order
SELECT ID FROM /*scratch*/SCRATCH WHERE ID >= :first ORDER BY ID FOR UPDATE SKIP LOCKED

-- name: nearest_bound
SELECT ID FROM /*scratch*/SCRATCH
ORDER BY VECTOR_DISTANCE(EMBEDDING, :question_vector, COSINE)
FETCH EXACT FIRST 5 ROWS ONLY

-- name: nearest_inline
SELECT ID FROM /*scratch*/SCRATCH
ORDER BY VECTOR_DISTANCE(EMBEDDING, VECTOR_EMBEDDING(/*model*/MODEL USING :text AS DATA), COSINE)
FETCH EXACT FIRST 5 ROWS ONLY

-- name: nearest_subquery
SELECT ID FROM /*scratch*/SCRATCH
ORDER BY VECTOR_DISTANCE(EMBEDDING, (SELECT VECTOR_EMBEDDING(/*model*/MODEL USING :text AS DATA) FROM dual), COSINE)
FETCH EXACT FIRST 5 ROWS ONLY

-- name: nearest_approximate
SELECT ID FROM /*scratch*/SCRATCH
ORDER BY VECTOR_DISTANCE(EMBEDDING, VECTOR_EMBEDDING(/*model*/MODEL USING :text AS DATA), COSINE)
FETCH APPROX FIRST 5 ROWS ONLY
