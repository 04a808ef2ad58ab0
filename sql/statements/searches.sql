-- The log of questions. SEEN and WHICH are conditions on a row s: what a scope may see, and what was asked for.

-- name: list
-- Neither prompts nor answers, which are long. Under a row limit two columns of one name may be refused (ORA-00918).
SELECT s.SEARCH_ID, s.TENANT_ID, s.KIND, s.ASKED_ROLE, s.OUTCOME, s.ASKED_AT, s.ASKED_BY, s.ASKED_AS, s.SESSION_NAME,
  s.QUESTION, s.QUESTION_HASH, s.STANDALONE, s.REDUCED, s.REDUCED_BY, s.OPTIONS, s.SEARCH_MODE, s.PHYSICAL_NAME, s.K, s.HITS,
  NULL AS PROMPT, NULL AS ANSWER, s.GENERATOR, s.PROMPT_TOKENS, s.ANSWER_TOKENS, s.CITED, s.UNCITED, s.UNSUPPORTED,
  s.TIMINGS, s.SECONDS, s.ERROR_CODE, s.FAILED_STEP, s.FEEDBACK, s.FEEDBACK_NOTE, s.FEEDBACK_AT
FROM /*schema*/RAG_SEARCH s
WHERE /*seen*/SEEN AND /*which*/WHICH
ORDER BY s.ASKED_AT DESC, s.SEARCH_ID DESC
FETCH FIRST :how_many ROWS ONLY

-- name: show
SELECT s.SEARCH_ID, s.TENANT_ID, s.KIND, s.ASKED_ROLE, s.OUTCOME, s.ASKED_AT, s.ASKED_BY, s.ASKED_AS, s.SESSION_NAME,
  s.QUESTION, s.QUESTION_HASH, s.STANDALONE, s.REDUCED, s.REDUCED_BY, s.OPTIONS, s.SEARCH_MODE, s.PHYSICAL_NAME, s.K, s.HITS,
  s.PROMPT, s.ANSWER, s.GENERATOR, s.PROMPT_TOKENS, s.ANSWER_TOKENS, s.CITED, s.UNCITED, s.UNSUPPORTED, s.TIMINGS, s.SECONDS,
  s.ERROR_CODE, s.FAILED_STEP, s.FEEDBACK, s.FEEDBACK_NOTE, s.FEEDBACK_AT
FROM /*schema*/RAG_SEARCH s
WHERE s.SEARCH_ID = :search_id AND /*seen*/SEEN

-- name: show_hits
SELECT h.HIT_RANK, h.SOURCE_TYPE, h.SOURCE_ID, h.TENANT_ID, h.CHUNK_NO, h.DISTANCE, h.CHUNK_ID, h.IN_PROMPT, h.CITED
FROM /*schema*/RAG_SEARCH s
JOIN /*schema*/RAG_SEARCH_HIT h ON h.SEARCH_ID = s.SEARCH_ID AND h.TENANT_ID = s.TENANT_ID
WHERE s.SEARCH_ID = :search_id AND /*seen*/SEEN
ORDER BY h.HIT_RANK

-- name: turns
-- The last questions of a session that were kept as texts, newest first. What failed was not answered.
SELECT s.QUESTION, s.STANDALONE, s.ANSWER
FROM /*schema*/RAG_SEARCH s
WHERE s.SESSION_NAME = :session_name AND s.KIND <> 'search' AND s.OUTCOME <> 'failed' AND s.QUESTION IS NOT NULL
  AND /*own*/OWN
ORDER BY s.SEARCH_ID DESC
FETCH FIRST :how_many ROWS ONLY

-- name: feedback
UPDATE /*schema*/RAG_SEARCH s
SET s.FEEDBACK = :feedback, s.FEEDBACK_NOTE = :note, s.FEEDBACK_AT = SYS_EXTRACT_UTC(SYSTIMESTAMP)
WHERE s.SEARCH_ID = :search_id AND /*seen*/SEEN

-- name: period
-- The database's clock, and when the first of them was asked.
SELECT n.NOW_UTC, q.FIRST_AT
FROM (SELECT SYS_EXTRACT_UTC(SYSTIMESTAMP) AS NOW_UTC FROM dual) n
CROSS JOIN (SELECT MIN(s.ASKED_AT) AS FIRST_AT FROM /*schema*/RAG_SEARCH s WHERE /*which*/WHICH) q

-- name: figures
-- One pass for each division of the whole. PART says by what, LATENCIES is a list of percentiles. What a diagnosis matches
-- is a historical case, what a search or question does is any hit.
SELECT q.PART, COUNT(*) AS HOW_MANY,
       COUNT(CASE WHEN q.KIND <> 'search' THEN 1 END) AS QUESTIONS,
       COUNT(CASE WHEN q.OUTCOME IN ('answered', 'truncated') THEN 1 END) AS ANSWERED,
       COUNT(CASE WHEN q.OUTCOME = 'truncated' THEN 1 END) AS TRUNCATED,
       COUNT(CASE WHEN q.OUTCOME = 'no_grounds' THEN 1 END) AS NO_GROUNDS,
       COUNT(CASE WHEN q.OUTCOME = 'failed' THEN 1 END) AS FAILED,
       COUNT(CASE WHEN q.OUTCOME <> 'failed' AND q.MATCHED = 1 THEN 1 END) AS MATCHED,
       COUNT(CASE WHEN q.OUTCOME IN ('answered', 'truncated') AND q.CITED = 0 THEN 1 END) AS UNCITED,
       COALESCE(SUM(q.CITED), 0) AS SENTENCES_CITED, COALESCE(SUM(q.UNCITED), 0) AS SENTENCES_UNCITED,
       COUNT(CASE WHEN q.FEEDBACK = 1 THEN 1 END) AS GOOD, COUNT(CASE WHEN q.FEEDBACK = 0 THEN 1 END) AS BAD,
       /*latencies*/LATENCIES
FROM (
  SELECT /*part*/PART AS PART, s.KIND, s.OUTCOME, s.CITED, s.UNCITED, s.FEEDBACK, s.SECONDS, s.TIMINGS,
         CASE WHEN s.KIND = 'diagnose' THEN
                CASE WHEN EXISTS (SELECT 1 FROM /*schema*/RAG_SEARCH_HIT h
                                  WHERE h.SEARCH_ID = s.SEARCH_ID AND h.SOURCE_TYPE = 'resolution') THEN 1 ELSE 0 END
              WHEN s.HITS > 0 THEN 1 ELSE 0 END AS MATCHED
  FROM /*schema*/RAG_SEARCH s
  WHERE /*which*/WHICH
) q
GROUP BY q.PART
ORDER BY HOW_MANY DESC, PART

-- name: next_slice
-- The last number of the next slice; NULL where there is none.
SELECT MAX(n.SEARCH_ID) FROM (
  SELECT s.SEARCH_ID FROM /*schema*/RAG_SEARCH s
  WHERE s.SEARCH_ID > :after_id AND /*which*/WHICH
  ORDER BY s.SEARCH_ID FETCH FIRST :slice_size ROWS ONLY
) n

-- name: purge_hits
DELETE FROM /*schema*/RAG_SEARCH_HIT h
WHERE h.SEARCH_ID > :after_id AND h.SEARCH_ID <= :last_id
  AND EXISTS (SELECT 1 FROM /*schema*/RAG_SEARCH s WHERE s.SEARCH_ID = h.SEARCH_ID AND /*which*/WHICH)

-- name: purge
DELETE FROM /*schema*/RAG_SEARCH s WHERE s.SEARCH_ID > :after_id AND s.SEARCH_ID <= :last_id AND /*which*/WHICH

-- name: purge_texts
UPDATE /*schema*/RAG_SEARCH s
SET s.QUESTION = NULL, s.STANDALONE = NULL, s.REDUCED = NULL, s.PROMPT = NULL, s.ANSWER = NULL, s.FEEDBACK_NOTE = NULL
WHERE s.SEARCH_ID > :after_id AND s.SEARCH_ID <= :last_id AND /*which*/WHICH

-- name: purge_vectors
-- The vector of a question gives it away.
UPDATE /*schema*/RAG_SEARCH s SET s.OPTIONS = JSON_TRANSFORM(s.OPTIONS, REMOVE '$.vector')
WHERE s.SEARCH_ID > :after_id AND s.SEARCH_ID <= :last_id AND JSON_EXISTS(s.OPTIONS, '$.vector') AND /*which*/WHICH

-- name: add
-- Long texts and JSON are bound last (ORA-24816).
INSERT INTO /*schema*/RAG_SEARCH (
  TENANT_ID, KIND, ASKED_BY, ASKED_ROLE, SESSION_NAME, QUESTION_HASH, REDUCED_BY, SEARCH_MODE, PHYSICAL_NAME, K, HITS,
  GENERATOR, PROMPT_TOKENS, ANSWER_TOKENS, CITED, UNCITED, UNSUPPORTED, SECONDS, OUTCOME, ERROR_CODE, FAILED_STEP,
  ASKED_AS, OPTIONS, TIMINGS, QUESTION, STANDALONE, REDUCED, PROMPT, ANSWER
) VALUES (
  :tenant_id, :kind, :asked_by, :asked_role, :session_name, :question_hash, :reduced_by, :search_mode, :physical_name, :k,
  :hits, :generator, :prompt_tokens, :answer_tokens, :cited, :uncited, :unsupported, :seconds, :outcome, :error_code,
  :failed_step, :asked_as, :options, :timings, :question, :standalone, :reduced, :prompt, :answer
) RETURNING SEARCH_ID INTO :search_id

-- name: add_hit
INSERT INTO /*schema*/RAG_SEARCH_HIT (
  SEARCH_ID, HIT_RANK, TENANT_ID, CHUNK_ID, SOURCE_TYPE, SOURCE_ID, CHUNK_NO, DISTANCE, IN_PROMPT, CITED
) VALUES (
  :search_id, :hit_rank, :tenant_id, :chunk_id, :source_type, :source_id, :chunk_no, :distance, :in_prompt, :cited
)

-- name: gone
-- Hits whose entity has no chunk in the tenant any more.
SELECT COUNT(*) FROM /*schema*/RAG_SEARCH_HIT h
WHERE h.SEARCH_ID = :search_id
  AND NOT EXISTS (SELECT 1 FROM /*schema*/RAG_CHUNK c
                  WHERE c.SOURCE_TYPE = h.SOURCE_TYPE AND c.SOURCE_ID = h.SOURCE_ID AND c.TENANT_ID = h.TENANT_ID)

-- name: clear_texts
-- What quotes an entity that is gone; through a view, so that workers need to see no question.
UPDATE /*schema*/RAG_SEARCH_TEXT SET PROMPT = NULL, ANSWER = NULL
WHERE SEARCH_ID IN (SELECT h.SEARCH_ID FROM /*schema*/RAG_SEARCH_HIT h
                    WHERE h.SOURCE_TYPE = :source_type AND h.SOURCE_ID = :source_id)
  AND (PROMPT IS NOT NULL OR ANSWER IS NOT NULL)
