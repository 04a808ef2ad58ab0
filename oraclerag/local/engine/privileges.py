"""What a user may do: object privileges for statements, system privileges for DDL.

An object on which somebody has no privilege is not there for him (ORA-00942); one on which he has another privilege
raises ORA-41900, which names the missing one. What views and triggers do is done with the rights of their owners,
without their roles.
"""

from __future__ import annotations

from collections.abc import Sequence

from oraclerag.local.engine.dictionary import Dictionary
from oraclerag.local.engine.grants import Grants
from oraclerag.local.engine.plan import Access
from oraclerag.local.interface import OraError

_EVERYWHERE: dict[tuple[str, str], tuple[str, ...]] = {
    ("TABLE", "READ"): ("READ ANY TABLE", "SELECT ANY TABLE"),
    ("TABLE", "SELECT"): ("SELECT ANY TABLE",),
    ("TABLE", "INSERT"): ("INSERT ANY TABLE",),
    ("TABLE", "UPDATE"): ("UPDATE ANY TABLE",),
    ("TABLE", "DELETE"): ("DELETE ANY TABLE",),
    ("TABLE", "LOCK"): ("LOCK ANY TABLE",),
    ("SEQUENCE", "READ"): ("SELECT ANY SEQUENCE",),
    ("MINING MODEL", "SELECT"): ("SELECT ANY MINING MODEL",),
}
"""The system privileges that stand for an object privilege on every object, those of SYS excepted."""

_ANY_OBJECT = {
    "TABLE": tuple(f"{verb} ANY TABLE" for verb in ("READ", "SELECT", "INSERT", "UPDATE", "DELETE", "ALTER", "DROP")),
    "SEQUENCE": ("SELECT ANY SEQUENCE", "ALTER ANY SEQUENCE", "DROP ANY SEQUENCE"),
    "MINING MODEL": ("SELECT ANY MINING MODEL", "ALTER ANY MINING MODEL", "DROP ANY MINING MODEL"),
}

_FOR_EVERYBODY = frozenset({"V$VERSION", "V$OPTION", "V$NLS_PARAMETERS"})
_FOR_DEVELOPERS = frozenset({"V$PARAMETER"})  # READ on it comes with DB_DEVELOPER_ROLE

_VIEWS_DEEP = 20


class Rights:
    """The rights of ``user``: in his session, or (``definer``) in the views and triggers that he owns.

    The roles that he has when the session begins are those that are enabled in it: one that is granted later counts
    from his next session on, a privilege at once. ``key`` tells apart whose statements may be permitted differently.
    """

    def __init__(self, user: str, dictionary: Dictionary, *, definer: bool = False) -> None:
        self.user = user
        self._dictionary = dictionary
        self._definer = definer
        grants = dictionary.grants()
        self._enabled = grants.direct(user) if definer else grants.enabled(user)
        self.key = " ".join(sorted(self._enabled))

    def _holders(self, grants: Grants) -> frozenset[str]:
        return self._enabled if self._definer else self._enabled & grants.enabled(self.user)

    def includes(self, holder: str) -> bool:
        """Whether privileges of this user or role are his."""
        return holder in self._holders(self._dictionary.grants())

    def may(self, *privileges: str) -> bool:
        """Whether he has one of these system privileges."""
        grants = self._dictionary.grants()
        return grants.has(self._holders(grants), *privileges)

    def require(self, schema: str, own: str, everywhere: str) -> None:
        """Raise ORA-01031 unless he may make something in a schema: ``own`` in his, ``everywhere`` in any."""
        if not self.may(*((own, everywhere) if schema == self.user else (everywhere,))):
            raise OraError(1031, "insufficient privileges")

    def sees(self, schema: str, name: str, kind: str = "TABLE") -> bool:
        """Whether an object is his, or there is anything that he may do with it."""
        if schema == self.user:
            return True
        grants = self._dictionary.grants()
        holders = self._holders(grants)
        return bool(grants.held(holders, schema, name)) or grants.has(holders, *_ANY_OBJECT.get(kind, ()))

    def holds(self, access: Access) -> bool:
        """Whether an object privilege is his, through ownership, a grant, or a privilege on ANY object."""
        if access.schema == self.user:
            return True
        grants = self._dictionary.grants()
        holders = self._holders(grants)
        held = grants.held(holders, access.schema, access.name)
        if access.privilege == "READ" and "SELECT" in held:
            return True
        if access.privilege == "LOCK" and held.keys() - {"READ"}:
            return True
        columns = held.get(access.privilege, set())
        if "" in columns or (access.columns and columns.issuperset(access.columns)):
            return True
        return grants.has(holders, *_EVERYWHERE.get((access.kind, access.privilege), ()))

    def columns(self, schema: str, table: str) -> tuple[tuple[str, str], ...] | None:
        """Give names and types of a table's columns as the dictionary does; None for one that is not there for him."""
        dictionary = self._dictionary
        if dictionary.relation(schema, table) is None:
            return dictionary.columns(schema, table) if self._reads_view(table) else None
        if schema != self.user:
            owner, name = self._target(schema, table)
            if not self.sees(owner, name):
                return None
        return dictionary.columns(schema, table)

    def _reads_view(self, name: str) -> bool:
        """Whether a view of the dictionary is there for him: those of all objects and of the instance take a right."""
        if not name.startswith(("DBA_", "V$")) or name in _FOR_EVERYBODY:
            return True
        if self.may("SELECT ANY DICTIONARY") or self.includes("SELECT_CATALOG_ROLE"):
            return True
        return name in _FOR_DEVELOPERS and self.includes("DB_DEVELOPER_ROLE")

    def permit(self, accesses: Sequence[Access]) -> None:
        """Raise what Oracle says to somebody who may not do what a statement does."""
        for access in accesses:
            if access.kind == "TABLE":
                self._permit_table(access)
            elif access.schema != self.user and not self.holds(access):
                self._refuse(access)

    def _target(self, schema: str, name: str) -> tuple[str, str]:
        """Give the table or view that a synonym stands for, or the name itself."""
        for _ in range(_VIEWS_DEEP):
            relation = self._dictionary.relation(schema, name)
            if relation is None or not relation.is_view:
                break
            bases = self._dictionary.bases(schema, name)
            if not bases.synonym:
                break
            schema, name = bases.names[0]
        return schema, name

    def _permit_table(self, access: Access) -> None:
        relation = self._dictionary.relation(access.schema, access.name)
        if relation is None:  # a view of the dictionary, or nothing at all
            if not self._reads_view(access.name):
                raise OraError(942, f'table or view "{access.schema}"."{access.name}" does not exist')
            return
        if relation.is_view:
            schema, name = self._target(access.schema, access.name)
            if (schema, name) != (access.schema, access.name):
                access = Access(schema, name, access.privilege, columns=access.columns)
        if access.schema != self.user and not self.holds(access):
            self._refuse(access)
        if relation.is_view:
            self._permit_view(access.schema, access.name, access.privilege, 0)

    def _permit_view(self, schema: str, view: str, privilege: str, depth: int) -> None:
        """Raise ORA-04063 for a view whose owner may not do any more what it does."""
        relation = self._dictionary.relation(schema, view)
        if relation is None or not relation.is_view or depth > _VIEWS_DEEP:
            return
        owner = Rights(schema, self._dictionary, definer=True)
        replaced = privilege in {"INSERT", "UPDATE", "DELETE"} and self._dictionary.is_replaced(schema, view)
        for base_schema, base in self._dictionary.bases(schema, view).names:
            target_schema, target = owner._target(base_schema, base)
            wanted = "READ" if replaced or privilege == "SELECT" else privilege
            if not owner.holds(Access(target_schema, target, wanted)):
                raise OraError(4063, f'view "{schema}.{view}" has errors')
            self._permit_view(target_schema, target, wanted, depth + 1)

    def _refuse(self, access: Access) -> None:
        if self._definer and Rights(self.user, self._dictionary).holds(access):
            raise OraError(1031, "insufficient privileges")  # through a role, which does not count here
        if self.sees(access.schema, access.name, access.kind):
            raise OraError(41900, f'missing {access.privilege} privilege on "{access.schema}"."{access.name}"')
        if access.kind == "MINING MODEL":
            raise OraError(40284, "model does not exist")
        if access.kind == "SEQUENCE":
            raise OraError(2289, "sequence does not exist")
        raise OraError(942, f'table or view "{access.schema}"."{access.name}" does not exist')
