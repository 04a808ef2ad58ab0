-- What must be known of a table before a trigger is written on it.

-- name: deleted_along
-- Tables whose rows a DELETE on this one changes by itself. A row trigger may not read them meanwhile (ORA-04091).
SELECT DISTINCT c.TABLE_NAME FROM ALL_CONSTRAINTS c
JOIN ALL_CONSTRAINTS p ON p.OWNER = c.R_OWNER AND p.CONSTRAINT_NAME = c.R_CONSTRAINT_NAME
WHERE c.CONSTRAINT_TYPE = 'R' AND c.DELETE_RULE IN ('CASCADE', 'SET NULL') AND p.TABLE_NAME = :table_name
