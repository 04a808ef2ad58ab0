"""Row security (VPD): the database itself keeps tenants apart, whatever the statements say.

``sql/setup/vpd.sql`` puts a policy on every table that holds texts or the keys of data. Where it stands, a reader sees
the rows of the tenant that its session was set to, and none while it is set to none; only the workers' database user
sees all. Every read for a scope goes through :func:`reading` or :func:`writing`; what would take a hidden row for one
that is gone asks :func:`require_unrestricted` first.
"""

from __future__ import annotations

from oraclerag.security.policies import PROTECTED, Protection, protection, require_unrestricted, shortcomings
from oraclerag.security.scripts import READERS, install, script, uninstall
from oraclerag.security.sessions import reading, scoped, writing
from oraclerag.security.verification import IsolationReport, TableIsolation, flaws, verify

__all__ = [
    "PROTECTED",
    "READERS",
    "IsolationReport",
    "Protection",
    "TableIsolation",
    "flaws",
    "install",
    "protection",
    "reading",
    "require_unrestricted",
    "scoped",
    "script",
    "shortcomings",
    "uninstall",
    "verify",
    "writing",
]
