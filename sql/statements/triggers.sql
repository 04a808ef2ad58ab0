-- What must be known of a table before a trigger is written on it, and which triggers there are.

-- name: columns
-- Hidden columns that no user made (of function-based indexes, say) are left out.
SELECT c.COLUMN_NAME, c.DATA_TYPE, c.DATA_LENGTH, c.VIRTUAL_COLUMN FROM ALL_TAB_COLS c
WHERE c.OWNER = :owner AND c.TABLE_NAME = :table_name AND (c.HIDDEN_COLUMN = 'NO' OR c.USER_GENERATED = 'YES')
ORDER BY c.INTERNAL_COLUMN_ID

-- name: changed_along
-- Tables whose rows a DELETE on this one deletes or sets to NULL. A row trigger may not read them then (ORA-04091).
SELECT DISTINCT c.OWNER, c.TABLE_NAME FROM ALL_CONSTRAINTS c
JOIN ALL_CONSTRAINTS p ON p.OWNER = c.R_OWNER AND p.CONSTRAINT_NAME = c.R_CONSTRAINT_NAME
WHERE c.CONSTRAINT_TYPE = 'R' AND c.DELETE_RULE IN ('CASCADE', 'SET NULL')
  AND p.OWNER = :owner AND p.TABLE_NAME = :table_name

-- name: changed_by
-- The other way: tables a DELETE on which deletes rows of this one or sets them to NULL.
SELECT DISTINCT p.OWNER, p.TABLE_NAME FROM ALL_CONSTRAINTS c
JOIN ALL_CONSTRAINTS p ON p.OWNER = c.R_OWNER AND p.CONSTRAINT_NAME = c.R_CONSTRAINT_NAME
WHERE c.CONSTRAINT_TYPE = 'R' AND c.DELETE_RULE IN ('CASCADE', 'SET NULL')
  AND c.OWNER = :owner AND c.TABLE_NAME = :table_name

-- name: set_null
SELECT COUNT(*) FROM ALL_CONSTRAINTS c
WHERE c.CONSTRAINT_TYPE = 'R' AND c.DELETE_RULE = 'SET NULL' AND c.OWNER = :owner AND c.TABLE_NAME = :table_name

-- name: changing_triggers
-- Triggers that may give a column a value that the statement does not name: UPDATE OF would not see it.
SELECT t.TRIGGER_NAME FROM ALL_TRIGGERS t
WHERE t.TABLE_OWNER = :owner AND t.TABLE_NAME = :table_name AND t.TRIGGERING_EVENT LIKE '%UPDATE%'
  AND t.TRIGGER_TYPE IN ('BEFORE EACH ROW', 'COMPOUND')

-- name: installed
-- Candidates for triggers that this toolkit wrote; their body says whether they are, and what they were made from.
SELECT t.OWNER, t.TRIGGER_NAME, t.TABLE_OWNER, t.TABLE_NAME, t.STATUS, o.STATUS, t.TRIGGER_BODY
FROM ALL_TRIGGERS t
LEFT JOIN ALL_OBJECTS o ON o.OWNER = t.OWNER AND o.OBJECT_NAME = t.TRIGGER_NAME AND o.OBJECT_TYPE = 'TRIGGER'
WHERE t.TRIGGER_NAME LIKE 'RAG\_%' ESCAPE '\'
