-- Memory for vectors, which only an index in memory (HNSW) needs; the indexes on disk that are built by default do without.
-- For a database that one may restart, as that of compose.dev.yml: run as SYS in the root container.
--
--   docker compose -f compose.dev.yml exec -T oracle sqlplus -s / as sysdba < sql/setup/vector_memory.sql
--
-- It is taken from the memory of the instance, of which Oracle Database Free has 2 GB in all; an index of 100,000 vectors
-- of 384 dimensions takes about 200 MB. The parameter is read at the start, so the instance is started again: everybody is
-- disconnected. On an Autonomous Database it cannot be set, and need not: the database gives itself what it needs.
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET VERIFY OFF
DEFINE rag_vector_memory = 512M

ALTER SYSTEM SET VECTOR_MEMORY_SIZE = &rag_vector_memory SCOPE = SPFILE;
SHUTDOWN IMMEDIATE
STARTUP

BEGIN
  FOR closed IN (SELECT NAME FROM V$PDBS WHERE OPEN_MODE = 'MOUNTED') LOOP
    EXECUTE IMMEDIATE 'ALTER PLUGGABLE DATABASE ' || closed.NAME || ' OPEN';
  END LOOP;
END;
/

PROMPT Done.
EXIT
