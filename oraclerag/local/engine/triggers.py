"""Triggers."""

from __future__ import annotations

from oraclerag.local.engine.ddl.action import Action
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.reader import Reader, unsupported


def create_trigger(reader: Reader, host: Host, *, replace: bool) -> Action:
    """Read CREATE TRIGGER behind the keyword."""
    raise unsupported("triggers", reader.position)


def alter_trigger(reader: Reader, host: Host) -> Action:
    """Read ALTER TRIGGER behind the keyword."""
    raise unsupported("triggers", reader.position)


def drop_trigger(reader: Reader, host: Host) -> Action:
    """Read DROP TRIGGER behind the keyword."""
    raise unsupported("triggers", reader.position)
