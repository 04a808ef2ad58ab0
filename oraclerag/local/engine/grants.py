"""Who holds which privileges: users, PUBLIC, and roles that hold others' privileges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PUBLIC = "PUBLIC"

DEVELOPER = ("DB_DEVELOPER_ROLE", "CREATE MINING MODEL", "UNLIMITED TABLESPACE")
"""What a user has who owns tables."""

ADMINISTRATOR = ("DBA", "UNLIMITED TABLESPACE")
"""What SYSTEM has."""

Row = Sequence[str | None]
"""Grantee, privilege, kind (SYSTEM, ROLE, or that of an object), owner, object, column ('' for the whole object)."""


class Grants:
    """The privileges of a database at one moment.

    ``holders`` are the names whose privileges count together: a user, PUBLIC and, where roles are enabled, the roles.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self._roles: dict[str, set[str]] = {}
        self._system: dict[str, set[str]] = {}
        self._objects: dict[tuple[str, str], dict[str, dict[str, set[str]]]] = {}
        self._enabled: dict[str, frozenset[str]] = {}
        for grantee, privilege, kind, owner, name, column in rows:
            if kind == "ROLE":
                self._roles.setdefault(str(grantee), set()).add(str(privilege))
            elif kind == "SYSTEM":
                self._system.setdefault(str(grantee), set()).add(str(privilege))
            else:
                held = self._objects.setdefault((str(owner), str(name)), {}).setdefault(str(grantee), {})
                held.setdefault(str(privilege), set()).add(str(column))

    def enabled(self, user: str) -> frozenset[str]:
        """Give the holders of a session: all roles that a user has are enabled."""
        known = self._enabled.get(user)
        if known is None:
            found = {user, PUBLIC}
            waiting = [*found]
            while waiting:
                for role in self._roles.get(waiting.pop(), ()):
                    if role not in found:
                        found.add(role)
                        waiting.append(role)
            known = self._enabled[user] = frozenset(found)
        return known

    @staticmethod
    def direct(user: str) -> frozenset[str]:
        """Give the holders inside views and triggers, where roles do not count."""
        return frozenset((user, PUBLIC))

    def has(self, holders: Iterable[str], *privileges: str) -> bool:
        """Whether one of these system privileges is held."""
        return any(not self._system.get(holder, _NONE).isdisjoint(privileges) for holder in holders)

    def held(self, holders: Iterable[str], owner: str, name: str) -> dict[str, set[str]]:
        """Give the object privileges on an object with their columns; '' among these is the whole object."""
        found: dict[str, set[str]] = {}
        grantees = self._objects.get((owner, name))
        if grantees is not None:
            for holder in holders:
                for privilege, columns in grantees.get(holder, _NOTHING).items():
                    found.setdefault(privilege, set()).update(columns)
        return found


_NONE: frozenset[str] = frozenset()
_NOTHING: dict[str, set[str]] = {}
