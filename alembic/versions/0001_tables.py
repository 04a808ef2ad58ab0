"""The tables of the first version."""

from __future__ import annotations

from oraclerag.schema.objects import create_objects, drop_objects

revision = "0001"
down_revision = None


def upgrade() -> None:
    create_objects("0001_tables.sql")


def downgrade() -> None:
    drop_objects("0001_tables.sql")
