"""Alembic's environment: called from :mod:`oraclerag.schema` only, never from an ini file.

``config.attributes`` holds ``schema`` (owner of the tables) and, online, ``connection``; without a connection the
statements are written to the output buffer.
"""

from __future__ import annotations

from alembic import context
from oraclerag.schema.revision import VERSION_TABLE

connection = context.config.attributes.get("connection")
options = {
    "version_table": VERSION_TABLE.lower(),  # SQLAlchemy would quote upper case
    "version_table_schema": context.config.attributes["schema"],
    "transaction_per_migration": True,  # DDL commits by itself; the version row must follow its revision at once
}
if connection is None:
    context.configure(dialect_name="oracle", **options)
else:
    context.configure(connection=connection, **options)
with context.begin_transaction():
    context.run_migrations()
