"""The tables of the toolkit: migrate, what revision is there, and the script for a DBA.

Alembic is called from code; its revisions run the frozen DDL in ``sql/schema``, one file per revision. Oracle commits
every DDL statement by itself, so a revision can stop half-way: each statement is skipped when its object is there
already, with the columns that it must have, and the version row is written last. The same call then ends the work.
"""

from __future__ import annotations

from oraclerag.schema.migrate import MigrationReport, migrate
from oraclerag.schema.revision import current, require, require_revision, revisions
from oraclerag.schema.script import script

__all__ = ["MigrationReport", "current", "migrate", "require", "require_revision", "revisions", "script"]
