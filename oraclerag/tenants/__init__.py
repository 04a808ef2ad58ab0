"""A tenant's life in an installation: who there is, onboard, verify, export, remove.

For who runs the installation, not for programs that ask: everything of a tenant is seen, and tenants are seen beside
one another. ``remove`` keeps to the queue's protocol, as a wipe does.
"""

from __future__ import annotations

from oraclerag.tenants.by_name import Tenants

__all__ = ["Tenants"]
