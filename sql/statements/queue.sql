-- The queue as people see it, and what they do with it. FILTER is a condition on a row d, ENTITIES one on an
-- entity e, made of what was asked for. Slices go along the key, which is all that DIRTY_ID and ENTITY_ID are compared
-- for.

-- name: backlog
-- One pass over the queue. Failing: so often or more. Expired: claimed longer than the lease. Postponed: free, not due;
-- unpaid: so until the next day.
SELECT SOURCE_TYPE, TENANT_ID, LANE, STATE, COUNT(*) AS HOW_MANY, COUNT(CLAIM) AS CLAIMED,
       COUNT(CASE WHEN CLAIM IS NOT NULL AND AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
       COUNT(CASE WHEN STATE = 'READY' AND ATTEMPTS >= :failing THEN 1 END) AS FAILING,
       COUNT(CASE WHEN STATE = 'READY' AND CLAIM IS NULL AND AVAILABLE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP)
                  THEN 1 END) AS POSTPONED,
       MIN(CASE WHEN STATE = 'READY' AND CLAIM IS NULL AND AVAILABLE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP)
                THEN AVAILABLE_AT END) AS DUE,
       MIN(ENQUEUED_AT) AS OLDEST,
       COUNT(CASE WHEN STATE = 'READY' AND CLAIM IS NULL AND AVAILABLE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP)
                   AND ERROR_CODE = 'EMBEDDING_BUDGET_SPENT' THEN 1 END) AS UNPAID
FROM /*schema*/RAG_DIRTY
GROUP BY SOURCE_TYPE, TENANT_ID, LANE, STATE

-- name: glance
-- As backlog, over all tenants, and with the time by which ages are told.
SELECT q.SOURCE_TYPE, q.LANE, q.STATE, q.HOW_MANY, q.CLAIMED, q.EXPIRED, q.FAILING, q.POSTPONED, q.OLDEST, n.NOW_UTC
FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) AS NOW_UTC FROM dual) n
CROSS JOIN (
  SELECT SOURCE_TYPE, LANE, STATE, COUNT(*) AS HOW_MANY, COUNT(CLAIM) AS CLAIMED,
         COUNT(CASE WHEN CLAIM IS NOT NULL AND AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
         COUNT(CASE WHEN STATE = 'READY' AND ATTEMPTS >= :failing THEN 1 END) AS FAILING,
         COUNT(CASE WHEN STATE = 'READY' AND CLAIM IS NULL AND AVAILABLE_AT > SYS_EXTRACT_UTC(SYSTIMESTAMP)
                    THEN 1 END) AS POSTPONED,
         MIN(ENQUEUED_AT) AS OLDEST
  FROM /*schema*/RAG_DIRTY
  GROUP BY SOURCE_TYPE, LANE, STATE
) q

-- name: entities
-- One pass over the entities, which are narrow rows: tickets, and what was settled lately.
SELECT n.NOW_UTC, e.HELD, e.EXPIRED, e.SETTLED
FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) AS NOW_UTC FROM dual) n
CROSS JOIN (
  SELECT COUNT(HOLDER) AS HELD,
         COUNT(CASE WHEN HOLDER IS NOT NULL AND HELD_UNTIL < SYS_EXTRACT_UTC(SYSTIMESTAMP) THEN 1 END) AS EXPIRED,
         COUNT(CASE WHEN INDEXED_AT >= SYS_EXTRACT_UTC(SYSTIMESTAMP) - NUMTODSINTERVAL(:window, 'SECOND')
                    THEN 1 END) AS SETTLED
  FROM /*schema*/RAG_ENTITY
) e

-- name: hidden
-- Whatever hides chunks forgets DETAILS_HASH too, until the entity is written again: chunks of few entities are looked up,
-- RAG_CHUNK is not read. Staged chunks, which are not seen yet, have negative numbers.
SELECT COUNT(*) FROM /*schema*/RAG_ENTITY e
WHERE e.DETAILS_HASH IS NULL AND e.CHUNKS > 0
  AND EXISTS (SELECT 1 FROM /*schema*/RAG_CHUNK c
              WHERE c.ENTITY_ID = e.ENTITY_ID AND c.CHUNK_NO >= 0 AND c.VISIBILITY = 'HIDDEN')

-- name: paused
SELECT SCOPE_NAME, SETTING_VALUE, UPDATED_AT FROM /*schema*/RAG_SETTING
WHERE SETTING = 'paused' AND SETTING_VALUE IS NOT NULL
ORDER BY SCOPE_NAME

-- name: rows
SELECT d.DIRTY_ID, d.SOURCE_TYPE, d.SOURCE_ID, d.TENANT_ID, d.ACTION, d.STATE, d.LANE, d.ENQUEUED_AT, d.AVAILABLE_AT,
       d.CLAIM, d.ATTEMPTS, d.CRASHES, d.ERROR_CODE, d.LAST_ERROR
FROM /*schema*/RAG_DIRTY d
WHERE /*filter*/FILTER
ORDER BY d.ENQUEUED_AT, d.DIRTY_ID
FETCH FIRST :how_many ROWS ONLY

-- name: errors
-- One pass over the queue; the example is looked up by its key.
SELECT g.CODE, g.STATE, g.HOW_MANY, g.ENTITIES, g.OLDEST, g.DUE, x.SOURCE_TYPE, x.SOURCE_ID, x.TENANT_ID, x.LAST_ERROR
FROM (
  SELECT NVL(d.ERROR_CODE, 'UNKNOWN') AS CODE, d.STATE, COUNT(*) AS HOW_MANY,
         COUNT(DISTINCT d.SOURCE_TYPE || ':' || d.SOURCE_ID) AS ENTITIES, MIN(d.ENQUEUED_AT) AS OLDEST,
         MIN(CASE WHEN d.STATE = 'READY' AND d.CLAIM IS NULL THEN d.AVAILABLE_AT END) AS DUE,
         MAX(d.DIRTY_ID) AS EXAMPLE
  FROM /*schema*/RAG_DIRTY d
  WHERE (d.STATE = 'DEAD' OR d.ERROR_CODE IS NOT NULL) AND /*filter*/FILTER
  GROUP BY NVL(d.ERROR_CODE, 'UNKNOWN'), d.STATE
) g
JOIN /*schema*/RAG_DIRTY x ON x.DIRTY_ID = g.EXAMPLE
ORDER BY g.HOW_MANY DESC, g.CODE, g.STATE
FETCH FIRST :how_many ROWS ONLY

-- name: codes
SELECT DISTINCT NVL(d.ERROR_CODE, 'UNKNOWN') AS CODE FROM /*schema*/RAG_DIRTY d
WHERE d.STATE = 'DEAD' OR d.ERROR_CODE IS NOT NULL
ORDER BY CODE

-- name: count
SELECT COUNT(*) FROM /*schema*/RAG_DIRTY d WHERE /*filter*/FILTER

-- name: next_slice
-- The last key of the next slice; NULL where there is none.
SELECT MAX(s.DIRTY_ID) FROM (
  SELECT d.DIRTY_ID FROM /*schema*/RAG_DIRTY d
  WHERE d.DIRTY_ID > :after_id AND /*filter*/FILTER
  ORDER BY d.DIRTY_ID FETCH FIRST :how_many ROWS ONLY
) s

-- name: retry
-- Begin anew: as if it had never failed, but still known for what went wrong and since when it waits. The filter says
-- which state, and that it is free: a claimed row is left to its worker.
UPDATE /*schema*/RAG_DIRTY d
SET STATE = 'READY', CLAIM = NULL, ATTEMPTS = 0, CRASHES = 0, AVAILABLE_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE d.DIRTY_ID > :after_id AND d.DIRTY_ID <= :last_id AND /*filter*/FILTER

-- name: purge
DELETE FROM /*schema*/RAG_DIRTY d
WHERE d.DIRTY_ID > :after_id AND d.DIRTY_ID <= :last_id AND /*filter*/FILTER

-- name: count_gone
-- An entity that is there without text has a fingerprint; one that a worker is at has a holder.
SELECT COUNT(*) FROM /*schema*/RAG_ENTITY e
WHERE e.CHUNKS = 0 AND e.FINGERPRINT IS NULL AND e.HOLDER IS NULL AND /*entities*/ENTITIES
  AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = e.SOURCE_TYPE AND d.SOURCE_ID = e.SOURCE_ID)

-- name: next_slice_of_gone
SELECT MAX(s.ENTITY_ID) FROM (
  SELECT e.ENTITY_ID FROM /*schema*/RAG_ENTITY e
  WHERE e.ENTITY_ID > :after_id
    AND e.CHUNKS = 0 AND e.FINGERPRINT IS NULL AND e.HOLDER IS NULL AND /*entities*/ENTITIES
    AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                    WHERE d.SOURCE_TYPE = e.SOURCE_TYPE AND d.SOURCE_ID = e.SOURCE_ID)
  ORDER BY e.ENTITY_ID FETCH FIRST :how_many ROWS ONLY
) s

-- name: purge_gone
DELETE FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID > :after_id AND e.ENTITY_ID <= :last_id
  AND e.CHUNKS = 0 AND e.FINGERPRINT IS NULL AND e.HOLDER IS NULL AND /*entities*/ENTITIES
  AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_DIRTY d
                  WHERE d.SOURCE_TYPE = e.SOURCE_TYPE AND d.SOURCE_ID = e.SOURCE_ID)

-- name: coalesce_index
-- Online: neither claims nor enqueues wait. Half-empty blocks that lie side by side become one.
ALTER INDEX /*schema*/RAG_DIRTY_PICK_IDX COALESCE

-- name: coalesce_source_index
ALTER INDEX /*schema*/RAG_DIRTY_SRC_IDX COALESCE

-- name: coalesce_key
ALTER INDEX /*schema*/RAG_DIRTY_PK COALESCE

-- name: move_rows
-- Rows move to the front, a few at a time, as DELETE and INSERT would; the table has ROW MOVEMENT for it (ORA-10636).
ALTER TABLE /*schema*/RAG_DIRTY SHRINK SPACE COMPACT

-- name: try_to_lock
-- Giving space back locks the whole table for a moment, and everybody waits behind who waits for it.
LOCK TABLE /*schema*/RAG_DIRTY IN EXCLUSIVE MODE NOWAIT

-- name: give_space_back
ALTER TABLE /*schema*/RAG_DIRTY SHRINK SPACE
