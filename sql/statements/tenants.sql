-- What an installation holds of a tenant. OWN_TABLE and KEY are a table of the toolkit and its key, WHICH is a condition on
-- an entity e, ENUMERATION a source's own query over all its entities. '-' in the queue stands for no tenant named.

-- name: summaries
-- One pass over every table that says whose its rows are.
SELECT t.TENANT_ID, SUM(t.ENTITIES) AS ENTITIES, SUM(t.CHUNKS) AS CHUNKS, SUM(t.FILES) AS FILES,
       SUM(t.RESOLUTIONS) AS RESOLUTIONS, SUM(t.WAITING) AS WAITING, SUM(t.DEAD) AS DEAD, SUM(t.SEARCHES) AS SEARCHES
FROM (
  SELECT e.TENANT_ID, COUNT(CASE WHEN e.CHUNKS > 0 THEN 1 END) AS ENTITIES, 0 AS CHUNKS, 0 AS FILES, 0 AS RESOLUTIONS,
         0 AS WAITING, 0 AS DEAD, 0 AS SEARCHES
  FROM /*schema*/RAG_ENTITY e WHERE e.TENANT_ID IS NOT NULL GROUP BY e.TENANT_ID
  UNION ALL
  SELECT c.TENANT_ID, 0, COUNT(*), 0, 0, 0, 0, 0
  FROM /*schema*/RAG_CHUNK c WHERE c.CHUNK_NO >= 0 GROUP BY c.TENANT_ID
  UNION ALL
  SELECT f.TENANT_ID, 0, 0, COUNT(*), 0, 0, 0, 0 FROM /*schema*/RAG_FILE f GROUP BY f.TENANT_ID
  UNION ALL
  SELECT r.TENANT_ID, 0, 0, 0, COUNT(*), 0, 0, 0 FROM /*schema*/RAG_RESOLUTION r GROUP BY r.TENANT_ID
  UNION ALL
  SELECT d.TENANT_ID, 0, 0, 0, 0, COUNT(CASE WHEN d.STATE = 'READY' THEN 1 END),
         COUNT(CASE WHEN d.STATE = 'DEAD' THEN 1 END), 0
  FROM /*schema*/RAG_DIRTY d GROUP BY d.TENANT_ID
  UNION ALL
  SELECT s.TENANT_ID, 0, 0, 0, 0, 0, 0, COUNT(*) FROM /*schema*/RAG_SEARCH s GROUP BY s.TENANT_ID
) t
GROUP BY t.TENANT_ID
ORDER BY t.TENANT_ID

-- name: summary
-- The same of one tenant. 'a' <> 'A', as in a scope: in a session that takes them for equal it would be others' too.
SELECT (SELECT COUNT(*) FROM /*schema*/RAG_ENTITY e
          WHERE e.TENANT_ID = :tenant_id AND e.CHUNKS > 0 AND 'a' <> 'A') AS ENTITIES,
       (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c
          WHERE c.TENANT_ID = :tenant_id AND c.CHUNK_NO >= 0 AND 'a' <> 'A') AS CHUNKS,
       (SELECT COUNT(*) FROM /*schema*/RAG_FILE f WHERE f.TENANT_ID = :tenant_id AND 'a' <> 'A') AS FILES,
       (SELECT COUNT(*) FROM /*schema*/RAG_RESOLUTION r WHERE r.TENANT_ID = :tenant_id AND 'a' <> 'A') AS RESOLUTIONS,
       (SELECT COUNT(*) FROM /*schema*/RAG_DIRTY d
          WHERE d.TENANT_ID IN (:tenant_id, :queue_tenant) AND d.STATE = 'READY' AND 'a' <> 'A') AS WAITING,
       (SELECT COUNT(*) FROM /*schema*/RAG_DIRTY d
          WHERE d.TENANT_ID IN (:tenant_id, :queue_tenant) AND d.STATE = 'DEAD' AND 'a' <> 'A') AS DEAD,
       (SELECT COUNT(*) FROM /*schema*/RAG_SEARCH s WHERE s.TENANT_ID = :tenant_id AND 'a' <> 'A') AS SEARCHES
FROM dual

-- name: isolation
-- Under another tenant than their entity: chunks, documents. And what nobody sees.
SELECT (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c JOIN /*schema*/RAG_ENTITY e ON e.ENTITY_ID = c.ENTITY_ID
          WHERE (c.TENANT_ID = :tenant_id OR e.TENANT_ID = :tenant_id) AND c.TENANT_ID <> e.TENANT_ID
            AND c.CHUNK_NO >= 0) AS CHUNKS,
       (SELECT COUNT(*) FROM /*schema*/RAG_DOCUMENT d JOIN /*schema*/RAG_ENTITY e ON e.ENTITY_ID = d.ENTITY_ID
          WHERE (d.TENANT_ID = :tenant_id OR e.TENANT_ID = :tenant_id) AND d.TENANT_ID <> e.TENANT_ID) AS DOCUMENTS,
       (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c
          WHERE c.TENANT_ID = :tenant_id AND c.VISIBILITY = 'HIDDEN' AND c.CHUNK_NO >= 0) AS HIDDEN
FROM dual

-- name: a_chunk
-- One to ask for; which of them does not matter, but the same one every time.
SELECT c.SOURCE_TYPE, c.SOURCE_ID, c.CONTENT FROM /*schema*/RAG_CHUNK c
WHERE c.TENANT_ID = :tenant_id AND c.CHUNK_NO = 0 AND c.VISIBILITY <> 'HIDDEN' AND 'a' <> 'A'
ORDER BY c.CHUNK_ID FETCH FIRST 1 ROW ONLY

-- name: others
SELECT o.TENANT_ID FROM (SELECT DISTINCT c.TENANT_ID FROM /*schema*/RAG_CHUNK c WHERE c.TENANT_ID <> :tenant_id) o
ORDER BY ORA_HASH(o.TENANT_ID, 4294967295, :seed), o.TENANT_ID
FETCH FIRST :how_many ROWS ONLY

-- name: columns
SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE FROM ALL_TAB_COLUMNS
WHERE OWNER = :owner AND TABLE_NAME LIKE 'RAG\_%' ESCAPE '\'
ORDER BY TABLE_NAME, COLUMN_ID

-- name: moment
-- All tables as they are at one moment, however long it takes.
SET TRANSACTION READ ONLY

-- name: now
SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) FROM dual

-- name: next_rows
-- The last key of the next slice of a table; NULL where there is none.
SELECT MAX(s.ROW_KEY) FROM (
  SELECT t./*key*/FILE_ID AS ROW_KEY FROM /*own_table*/RAG_FILE t
  WHERE t./*key*/FILE_ID > :after_id AND t.TENANT_ID = :tenant_id AND 'a' <> 'A'
  ORDER BY t./*key*/FILE_ID FETCH FIRST :how_many ROWS ONLY
) s

-- name: delete_of_table
DELETE FROM /*own_table*/RAG_FILE
WHERE /*key*/FILE_ID > :after_id AND /*key*/FILE_ID <= :last_id AND TENANT_ID = :tenant_id AND 'a' <> 'A'

-- name: delete_usage
DELETE FROM /*schema*/RAG_USAGE WHERE TENANT_ID = :tenant_id AND 'a' <> 'A'

-- name: count_of_table
SELECT COUNT(*) FROM /*own_table*/RAG_FILE t WHERE t.TENANT_ID = :tenant_id AND 'a' <> 'A'

-- name: count_entities
SELECT COUNT(*) FROM /*schema*/RAG_ENTITY e WHERE /*which*/WHICH

-- name: count_rows
SELECT COUNT(*) FROM /*schema*/RAG_DIRTY d WHERE d.TENANT_ID IN (:tenant_id, :queue_tenant) AND 'a' <> 'A'

-- name: next_entities
SELECT e.ENTITY_ID FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID > :after_id AND /*which*/WHICH
ORDER BY e.ENTITY_ID FETCH FIRST :how_many ROWS ONLY

-- name: lock_entities
-- What a worker holds, or has locked for a moment, does not come back; until the commit nobody takes a ticket for what
-- does.
SELECT e.ENTITY_ID, e.SOURCE_TYPE, e.SOURCE_ID FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID IN (/*ids*/IDS) AND (e.HOLDER IS NULL OR e.HELD_UNTIL < SYS_EXTRACT_UTC(SYSTIMESTAMP))
  AND /*which*/WHICH
ORDER BY e.ENTITY_ID
FOR UPDATE SKIP LOCKED

-- name: rows_of_entities
-- Rows that are deleted are those seen here: what a later one announces is not read by what follows.
SELECT d.DIRTY_ID FROM /*schema*/RAG_ENTITY e
JOIN /*schema*/RAG_DIRTY d ON d.SOURCE_TYPE = e.SOURCE_TYPE AND d.SOURCE_ID = e.SOURCE_ID
WHERE e.ENTITY_ID IN (/*ids*/IDS)

-- name: rows_alone
-- Of entities that no worker has ever met. No row limit in SQL (ORA-02014): rows are locked as they are fetched.
SELECT d.DIRTY_ID, d.SOURCE_TYPE, d.SOURCE_ID FROM /*schema*/RAG_DIRTY d
WHERE d.DIRTY_ID > :after_id AND d.TENANT_ID IN (:tenant_id, :queue_tenant) AND 'a' <> 'A'
  AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_ENTITY e
                  WHERE e.SOURCE_TYPE = d.SOURCE_TYPE AND e.SOURCE_ID = d.SOURCE_ID)
ORDER BY d.DIRTY_ID
FOR UPDATE SKIP LOCKED

-- name: in_source
-- Read after the rows were seen: what they announced was committed before.
SELECT s.SOURCE_ID, s.TENANT_ID FROM (/*enumeration*/ENUMERATION) s WHERE s.SOURCE_ID IN (/*ids*/IDS)

-- name: still_in_source
SELECT COUNT(*) FROM (/*enumeration*/ENUMERATION) s WHERE s.TENANT_ID = :tenant_id AND 'a' <> 'A'

-- name: anything_in_source
SELECT COUNT(*) FROM (/*enumeration*/ENUMERATION) s

-- name: announce
INSERT INTO /*schema*/RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION)
SELECT 1, :tenant_id, :source_type, :source_id, 'UPSERT' FROM dual

-- name: delete_rows
DELETE FROM /*schema*/RAG_DIRTY WHERE DIRTY_ID IN (/*ids*/IDS)

-- name: clear_texts
UPDATE /*schema*/RAG_SEARCH_TEXT SET PROMPT = NULL, ANSWER = NULL
WHERE SEARCH_ID IN (SELECT h.SEARCH_ID FROM /*schema*/RAG_ENTITY e
                    JOIN /*schema*/RAG_SEARCH_HIT h ON h.SOURCE_TYPE = e.SOURCE_TYPE AND h.SOURCE_ID = e.SOURCE_ID
                    WHERE e.ENTITY_ID IN (/*ids*/IDS))
  AND (PROMPT IS NOT NULL OR ANSWER IS NOT NULL)

-- name: delete_chunks
DELETE FROM /*schema*/RAG_CHUNK WHERE ENTITY_ID IN (/*ids*/IDS)

-- name: delete_documents
DELETE FROM /*schema*/RAG_DOCUMENT WHERE ENTITY_ID IN (/*ids*/IDS)

-- name: delete_entities
DELETE FROM /*schema*/RAG_ENTITY WHERE ENTITY_ID IN (/*ids*/IDS)
