"""Alembic's configuration, made in code."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from oraclerag.statements import root

if TYPE_CHECKING:
    import alembic.config
    import sqlalchemy

__all__ = ["ONE_AT_A_TIME", "alembic_config"]

ONE_AT_A_TIME = threading.Lock()
"""Alembic keeps the migration that runs in its module: threads of one process take turns."""


def alembic_config(schema: str, connection: sqlalchemy.Connection | None = None) -> alembic.config.Config:
    """Point Alembic at the revisions; without a connection it can only write statements."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(root("alembic")).replace("%", "%%"))
    config.attributes["schema"] = schema
    config.attributes["connection"] = connection
    return config
