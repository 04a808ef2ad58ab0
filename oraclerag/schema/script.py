"""A migration as a script for SQL*Plus or SQLcl: for a DBA who wants to see, or must run, the DDL himself."""

from __future__ import annotations

import io
import re

from oraclerag import __version__
from oraclerag.schema.environment import ONE_AT_A_TIME, alembic_config
from oraclerag.schema.objects import without_comments
from oraclerag.schema.revision import VERSION_TABLE, revisions, steps
from oraclerag.statements import Statements, identifier, quoted

__all__ = ["script"]


def script(schema: str, *, from_revision: str | None = None, to: str = "head") -> str:
    """Give the statements of a migration as a script for SQL*Plus or SQLcl; needs no database.

    ``from_revision`` is the revision that the tables have (None: there are none). The script can be run again after it
    stopped half-way.
    """
    schema = identifier(schema, "schema")
    start, target = steps(from_revision or "base"), steps(to)
    names = ("base", *revisions())
    statements: list[str] = []
    if start != target:
        verb = "upgrade" if target > start else "downgrade"
        statements = _offline(verb, f"{names[start]}:{names[target]}", schema)
    if target == 0 < start:
        statements = [_DROP_FIRST.format(schema=quoted(schema), owner=schema), *statements]
        statements.append(Statements("schema", schema)["drop_versions"])
    head = _HEAD.format(version=__version__, schema=schema, start=names[start], target=names[target])
    return head + "".join(f"\n{_repeatable(statement)}\n/\n" for statement in statements) + "\nCOMMIT;\n"


_HEAD = """\
-- oraclerag {version}: tables in the schema {schema}, revision {start} to {target}
-- For SQL*Plus or SQLcl, as the owner of the schema or as a DBA. Can be run again after an error.
WHENEVER OSERROR EXIT FAILURE ROLLBACK
WHENEVER SQLERROR EXIT FAILURE ROLLBACK
SET DEFINE OFF
SET SQLBLANKLINES ON
"""

# Which triggers and models there are is seen when the script runs. In a second run RAG_MODEL may be gone already.
_DROP_FIRST = """\
DECLARE
  found NUMBER;
BEGIN
  FOR written IN (
    SELECT OWNER, TRIGGER_NAME, TRIGGER_BODY FROM ALL_TRIGGERS WHERE TRIGGER_NAME LIKE 'RAG!_%' ESCAPE '!'
  ) LOOP
    IF INSTR(written.TRIGGER_BODY, 'INTO {schema}.RAG_ENQUEUE ') > 0 THEN
      EXECUTE IMMEDIATE 'DROP TRIGGER "' || written.OWNER || '"."' || written.TRIGGER_NAME || '"';
    END IF;
  END LOOP;
  SELECT COUNT(*) INTO found FROM ALL_TABLES WHERE OWNER = '{owner}' AND TABLE_NAME = 'RAG_MODEL';
  IF found = 1 THEN
    EXECUTE IMMEDIATE q'[
      BEGIN
        FOR model IN (
          SELECT m.PHYSICAL_NAME FROM {schema}.RAG_MODEL m
          JOIN ALL_MINING_MODELS a ON a.OWNER = '{owner}' AND a.MODEL_NAME = m.PHYSICAL_NAME
        ) LOOP
          DBMS_VECTOR.DROP_ONNX_MODEL(model_name => '{owner}.' || model.PHYSICAL_NAME, force => TRUE);
        END LOOP;
      END;]';
  END IF;
END;"""


def _repeatable(statement: str) -> str:
    """Make a statement pass over what is done already; Oracle 23ai has IF [NOT] EXISTS for it."""
    statement = re.sub(r"^CREATE (TABLE|VIEW|(?:UNIQUE |MULTIVALUE )?INDEX) ", r"CREATE \1 IF NOT EXISTS ", statement)
    statement = re.sub(r"^DROP (TABLE|VIEW) ", r"DROP \1 IF EXISTS ", statement)
    # SQLAlchemy's RETURNING … INTO :bind is for a driver; a script has no binds
    return re.sub(
        r"^INSERT INTO (\S+) \(version_num\) VALUES \(('\w+')\).*",
        r"INSERT INTO \1 (VERSION_NUM) SELECT \2 FROM dual WHERE NOT EXISTS (SELECT 1 FROM \1)",
        statement,
    )


def _offline(verb: str, span: str, schema: str) -> list[str]:
    """Let Alembic write its statements instead of running them; they come back one by one, without separators."""
    from alembic import command

    config = alembic_config(schema)
    config.output_buffer = io.StringIO()
    with ONE_AT_A_TIME:
        getattr(command, verb)(config, span, sql=True)
    pieces = re.split(r"^/$", config.output_buffer.getvalue(), flags=re.MULTILINE)
    statements = [text for text in map(without_comments, pieces) if text]
    # older releases of Alembic drop the version table at the end themselves
    return [text for text in statements if not re.match(rf"DROP TABLE \S+\.{VERSION_TABLE}\b", text, re.IGNORECASE)]
