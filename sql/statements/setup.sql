-- What a dry run of provision looks at beside what other stages know.

-- name: session
SELECT USER, SYS_CONTEXT('USERENV', 'CURRENT_SCHEMA') FROM dual

-- name: privileges
SELECT PRIVILEGE FROM SESSION_PRIVS

-- name: owner
SELECT COUNT(*) FROM ALL_USERS WHERE USERNAME = :owner

-- name: character_set
SELECT VALUE FROM NLS_DATABASE_PARAMETERS WHERE PARAMETER = 'NLS_CHARACTERSET'
