"""Package procedures and functions that a PL/SQL block can call.

A name that is here but not supported is ORA-03001 naming it; one that is not here is ORA-06550 with PLS-00201.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oraclerag.local.engine import credentials, onnx_models, text_generation
from oraclerag.local.engine.ddl import questions
from oraclerag.local.engine.ddl.indexes import rebuild
from oraclerag.local.engine.ddl.text_indexes import sync_index
from oraclerag.local.engine.ddl.vector_indexes import GRAPH, PARTITIONS, VectorIndex, statements
from oraclerag.local.engine.host import Host
from oraclerag.local.engine.long_names import stored
from oraclerag.local.engine.reader import Reader, qualified, unsupported
from oraclerag.local.interface import OraError, OraType

Arguments = Mapping[str, Any]
"""Values by parameter name; an omitted parameter is not there."""

Outs = Mapping[str, Any]
"""Values of OUT parameters by name."""


@dataclass(frozen=True, slots=True)
class Routine:
    """One form (overload) of a procedure or function.

    ``required`` parameters come first; ``outs`` are the OUT and IN OUT ones. ``types`` says what a text argument is
    turned into where SQL would not do it. A function gives its value under the name ``""``.
    """

    run: Callable[[Host, Arguments], Outs | None]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    outs: frozenset[str] = frozenset()
    types: Mapping[str, OraType] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """All parameters in their order."""
        return self.required + self.optional

    def fits(self, positional: int, named: Sequence[str]) -> bool:
        """Whether a call with so many positional and these named arguments can mean this form."""
        parameters = self.parameters
        if positional > len(parameters) or len(set(named)) < len(named):
            return False
        given = {*parameters[:positional], *named}
        if len(given) < positional + len(named) or not given <= set(parameters):
            return False
        return set(self.required) <= given


class OutputBuffer:
    """The lines of DBMS_OUTPUT of one session."""

    def __init__(self) -> None:
        self.enabled = False
        self.lines: deque[str] = deque()
        self.line = ""


_BUFFERS: weakref.WeakKeyDictionary[Host, OutputBuffer] = weakref.WeakKeyDictionary()


def output(host: Host) -> OutputBuffer:
    """Give a session's DBMS_OUTPUT."""
    return _BUFFERS.setdefault(host, OutputBuffer())


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _enable(host: Host, _: Arguments) -> None:
    output(host).enabled = True


def _disable(host: Host, _: Arguments) -> None:
    _BUFFERS[host] = OutputBuffer()


def _put_line(host: Host, arguments: Arguments) -> None:
    buffer = output(host)
    if buffer.enabled:
        buffer.lines.append(buffer.line + _text(arguments["A"]))
        buffer.line = ""


def _put(host: Host, arguments: Arguments) -> None:
    buffer = output(host)
    if buffer.enabled:
        buffer.line += _text(arguments["A"])


def _new_line(host: Host, _: Arguments) -> None:
    _put_line(host, {"A": None})


def _get_line(host: Host, _: Arguments) -> Outs:
    lines = output(host).lines
    return {"LINE": lines.popleft() or None, "STATUS": 0} if lines else {"LINE": None, "STATUS": 1}


def _sleep(host: Host, arguments: Arguments) -> None:
    host.ask("SELECT pg_sleep($1::float8)::text", str(arguments["SECONDS"] or 0))


def _setting(name: str, parameter: str) -> Callable[[Host, Arguments], None]:
    def run(host: Host, arguments: Arguments) -> None:
        host.ask("SELECT set_config($1, $2, false)", name, _text(arguments.get(parameter)))

    return run


def _nothing(_: Host, __: Arguments) -> None:
    return


def _transaction_id(host: Host, arguments: Arguments) -> Outs:
    """Give the transaction's identifier; TRUE begins a transaction if there is none."""
    if arguments.get("CREATE_TRANSACTION"):
        host.begin()
        host.ask("SELECT pg_current_xact_id()::text")
    return {"": host.ask("SELECT ora.transaction_id()")[0][0]}


def _owner(host: Host, arguments: Arguments) -> str:
    return _name(arguments.get("OWNNAME")) or host.schema


def _name(value: Any) -> str:
    """Read a name as dictionary procedures take it: upper case unless quoted."""
    text = _text(value).strip()
    return text[1:-1] if text.startswith('"') else text.upper()


def _gather_table(host: Host, arguments: Arguments) -> None:
    owner, table = _owner(host, arguments), _name(arguments["TABNAME"])
    if questions.object_kind(host, owner, table) != "TABLE":
        raise OraError(20000, f'Unable to analyze TABLE "{owner}"."{table}", insufficient privileges or does not exist')
    host.change([f"ANALYZE {qualified(owner, table)}"])


def _gather_schema(host: Host, arguments: Arguments) -> None:
    owner = _owner(host, arguments)
    rows = host.ask(
        "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = $1 AND c.relkind = 'r'",
        stored(owner),
    )
    host.change([f"ANALYZE {qualified(owner, row[0])}" for row in rows])


def _gather_index(host: Host, arguments: Arguments) -> None:
    owner, name = _owner(host, arguments), _name(arguments["INDNAME"])
    index = questions.index(host, owner, name)
    if index is None:
        raise OraError(20000, f'Unable to analyze INDEX "{owner}"."{name}", insufficient privileges or does not exist')
    if index.vector:
        raise OraError(20000, f'Unable to analyze INDEX "{owner}"."{name}": it is a vector index')
    host.change([f"ANALYZE {qualified(owner, index.table)}"])


_ORGANIZATIONS = {"INMEMORY NEIGHBOR GRAPH": GRAPH, "NEIGHBOR PARTITIONS": PARTITIONS}
_JSON_PARAMETERS = {
    "neighbors": "neighbors",
    "m": "neighbors",
    "efconstruction": "efconstruction",
    "partitions": "neighbor partitions",
    "neighborpartitions": "neighbor partitions",
    "samples_per_partition": "samples_per_partition",
    "min_vectors_per_partition": "min_vectors_per_partition",
}


def _vector_index(host: Host, arguments: Arguments) -> VectorIndex:
    """Make a vector index from the arguments of CREATE_INDEX and REBUILD_INDEX."""
    name, table = Reader(_text(arguments["IDX_NAME"])).name(953), Reader(_text(arguments["TABLE_NAME"])).name()
    organization = _text(arguments.get("IDX_ORGANIZATION")).upper().strip()
    if organization not in _ORGANIZATIONS:
        raise OraError(51938, f"invalid organization of a vector index: {organization or 'none'}")
    if arguments.get("IDX_INCLUDE_COLS"):
        raise unsupported("idx_include_cols of DBMS_VECTOR")
    scheme = _text(arguments.get("IDX_PARTITIONING_SCHEME")).upper()
    if scheme not in {"", "GLOBAL"}:
        raise unsupported(f"idx_partitioning_scheme {scheme} of DBMS_VECTOR")
    parameters: dict[str, int] = {}
    given = arguments.get("IDX_PARAMETERS") or {}
    for key, value in given.items() if isinstance(given, dict) else ():
        if key.lower() == "type":
            continue
        known = _JSON_PARAMETERS.get(key.lower())
        if known is None:
            raise OraError(51938, f"invalid parameter {key} of a vector index")
        parameters[known] = int(value)
    accuracy = arguments.get("IDX_ACCURACY")
    return VectorIndex(
        name[0] or host.schema,
        name[1],
        table[0] or host.schema,
        table[1],
        _name(arguments["IDX_VECTOR_COL"]),
        _ORGANIZATIONS[organization],
        _text(arguments.get("IDX_DISTANCE_METRIC")).upper() or None,
        int(accuracy) if accuracy is not None else None,
        parameters,
    )


def _create_index(host: Host, arguments: Arguments) -> None:
    index = _vector_index(host, arguments)
    if questions.object_kind(host, index.schema, index.name) is not None:
        raise OraError(955, "name is already used by an existing object")
    host.change(statements(host, index))


def _rebuild_index(host: Host, arguments: Arguments) -> None:
    """Build a vector index anew: as it was, or with new parameters where an organization is given."""
    owner, name = Reader(_text(arguments["IDX_NAME"])).name(953)
    schema = owner or host.schema
    found = questions.index(host, schema, name)
    if found is None or not found.vector:
        raise OraError(1418, "specified index does not exist")
    if not arguments.get("IDX_ORGANIZATION"):
        host.change(rebuild(schema, name))
        return
    index = _vector_index(host, {**arguments, "TABLE_NAME": arguments.get("TABLE_NAME") or found.table})
    host.change([f"DROP INDEX {qualified(schema, name)}", *statements(host, index, replacing=name)])


def _lob_length(_: Host, arguments: Arguments) -> Outs:
    value = arguments["LOB_LOC"]
    return {"": None if value is None else len(value)}


def _joined(head: Any, tail: Any) -> Any:
    """Put two pieces of a large value together; NULL is empty."""
    if head is None or tail is None:
        return tail if head is None else head
    return head + tail


def _lob_append(_: Host, arguments: Arguments) -> Outs:
    return {"DEST_LOB": _joined(arguments["DEST_LOB"], arguments["SRC_LOB"])}


def _lob_write_append(_: Host, arguments: Arguments) -> Outs:
    buffer = arguments["BUFFER"]
    piece = None if buffer is None else buffer[: int(arguments["AMOUNT"])]
    return {"LOB_LOC": _joined(arguments["LOB_LOC"], piece)}


_STATISTICS = tuple(
    """
    PARTNAME ESTIMATE_PERCENT BLOCK_SAMPLE METHOD_OPT DEGREE GRANULARITY CASCADE STATTAB STATID STATOWN NO_INVALIDATE
    STATTYPE FORCE CONTEXT OPTIONS
    """.split()  # noqa: SIM905
)
_INDEX_OPTIONS = (
    "IDX_INCLUDE_COLS", "IDX_PARTITIONING_SCHEME", "IDX_ORGANIZATION", "IDX_DISTANCE_METRIC", "IDX_ACCURACY",
    "IDX_PARAMETERS", "IDX_PARALLEL_CREATION",
)  # fmt: skip
_JSON = {"METADATA": OraType.JSON}
_PARAMS = {"PARAMS": OraType.JSON}
_GENERATE_TYPES = {"DATA": OraType.CLOB, **_PARAMS}
_VECTOR_PACKAGES = ("DBMS_VECTOR", "DBMS_VECTOR_CHAIN")
_INDEX_TYPES = {"IDX_PARAMETERS": OraType.JSON, "IDX_INCLUDE_COLS": OraType.VARCHAR}

ROUTINES: dict[str, tuple[Routine, ...]] = {
    "DBMS_VECTOR.LOAD_ONNX_MODEL": (
        Routine(onnx_models.load_blob, ("MODEL_NAME", "MODEL_DATA"), ("METADATA",), types=_JSON),
        Routine(
            onnx_models.load_file,
            ("DIRECTORY", "FILE_NAME", "MODEL_NAME"),
            ("METADATA", "EXTERNAL_DATA_FILE_NAME"),
            types=_JSON,
        ),
    ),
    "DBMS_VECTOR.DROP_ONNX_MODEL": (Routine(onnx_models.drop, ("MODEL_NAME",), ("FORCE",)),),
    "DBMS_DATA_MINING.DROP_MODEL": (Routine(onnx_models.drop, ("MODEL_NAME",), ("FORCE",)),),
    **{
        f"{package}.CREATE_CREDENTIAL": (Routine(credentials.create, ("CREDENTIAL_NAME",), ("PARAMS",), types=_PARAMS),)
        for package in _VECTOR_PACKAGES
    },
    **{
        f"{package}.DROP_CREDENTIAL": (Routine(credentials.drop, ("CREDENTIAL_NAME",)),) for package in _VECTOR_PACKAGES
    },
    "DBMS_VECTOR.CREATE_INDEX": (
        Routine(_create_index, ("IDX_NAME", "TABLE_NAME", "IDX_VECTOR_COL"), _INDEX_OPTIONS, types=_INDEX_TYPES),
    ),
    "DBMS_VECTOR.REBUILD_INDEX": (
        Routine(_rebuild_index, ("IDX_NAME",), ("TABLE_NAME", "IDX_VECTOR_COL", *_INDEX_OPTIONS), types=_INDEX_TYPES),
    ),
    "CTX_DDL.SYNC_INDEX": (
        Routine(sync_index, ("IDX_NAME",), ("MEMORY", "PART_NAME", "PARALLEL_DEGREE", "MAXTIME", "LOCKING")),
    ),
    "DBMS_STATS.GATHER_TABLE_STATS": (Routine(_gather_table, ("OWNNAME", "TABNAME"), _STATISTICS),),
    "DBMS_STATS.GATHER_SCHEMA_STATS": (Routine(_gather_schema, ("OWNNAME",), _STATISTICS[1:]),),
    "DBMS_STATS.GATHER_INDEX_STATS": (Routine(_gather_index, ("OWNNAME", "INDNAME"), _STATISTICS),),
    "DBMS_OUTPUT.ENABLE": (Routine(_enable, (), ("BUFFER_SIZE",)),),
    "DBMS_OUTPUT.DISABLE": (Routine(_disable),),
    "DBMS_OUTPUT.PUT_LINE": (Routine(_put_line, ("A",), types={"A": OraType.VARCHAR}),),
    "DBMS_OUTPUT.PUT": (Routine(_put, ("A",), types={"A": OraType.VARCHAR}),),
    "DBMS_OUTPUT.NEW_LINE": (Routine(_new_line),),
    "DBMS_OUTPUT.GET_LINE": (Routine(_get_line, ("LINE", "STATUS"), outs=frozenset({"LINE", "STATUS"})),),
    "DBMS_SESSION.SLEEP": (Routine(_sleep, ("SECONDS",)),),
    "DBMS_LOCK.SLEEP": (Routine(_sleep, ("SECONDS",)),),
    "DBMS_SESSION.SET_IDENTIFIER": (Routine(_setting("ora.client_identifier", "CLIENT_ID"), ("CLIENT_ID",)),),
    "DBMS_SESSION.CLEAR_IDENTIFIER": (Routine(_setting("ora.client_identifier", "CLIENT_ID")),),
    "DBMS_APPLICATION_INFO.SET_MODULE": (
        Routine(_setting("ora.module", "MODULE_NAME"), ("MODULE_NAME", "ACTION_NAME")),
    ),
    "DBMS_APPLICATION_INFO.SET_ACTION": (Routine(_setting("ora.action", "ACTION_NAME"), ("ACTION_NAME",)),),
    "DBMS_APPLICATION_INFO.SET_CLIENT_INFO": (Routine(_setting("ora.client_info", "CLIENT_INFO"), ("CLIENT_INFO",)),),
    "DBMS_LOB.APPEND": (Routine(_lob_append, ("DEST_LOB", "SRC_LOB"), outs=frozenset({"DEST_LOB"})),),
    "DBMS_LOB.WRITEAPPEND": (Routine(_lob_write_append, ("LOB_LOC", "AMOUNT", "BUFFER"), outs=frozenset({"LOB_LOC"})),),
    "DBMS_LOB.CREATETEMPORARY": (Routine(_nothing, ("LOB_LOC", "CACHE"), ("DUR",)),),
    "DBMS_LOB.FREETEMPORARY": (Routine(_nothing, ("LOB_LOC",)),),
}

FUNCTIONS: dict[str, tuple[Routine, ...]] = {
    "DBMS_TRANSACTION.LOCAL_TRANSACTION_ID": (Routine(_transaction_id, (), ("CREATE_TRANSACTION",)),),
    "DBMS_LOB.GETLENGTH": (Routine(_lob_length, ("LOB_LOC",)),),
    **{
        f"{package}.UTL_TO_GENERATE_TEXT": (
            Routine(text_generation.run(package), ("DATA",), ("PARAMS",), types=_GENERATE_TYPES),
        )
        for package in _VECTOR_PACKAGES
    },
}

CONSTANTS: dict[str, int] = {
    "DBMS_STATS.AUTO_SAMPLE_SIZE": 0,
    "DBMS_STATS.AUTO_DEGREE": 32768,
    "DBMS_STATS.DEFAULT_DEGREE": 32767,
    "DBMS_STATS.AUTO_INVALIDATE": 0,
    "DBMS_LOB.SESSION": 10,
    "DBMS_LOB.CALL": 12,
}

_UNSUPPORTED_PACKAGES = frozenset(
    """
    DBMS_VECTOR_CHAIN DBMS_HYBRID_VECTOR DBMS_SEARCH DBMS_SCHEDULER DBMS_JOB DBMS_CLOUD DBMS_CLOUD_AI DBMS_RLS
    DBMS_LOCK DBMS_AQ DBMS_AQADM DBMS_CRYPTO DBMS_RANDOM DBMS_SQL DBMS_METADATA DBMS_XPLAN DBMS_UTILITY
    DBMS_ASSERT DBMS_NETWORK_ACL_ADMIN DBMS_CREDENTIAL DBMS_DATA_MINING DBMS_REDEFINITION DBMS_TRANSACTION
    DBMS_SESSION DBMS_STATS DBMS_LOB DBMS_VECTOR DBMS_OUTPUT DBMS_APPLICATION_INFO DBMS_PICKLER UTL_HTTP
    UTL_FILE UTL_RAW UTL_MATCH UTL_SMTP CTX_DDL CTX_DOC CTX_QUERY DBMS_ALERT DBMS_PIPE DBMS_SPACE DBMS_MVIEW
    DBMS_SNAPSHOT DBMS_WORKLOAD_REPOSITORY
    """.split()  # noqa: SIM905
)


def normal_name(name: str) -> str:
    """Take the schemas SYS and CTXSYS away from a routine's name."""
    return name.removeprefix("SYS.").removeprefix("CTXSYS.")


def is_unsupported(name: str) -> bool:
    """Whether this is a routine of a package of Oracle's that the local database does not have."""
    return normal_name(name).partition(".")[0] in _UNSUPPORTED_PACKAGES


def choose(forms: Sequence[Routine], positional: Sequence[OraType | None], named: Sequence[str]) -> Routine | None:
    """Choose the form that fits a call; ``positional`` has the types of the values that are known.

    LOAD_ONNX_MODEL has two forms that differ only in type when they are called by position.
    """
    fitting = [form for form in forms if form.fits(len(positional), named)]
    if len(fitting) > 1 and len(positional) > 1:
        large = positional[1] in {OraType.BLOB, OraType.RAW, OraType.LONG_RAW}
        fitting = [form for form in fitting if ("MODEL_DATA" in form.parameters) == large]
    return fitting[0] if fitting else None
