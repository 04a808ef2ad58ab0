-- The queue's protocol: claim, ticket, settle, give back, postpone. All times are the database's, in UTC.
-- Statements of the queue name their index to Oracle: statistics that were gathered while it was empty make a full scan
-- look cheap, and that reads as far as the longest backlog has ever reached.

-- name: next_tenants
-- An idle poll is one plain query: of one source the tenant whose turn it is, per lane, and the first one to begin
-- again with; UNION ALL puts the sources together. Source by source, because that is the index's order: the backlog of a
-- source that is left alone is not read past. The first row in that order, not MIN, which would read the whole backlog.
SELECT /*source*/SOURCE AS SOURCE_TYPE,
       (SELECT /*+ INDEX_ASC(a RAG_DIRTY_PICK_IDX) */ a.TENANT_ID FROM /*schema*/RAG_DIRTY a
          WHERE a.STATE = 'READY' AND a.LANE = 0 AND a.SOURCE_TYPE = /*source*/SOURCE AND a.TENANT_ID > :last_change
          AND a.AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
          ORDER BY a.TENANT_ID FETCH FIRST 1 ROWS ONLY) AS NEXT_CHANGE,
       (SELECT /*+ INDEX_ASC(b RAG_DIRTY_PICK_IDX) */ b.TENANT_ID FROM /*schema*/RAG_DIRTY b
          WHERE b.STATE = 'READY' AND b.LANE = 0 AND b.SOURCE_TYPE = /*source*/SOURCE
          AND b.AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
          ORDER BY b.TENANT_ID FETCH FIRST 1 ROWS ONLY) AS FIRST_CHANGE,
       (SELECT /*+ INDEX_ASC(c RAG_DIRTY_PICK_IDX) */ c.TENANT_ID FROM /*schema*/RAG_DIRTY c
          WHERE c.STATE = 'READY' AND c.LANE = 1 AND c.SOURCE_TYPE = /*source*/SOURCE AND c.TENANT_ID > :last_bulk
          AND c.AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
          ORDER BY c.TENANT_ID FETCH FIRST 1 ROWS ONLY) AS NEXT_BULK,
       (SELECT /*+ INDEX_ASC(d RAG_DIRTY_PICK_IDX) */ d.TENANT_ID FROM /*schema*/RAG_DIRTY d
          WHERE d.STATE = 'READY' AND d.LANE = 1 AND d.SOURCE_TYPE = /*source*/SOURCE
          AND d.AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
          ORDER BY d.TENANT_ID FETCH FIRST 1 ROWS ONLY) AS FIRST_BULK
FROM dual

-- name: pick
-- No row limit: with FOR UPDATE it is ORA-02014, and in a subquery every worker would get the same rows. Rows are locked
-- as they are fetched, so the client fetches as many as it wants. The hints are for Oracle alone.
SELECT /*+ FIRST_ROWS(32) INDEX_ASC(d RAG_DIRTY_PICK_IDX) */
       d.DIRTY_ID, d.SOURCE_TYPE, d.SOURCE_ID, d.TENANT_ID, d.CLAIM, d.ATTEMPTS, d.CRASHES
FROM /*schema*/RAG_DIRTY d
WHERE d.STATE = 'READY' AND d.LANE = :lane AND d.SOURCE_TYPE = :source_type AND d.TENANT_ID = :tenant_id
  AND d.AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
ORDER BY d.AVAILABLE_AT, d.DIRTY_ID
FOR UPDATE SKIP LOCKED

-- name: pick_entities
-- The rows of given entities, for whoever must have them indexed now; of whatever lane and tenant.
SELECT /*+ INDEX(d RAG_DIRTY_SRC_IDX) */
       d.DIRTY_ID, d.SOURCE_TYPE, d.SOURCE_ID, d.TENANT_ID, d.CLAIM, d.ATTEMPTS, d.CRASHES
FROM /*schema*/RAG_DIRTY d
WHERE d.STATE = 'READY' AND d.SOURCE_TYPE = :source_type AND d.SOURCE_ID IN (/*ids*/IDS)
  AND d.AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)
ORDER BY d.AVAILABLE_AT, d.DIRTY_ID
FOR UPDATE SKIP LOCKED

-- name: entities
-- The entities of rows of one type, and their DEAD rows: what these announced was committed before the read to come.
SELECT /*+ LEADING(e) USE_NL(d) INDEX(d RAG_DIRTY_SRC_IDX) */ e.ENTITY_ID, e.SOURCE_TYPE, e.SOURCE_ID, d.DIRTY_ID
FROM /*schema*/RAG_ENTITY e
LEFT JOIN /*schema*/RAG_DIRTY d
  ON d.SOURCE_TYPE = e.SOURCE_TYPE AND d.SOURCE_ID = e.SOURCE_ID AND d.STATE = 'DEAD'
WHERE e.SOURCE_TYPE = :source_type AND e.SOURCE_ID IN (/*ids*/IDS)

-- name: create_entity
INSERT INTO /*schema*/RAG_ENTITY (SOURCE_TYPE, SOURCE_ID) VALUES (:source_type, :source_id)

-- name: free_entities
-- SKIP LOCKED, so that a claim never waits for a write: a write waits for a claim's rows when its lease is over, and the
-- two would be a deadlock. An entity that does not come back is not had, whatever the reason.
SELECT e.ENTITY_ID FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID IN (/*ids*/IDS)
  AND (e.HOLDER IS NULL OR e.HELD_UNTIL < SYS_EXTRACT_UTC(SYSTIMESTAMP))
ORDER BY e.ENTITY_ID
FOR UPDATE SKIP LOCKED

-- name: take_tickets
-- The rows are locked by now; the predicate says again what must hold.
UPDATE /*schema*/RAG_ENTITY
SET HOLDER = :claim_token, HELD_UNTIL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE ENTITY_ID IN (/*ids*/IDS) AND (HOLDER IS NULL OR HELD_UNTIL < SYS_EXTRACT_UTC(SYSTIMESTAMP))

-- name: claim_rows
UPDATE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ /*schema*/RAG_DIRTY
SET CLAIM = :claim_token, CRASHES = CRASHES + 1,
    AVAILABLE_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE DIRTY_ID IN (/*ids*/IDS) AND STATE = 'READY' AND AVAILABLE_AT <= SYS_EXTRACT_UTC(SYSTIMESTAMP)

-- name: come_back
-- Rows of an entity that another worker holds: once more after a while, and counted as nothing.
UPDATE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ /*schema*/RAG_DIRTY
SET AVAILABLE_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:pause, 'SECOND')
WHERE DIRTY_ID IN (/*ids*/IDS) AND STATE = 'READY'

-- name: renew_tickets
UPDATE /*schema*/RAG_ENTITY SET HELD_UNTIL = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE ENTITY_ID IN (/*ids*/IDS) AND HOLDER = :claim_token

-- name: renew_rows
UPDATE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ /*schema*/RAG_DIRTY
SET AVAILABLE_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:lease, 'SECOND')
WHERE DIRTY_ID IN (/*ids*/IDS) AND CLAIM = :claim_token

-- name: hold
-- The first statement of every write: what does not come back was taken over.
SELECT e.ENTITY_ID, e.FINGERPRINT, e.CONTENT_HASH, e.DETAILS_HASH, e.CHUNKS, e.TENANT_ID FROM /*schema*/RAG_ENTITY e
WHERE e.ENTITY_ID IN (/*ids*/IDS) AND e.HOLDER = :claim_token
ORDER BY e.ENTITY_ID
FOR UPDATE SKIP LOCKED

-- name: settle
DELETE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ FROM /*schema*/RAG_DIRTY
WHERE DIRTY_ID IN (/*ids*/IDS) AND CLAIM = :claim_token

-- name: settle_dead
DELETE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ FROM /*schema*/RAG_DIRTY WHERE DIRTY_ID IN (/*ids*/IDS) AND STATE = 'DEAD'

-- name: give_back
-- Whatever is reported ends a series of claims that ended without a report: without that, a row could be beside two
-- crashes and count both.
UPDATE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ /*schema*/RAG_DIRTY
SET CLAIM = NULL, CRASHES = 0,
    AVAILABLE_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:pause, 'SECOND')
WHERE DIRTY_ID IN (/*ids*/IDS) AND CLAIM = :claim_token

-- name: put_off
-- Given back until a time, and why: nothing that the entity is to blame for.
UPDATE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ /*schema*/RAG_DIRTY
SET CLAIM = NULL, CRASHES = 0, ERROR_CODE = :error_code,
    AVAILABLE_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:pause, 'SECOND'), LAST_ERROR = :last_error
WHERE DIRTY_ID IN (/*ids*/IDS) AND CLAIM = :claim_token

-- name: postpone
UPDATE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ /*schema*/RAG_DIRTY
SET CLAIM = NULL, CRASHES = 0, ATTEMPTS = ATTEMPTS + 1, STATE = :new_state, ERROR_CODE = :error_code,
    AVAILABLE_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP) + NUMTODSINTERVAL(:pause, 'SECOND'), LAST_ERROR = :last_error
WHERE DIRTY_ID = :dirty_id AND CLAIM = :claim_token

-- name: bury
-- Rows that have ended a worker too often, or that may not be applied.
UPDATE /*+ INDEX(RAG_DIRTY RAG_DIRTY_PK) */ /*schema*/RAG_DIRTY
SET CLAIM = NULL, STATE = 'DEAD', ERROR_CODE = :error_code, LAST_ERROR = :last_error
WHERE DIRTY_ID = :dirty_id AND STATE = 'READY'

-- name: free_ticket
UPDATE /*schema*/RAG_ENTITY SET HOLDER = NULL, HELD_UNTIL = NULL WHERE ENTITY_ID = :entity_id AND HOLDER = :claim_token

-- name: hide
-- Its rights could not be read again: nobody sees it until they are.
UPDATE /*schema*/RAG_CHUNK SET VISIBILITY = 'HIDDEN', UPDATED_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE ENTITY_ID = :entity_id AND VISIBILITY <> 'HIDDEN'

-- name: forget_details
UPDATE /*schema*/RAG_ENTITY SET DETAILS_HASH = NULL WHERE ENTITY_ID = :entity_id
