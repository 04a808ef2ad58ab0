"""What a new database needs: what is missing (``rehearse``), scripts for a DBA, a package for PL/SQL (``sql_api``)."""

from __future__ import annotations

from oraclerag.setup.rehearse import Step, rehearse
from oraclerag.setup.scripts import Names, Script, scripts, whole, write
from oraclerag.setup.sql_api import install_sql_api, sql_api

__all__ = ["Names", "Script", "Step", "install_sql_api", "rehearse", "scripts", "sql_api", "whole", "write"]
