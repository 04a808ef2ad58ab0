-- The search log as a measure. SEEN is what a scope may see of it, HISTORY the sources that hold past cases.

-- name: matches
-- When each question was asked, whether a past case was found (a diagnosis finds cases, an answer cites one), and now.
SELECT s.ASKED_AT,
  CASE WHEN EXISTS (
    SELECT 1 FROM /*schema*/RAG_SEARCH_HIT h
    WHERE h.SEARCH_ID = s.SEARCH_ID AND h.TENANT_ID = s.TENANT_ID AND h.SOURCE_TYPE IN (/*history*/HISTORY)
      AND (s.KIND = 'diagnose' OR h.CITED = 1)
  ) THEN 1 ELSE 0 END AS MATCHED,
  SYS_EXTRACT_UTC(SYSTIMESTAMP) AS NOW_UTC
FROM /*schema*/RAG_SEARCH s
WHERE s.KIND IN ('ask', 'diagnose') AND s.OUTCOME <> 'failed' AND /*seen*/SEEN
ORDER BY s.ASKED_AT, s.SEARCH_ID

-- name: judged
-- What was said to be good or bad, with what the answer cites, a row for each.
SELECT s.SEARCH_ID, s.QUESTION, s.STANDALONE, s.FEEDBACK, s.OPTIONS, h.SOURCE_TYPE, h.SOURCE_ID
FROM /*schema*/RAG_SEARCH s
LEFT JOIN /*schema*/RAG_SEARCH_HIT h ON h.SEARCH_ID = s.SEARCH_ID AND h.TENANT_ID = s.TENANT_ID AND h.CITED = 1
WHERE s.FEEDBACK IS NOT NULL AND /*seen*/SEEN
ORDER BY s.SEARCH_ID, h.HIT_RANK
