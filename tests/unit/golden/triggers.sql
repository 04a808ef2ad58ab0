-- Triggers that enqueue changes, written by `oraclerag source triggers --sql`.
-- does not fire: TRUNCATE; and TRUNCATE, DROP or EXCHANGE of a partition
-- does not fire: SQL*Loader with DIRECT=TRUE: it disables the triggers while it loads
-- does not fire: DDL that gives values: ADD with DEFAULT, online redefinition, an import of the table
-- does not fire: FLASHBACK TABLE without ENABLE TRIGGERS
-- does not fire: what replication applies, unless DBMS_DDL.SET_TRIGGER_FIRING_PROPERTY says otherwise
-- does not fire: writes into a LOB through its locator: DBMS_LOB, a driver's LOB.write
-- stops: loading through the direct path interface, as python-oracledb's direct_path_load (ORA-26086)
-- slower: INSERT /*+ APPEND */ and parallel DML: they run as conventional, serial DML, and fire
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET DEFINE OFF

CREATE OR REPLACE TRIGGER "APP"."RAG_TEAM$TEAM"
AFTER INSERT OR UPDATE OR DELETE ON "APP"."TEAM"
FOR EACH ROW
BEGIN
  -- oraclerag source triggers 0123456789abcdef
  IF NOT UPDATING
    OR UPDATING('NOTES')
    OR NLSSORT('a') = NLSSORT('A')
    OR :NEW."ID" <> :OLD."ID" OR :NEW."ID" IS NULL AND :OLD."ID" IS NOT NULL OR :NEW."ID" IS NOT NULL AND :OLD."ID" IS NULL
    OR :NEW."TENANT" <> :OLD."TENANT" OR :NEW."TENANT" IS NULL AND :OLD."TENANT" IS NOT NULL OR :NEW."TENANT" IS NOT NULL AND :OLD."TENANT" IS NULL
    OR :NEW."NAME" <> :OLD."NAME" OR :NEW."NAME" IS NULL AND :OLD."NAME" IS NOT NULL OR :NEW."NAME" IS NOT NULL AND :OLD."NAME" IS NULL THEN
    IF :NEW."ID" IS NOT NULL AND TO_CHAR(:NEW."TENANT") IS NOT NULL AND LENGTHB(TO_CHAR(:NEW."TENANT")) <= 128 THEN
      INSERT INTO "APP".RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID, LANE)
      VALUES ('team', TO_CHAR(:NEW."ID", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,'''), TO_CHAR(:NEW."TENANT"), 0);
    END IF;
    IF :OLD."ID" IS NOT NULL AND TO_CHAR(:OLD."TENANT") IS NOT NULL AND LENGTHB(TO_CHAR(:OLD."TENANT")) <= 128 AND (DELETING
    OR NLSSORT('a') = NLSSORT('A')
    OR :NEW."ID" <> :OLD."ID" OR :NEW."ID" IS NULL AND :OLD."ID" IS NOT NULL OR :NEW."ID" IS NOT NULL AND :OLD."ID" IS NULL
    OR :NEW."TENANT" <> :OLD."TENANT" OR :NEW."TENANT" IS NULL AND :OLD."TENANT" IS NOT NULL OR :NEW."TENANT" IS NOT NULL AND :OLD."TENANT" IS NULL) THEN
      INSERT INTO "APP".RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID, LANE)
      VALUES ('team', TO_CHAR(:OLD."ID", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,'''), TO_CHAR(:OLD."TENANT"), 0);
    END IF;
  END IF;
END;
/

CREATE OR REPLACE TRIGGER "APP"."RAG_TEAM$MEMBER"
AFTER INSERT OR DELETE OR UPDATE OF "ID", "TEAM_ID", "NAME" ON "APP"."MEMBER"
FOR EACH ROW
DECLARE
  rag_lane NUMBER(1) := 0;
  rag_mutating EXCEPTION;
  PRAGMA EXCEPTION_INIT(rag_mutating, -4091);
BEGIN
  -- oraclerag source triggers 0123456789abcdef
  IF NOT UPDATING
    OR NLSSORT('a') = NLSSORT('A')
    OR :NEW."ID" <> :OLD."ID" OR :NEW."ID" IS NULL AND :OLD."ID" IS NOT NULL OR :NEW."ID" IS NOT NULL AND :OLD."ID" IS NULL
    OR :NEW."TEAM_ID" <> :OLD."TEAM_ID" OR :NEW."TEAM_ID" IS NULL AND :OLD."TEAM_ID" IS NOT NULL OR :NEW."TEAM_ID" IS NOT NULL AND :OLD."TEAM_ID" IS NULL
    OR :NEW."NAME" <> :OLD."NAME" OR :NEW."NAME" IS NULL AND :OLD."NAME" IS NOT NULL OR :NEW."NAME" IS NOT NULL AND :OLD."NAME" IS NULL THEN
    IF NOT DELETING THEN
      BEGIN
        INSERT INTO "APP".RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID, LANE)
        SELECT DISTINCT 'team', TO_CHAR(q."ID", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,'''), TO_CHAR(q."TENANT"), rag_lane FROM (
        select id, tenant from team where id = :NEW."TEAM_ID"
        ) q
        WHERE q."ID" IS NOT NULL AND TO_CHAR(q."TENANT") IS NOT NULL AND LENGTHB(TO_CHAR(q."TENANT")) <= 128;
      EXCEPTION
        WHEN rag_mutating THEN  -- a row goes along with one of APP.TEAM, which announces itself
          IF NOT DELETING THEN
            RAISE;
          END IF;
      END;
    END IF;
    IF DELETING OR UPDATING AND (
    :NEW."TEAM_ID" <> :OLD."TEAM_ID" OR :NEW."TEAM_ID" IS NULL AND :OLD."TEAM_ID" IS NOT NULL OR :NEW."TEAM_ID" IS NOT NULL AND :OLD."TEAM_ID" IS NULL) THEN
      BEGIN
        INSERT INTO "APP".RAG_ENQUEUE (SOURCE_TYPE, SOURCE_ID, TENANT_ID, LANE)
        SELECT DISTINCT 'team', TO_CHAR(q."ID", 'TM9', 'NLS_NUMERIC_CHARACTERS=''.,'''), TO_CHAR(q."TENANT"), rag_lane FROM (
        select id, tenant from team where id = :OLD."TEAM_ID"
        ) q
        WHERE q."ID" IS NOT NULL AND TO_CHAR(q."TENANT") IS NOT NULL AND LENGTHB(TO_CHAR(q."TENANT")) <= 128;
      EXCEPTION
        WHEN rag_mutating THEN  -- a row goes along with one of APP.TEAM, which announces itself
          IF NOT DELETING THEN
            RAISE;
          END IF;
      END;
    END IF;
  END IF;
END;
/
