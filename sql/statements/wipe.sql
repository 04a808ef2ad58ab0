-- What is made from the sources is taken away, a slice of entities at a time. WHICH is a condition on an entity e.

-- name: count
-- What there is to take away, by source; held: by workers, for the moment.
SELECT w.SOURCE_TYPE, COUNT(*) AS ENTITIES, SUM(w.DOCUMENTS) AS DOCUMENTS, SUM(w.CHUNKS) AS CHUNKS, SUM(w.HELD) AS HELD
FROM (
  SELECT e.SOURCE_TYPE,
         (SELECT COUNT(*) FROM /*schema*/RAG_DOCUMENT d WHERE d.ENTITY_ID = e.ENTITY_ID) AS DOCUMENTS,
         (SELECT COUNT(*) FROM /*schema*/RAG_CHUNK c WHERE c.ENTITY_ID = e.ENTITY_ID) AS CHUNKS,
         CASE WHEN e.HOLDER IS NOT NULL AND e.HELD_UNTIL >= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 ELSE 0 END AS HELD
  FROM /*schema*/RAG_ENTITY e
  WHERE /*which*/WHICH
) w
GROUP BY w.SOURCE_TYPE
ORDER BY w.SOURCE_TYPE

-- name: next_slice
SELECT e.ENTITY_ID FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID > :after_id AND /*which*/WHICH
ORDER BY e.ENTITY_ID FETCH FIRST :how_many ROWS ONLY

-- name: left
SELECT e.ENTITY_ID FROM /*schema*/RAG_ENTITY e WHERE e.ENTITY_ID IN (/*ids*/IDS) AND /*which*/WHICH

-- name: lock
-- What a worker holds, or has locked for a moment, does not come back; until the commit nobody takes a ticket for what
-- does.
SELECT e.ENTITY_ID FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID IN (/*ids*/IDS) AND (e.HOLDER IS NULL OR e.HELD_UNTIL < SYS_EXTRACT_UTC(SYSTIMESTAMP))
  AND /*which*/WHICH
ORDER BY e.ENTITY_ID
FOR UPDATE SKIP LOCKED

-- name: announce
-- In the same transaction and behind the lock: announced before, it could be worked off before it is gone.
INSERT INTO /*schema*/RAG_DIRTY (LANE, TENANT_ID, SOURCE_TYPE, SOURCE_ID, ACTION)
SELECT 1, COALESCE(e.TENANT_ID, (SELECT MIN(c.TENANT_ID) FROM /*schema*/RAG_CHUNK c WHERE c.ENTITY_ID = e.ENTITY_ID)),
       e.SOURCE_TYPE, e.SOURCE_ID, 'UPSERT'
FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID IN (/*ids*/IDS)
  AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = e.SOURCE_TYPE AND d.SOURCE_ID = e.SOURCE_ID
                    AND d.STATE = 'READY' AND d.CLAIM IS NULL)

-- name: clear_texts
-- An entity that is gone from its source meanwhile is never seen to go: what quotes it goes now.
UPDATE /*schema*/RAG_SEARCH_TEXT SET PROMPT = NULL, ANSWER = NULL
WHERE SEARCH_ID IN (SELECT h.SEARCH_ID FROM /*schema*/RAG_ENTITY e
                    JOIN /*schema*/RAG_SEARCH_HIT h ON h.SOURCE_TYPE = e.SOURCE_TYPE AND h.SOURCE_ID = e.SOURCE_ID
                    WHERE e.ENTITY_ID IN (/*ids*/IDS))
  AND (PROMPT IS NOT NULL OR ANSWER IS NOT NULL)

-- name: delete_chunks
DELETE FROM /*schema*/RAG_CHUNK WHERE ENTITY_ID IN (/*ids*/IDS)

-- name: delete_documents
DELETE FROM /*schema*/RAG_DOCUMENT WHERE ENTITY_ID IN (/*ids*/IDS)

-- name: forget
-- Missing, as if it had never been indexed; whose it is stays known. A ticket here is one whose lease is over.
UPDATE /*schema*/RAG_ENTITY
SET FINGERPRINT = NULL, CONTENT_HASH = NULL, DETAILS_HASH = NULL, CHUNKS = 0, INDEXED_AT = NULL, HOLDER = NULL,
    HELD_UNTIL = NULL
WHERE ENTITY_ID IN (/*ids*/IDS)
