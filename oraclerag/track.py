"""Changes of mapped classes announce themselves: what a flush of SQLAlchemy writes is enqueued in its transaction.

The ORM's twin of the triggers. A flush knows its rows: new, changed with what they were, deleted, those of cascades
too. A bulk UPDATE or DELETE names no rows, and is refused.
"""

from __future__ import annotations

import decimal
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from oraclerag.enqueue import enqueue_changes
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.records import Action, SourceKey

if TYPE_CHECKING:
    import sqlalchemy
    from sqlalchemy.orm import Mapper, ORMExecuteState, Session

    from oraclerag.source import Source

__all__ = ["UNTRACKED", "KeyOf", "Tracking", "track"]

UNTRACKED = "oraclerag_untracked"
"""The execution option of a bulk statement that the program announces itself."""

KeyOf = Callable[[Any], "SourceKey | Iterable[SourceKey] | None"]
"""Gives the entities that an object concerns; its argument has the object's attributes as they are, or as they were."""

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_Change = tuple[str, str, "str | None", Action]


@dataclass(slots=True, eq=False)
class Tracking:
    """A class whose changes are announced; :meth:`stop` ends that. Ends at the end of a ``with`` block too."""

    entity: type
    _listeners: list[tuple[Any, str, Callable[..., Any]]] = field(default_factory=list, repr=False)

    def stop(self) -> None:
        """Remove the listeners; a second call does nothing."""
        import sqlalchemy.event

        while self._listeners:
            sqlalchemy.event.remove(*self._listeners.pop())

    def __enter__(self) -> Tracking:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def track(
    target: Any,
    entity: type,
    key: str | Sequence[str] | KeyOf,
    *,
    tenant: str | None,
    source: str | None,
    sources: Mapping[str, Source],
    schema_on: Callable[[Any], str | None],
) -> Tracking:
    """Announce the changes of a mapped class in the sessions of ``target``. See :meth:`oraclerag.rag.Rag.track`."""
    import sqlalchemy
    from sqlalchemy import event
    from sqlalchemy.orm import Mapper

    mapper: Any = sqlalchemy.inspect(entity, raiseerr=False)
    if not isinstance(mapper, Mapper):
        raise InputError(f"{getattr(entity, '__name__', entity)!r} is no mapped class.")
    sessions = _session_class(target)
    of = key if callable(key) else _by_attributes(mapper, key, tenant, source, sources)
    if callable(key) and (tenant is not None or source is not None):
        raise InputError(
            "A key that is a function gives a whole SourceKey: tenant and source have no meaning beside it."
        )
    tracked = _Tracked(mapper, sessions, of, sources, schema_on)
    listeners: list[tuple[Any, str, Callable[..., Any]]] = []

    def listen(on: Any, name: str, function: Callable[..., Any], **more: Any) -> None:
        event.listen(on, name, function, **more)
        listeners.append((on, name, function))

    listen(entity, "after_insert", tracked.inserted, propagate=True)
    listen(entity, "before_update", tracked.updating, propagate=True)
    listen(entity, "before_delete", tracked.deleting, propagate=True)
    listen(sessions, "before_flush", tracked.begin)
    listen(sessions, "after_flush", tracked.enqueue)
    listen(sessions, "do_orm_execute", tracked.refuse_bulk)
    return Tracking(entity, listeners)


def _session_class(target: Any) -> Any:
    """Give what SQLAlchemy can listen on: a class of sessions, or one session."""
    from sqlalchemy.orm import Session, sessionmaker

    target = getattr(target, "session_factory", target)  # of a scoped session
    if isinstance(target, sessionmaker):
        return target.class_
    asynchronous = sys.modules.get("sqlalchemy.ext.asyncio")  # without greenlet it cannot be imported
    if asynchronous is not None and isinstance(target, asynchronous.async_sessionmaker):
        # its sessions hide one that is not asynchronous, of a class that others use too: give it one of its own
        hidden = target.kw.get("sync_session_class") or target.class_.sync_session_class
        hidden = hidden if isinstance(hidden, type) else _session_class(hidden)
        if "_oraclerag_own" not in vars(hidden):
            hidden = type(hidden.__name__, (hidden,), {"_oraclerag_own": True})
            target.configure(sync_session_class=hidden)
        return hidden
    if asynchronous is not None and isinstance(target, asynchronous.AsyncSession):
        return target.sync_session
    if isinstance(target, Session) or (isinstance(target, type) and issubclass(target, Session)):
        return target
    raise InputError(
        f"track needs a sessionmaker, scoped_session, Session or their asynchronous twins, not {type(target).__name__}."
    )


def _by_attributes(
    mapper: Mapper[Any], key: str | Sequence[str], tenant: str | None, source: str | None, sources: Mapping[str, Source]
) -> KeyOf:
    """Make the function that reads the id, and the tenant, from attributes."""
    from sqlalchemy import CHAR

    from oraclerag.source import find

    name = source if source is not None else _WORD.sub("_", mapper.class_.__name__).lower()
    found = find(dict(sources), name)
    names = (key,) if isinstance(key, str) else tuple(key)
    columns = {attribute.key: attribute.columns[0] for attribute in mapper.column_attrs}
    for attribute in (*names, *(() if tenant is None else (tenant,))):
        if attribute not in columns:
            raise InputError(f"{mapper.class_.__name__} has no mapped column {attribute!r}.")
    if found.maps_tenant and tenant is None:
        raise ConfigurationError(
            f"Source {name!r} maps a tenant: say which attribute of {mapper.class_.__name__} holds it.",
            hint='tenant="tenant_id", or a key that is a function and gives SourceKey(…, tenant=…).',
        )
    padded = {attribute for attribute in columns if isinstance(columns[attribute].type, CHAR)}

    def text(state: Any, attribute: str) -> str | None:
        value = getattr(state, attribute)
        if value is None or value == "":
            return None
        found = _key_text(value, f"{mapper.class_.__name__}.{attribute}")
        return found.rstrip(" ") if attribute in padded else found

    def of(state: Any) -> SourceKey | None:
        parts = [text(state, attribute) for attribute in names]
        owner = None if tenant is None else text(state, tenant)
        if any(part is None for part in parts) or (tenant is not None and owner is None):
            return None  # without an id or a tenant it is never indexed
        return SourceKey(name, "/".join(part for part in parts if part is not None), tenant=owner)

    return of


def _key_text(value: object, place: str) -> str:
    """Give a value as the database would write it in an id."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:  # Numeric(asdecimal=False)
        value = int(value)
    if isinstance(value, (int, decimal.Decimal)) and not isinstance(value, bool):
        number = format(decimal.Decimal(value), "f")
        if "." in number:
            number = number.rstrip("0").rstrip(".")
        return re.sub(r"^(-?)0\.", r"\1.", number)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex().upper()
    raise InputError(
        f"{place} is a {type(value).__name__}, whose text in an id depends on its column.",
        hint="Give track a key that is a function and makes the SourceKey.",
    )


class _Before:
    """The attributes of an object as the database has them: what a flush is about to replace."""

    def __init__(self, instance: Any, connection: sqlalchemy.Connection) -> None:
        self._instance = instance
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        import sqlalchemy
        from sqlalchemy.orm import ColumnProperty

        state = sqlalchemy.inspect(self._instance)
        attribute = state.attrs.get(name)
        if attribute is None:
            return getattr(self._instance, name)
        history = attribute.load_history()
        if not history.added:
            return history.deleted[0] if history.deleted else getattr(self._instance, name)
        if history.deleted:
            return history.deleted[0]
        prop = state.mapper.attrs[name]
        if not isinstance(prop, ColumnProperty):
            return None
        # it was never loaded, or expired, before it was set: only the database knows
        mapper = state.mapper
        where = [column == value for column, value in zip(mapper.primary_key, state.identity, strict=True)]
        column = prop.columns[0]
        return self._connection.scalar(sqlalchemy.select(column).where(*where))


@dataclass(slots=True, eq=False)
class _Tracked:
    """What the listeners of one tracked class share; the state of a session is kept in its ``info``."""

    mapper: Mapper[Any]
    sessions: Any
    of: KeyOf
    sources: Mapping[str, Source]
    schema_on: Callable[[Any], str | None]

    # -- rows of a flush

    def inserted(self, _: Mapper[Any], __: sqlalchemy.Connection, instance: Any) -> None:
        if (session := self._session(instance)) is not None:
            self._note(session, self._keys(instance), "UPSERT")

    def updating(self, _: Mapper[Any], connection: sqlalchemy.Connection, instance: Any) -> None:
        """Before the UPDATE: whom the object concerned, where a column of it changes, and whom it will."""
        session = self._session(instance)
        if session is not None and session.is_modified(instance, include_collections=False):
            self._note(session, self._keys(_Before(instance, connection)), "UPSERT")
            self._note(session, self._keys(instance), "UPSERT")

    def deleting(self, _: Mapper[Any], connection: sqlalchemy.Connection, instance: Any) -> None:
        if (session := self._session(instance)) is not None:
            self._note(session, self._keys(_Before(instance, connection)), "DELETE")

    def _session(self, instance: Any) -> Session | None:
        """Give the session of an object, where it is one of those that are watched."""
        from sqlalchemy.orm import object_session

        session = object_session(instance)
        ours = session is self.sessions or (isinstance(self.sessions, type) and isinstance(session, self.sessions))
        return session if ours else None

    def _keys(self, state: Any) -> Iterator[SourceKey]:
        found = self.of(state)
        if found is None:
            return
        for key in (found,) if isinstance(found, SourceKey) else found:
            if not isinstance(key, SourceKey):
                raise InputError(f"The key of {self.mapper.class_.__name__} gave a {type(key).__name__}, no SourceKey.")
            yield key

    def _note(self, session: Session, keys: Iterable[SourceKey], action: Action) -> None:
        noted: dict[_Change, None] = session.info.setdefault(self, {})
        for key in keys:
            noted[(key.type, key.id, key.tenant, action)] = None

    # -- a flush

    def begin(self, session: Session, *_: object) -> None:
        """Forget what a flush noted that failed."""
        session.info.pop(self, None)

    def enqueue(self, session: Session, *_: object) -> None:
        """Announce what the flush wrote, but for what this transaction has announced already."""
        noted: dict[_Change, None] = session.info.pop(self, {})
        if not noted:
            return
        connection = session.connection(bind_arguments={"mapper": self.mapper})
        done = _announced(session, connection)
        fresh = {change[:3]: change for change in noted if change[:3] not in done}
        changes = [(SourceKey(type_, id_, tenant), action) for type_, id_, tenant, action in fresh.values()]
        schema = self.schema_on(connection.connection.driver_connection)
        enqueue_changes(connection, changes, sources=self.sources, schema=schema)
        done.update(fresh)

    # -- statements

    def refuse_bulk(self, state: ORMExecuteState) -> None:
        """Refuse a statement that changes rows of the class without naming them."""
        if not (state.is_insert or state.is_update or state.is_delete):
            return
        if state.execution_options.get(UNTRACKED):
            return
        table = getattr(state.statement, "table", None)
        own = {mapped for mapper in self.mapper.self_and_descendants for mapped in mapper.tables}
        if table is None or table not in own:
            return
        name = self.mapper.class_.__name__
        raise InputError(
            f"{name} is tracked, and a statement over many rows of it cannot be followed: it does not say which.",
            hint=f"Change the objects and flush; or announce the rows yourself (rag.enqueue) and run it with "
            f'execution_options={{"{UNTRACKED}": True}}.',
        )


_DONE = "oraclerag_announced"


def _announced(session: Session, connection: sqlalchemy.Connection) -> set[tuple[str, str, str | None]]:
    """Give what this transaction has announced, as long as nothing of it can have been rolled back.

    A savepoint that ends, either way, and one that begins make it empty: an announcement too many does no harm.
    """
    transaction = (connection.get_transaction(), connection.get_nested_transaction())
    known = session.info.get(_DONE)
    if known is None or known[0] is not transaction[0] or known[1] is not transaction[1]:
        known = session.info[_DONE] = (*transaction, set())
    announced: set[tuple[str, str, str | None]] = known[2]
    return announced
