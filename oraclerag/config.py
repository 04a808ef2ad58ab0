"""Settings: keyword arguments, then the environment, then ``oraclerag.toml``, then defaults.

One table says for every setting its place in the file, its environment variable and its rule; one function checks
them. Nothing here talks to a database.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import tomllib
import urllib.parse
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, cast

from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError
from oraclerag.records import MAX_TENANT_BYTES, NO_TENANT, Visibility, fits
from oraclerag.statements import identifier, qualified

__all__ = ["ChildSettings", "Settings", "SourceSettings", "parse_source", "table_entries"]

RESERVED_SOURCES = ("file", "resolution")
"""Sources that come with every installation; no other one may be called so."""

_SOURCE_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
_CHILD_NAME = re.compile(r"[a-z][a-z0-9_]*")  # templates use it


@dataclass(frozen=True, slots=True)
class ChildSettings:
    """Rows that belong to an entity (comments of a task): a SELECT that gives ``source_id``, and a unique order."""

    select: str
    order_by: str


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One ``[source.NAME]`` table: what to read and how its columns are meant.

    ``select`` gives the whole source with a column ``source_id`` (or the columns of ``key``). ``template`` is Jinja2
    text (a path in the file is read when the settings are loaded); without one, ``body`` names the column that is the
    text. ``title``, ``owner``, … name columns of the SELECT; ``collection`` is a constant. ``tables`` says for every
    table that the text depends on which entities a changed row concerns: a column, a query with ``:id``, or several of
    them. Naive times are taken in ``time_zone``. ``egress`` says whether a text may be sent to a language model
    that is not on this machine. ``recheck``: hits are looked up in the source before they are returned.
    """

    name: str
    select: str
    visibility: Visibility
    key: tuple[str, ...] = ("source_id",)
    template: str | None = None
    body: str | None = None
    title: str | None = None
    url: str | None = None
    tenant: str | None = None
    owner: str | None = None
    project: str | None = None
    sprint: str | None = None
    occurred_at: str | None = None
    collection: str | None = None
    metadata: tuple[str, ...] = ()
    cutting: Cutting = field(default_factory=Cutting)
    time_zone: str = "UTC"
    egress: bool = True
    recheck: bool = False
    children: Mapping[str, ChildSettings] = field(default_factory=lambda: MappingProxyType({}))
    tables: Mapping[str, str | tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))


def _setting(
    default: Any,
    path: str,
    env: str,
    *,
    alias: str | None = None,
    low: float | None = None,
    high: float | None = None,
    secret: bool = False,
) -> Any:
    """Declare a setting: default, dotted place in the file, environment variable (and another), inclusive bounds."""
    return field(
        default=default,
        repr=not secret,
        metadata={"path": path, "env": env, "alias": alias, "low": low, "high": high},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be configured; see :meth:`load` for where it comes from.

    Times are in seconds, ``call_timeout`` too (0: none). ``schema`` is the owner of the RAG_ tables (default: the
    user). ``exact_below`` is the estimated number of rows below which a search is exact. ``chunk_size_tokens`` and
    ``chunk_overlap_tokens`` are for sources that are cut into passages or as diagnostics and name no size themselves.
    """

    dsn: str | None = _setting(None, "database.dsn", "ORACLE_DSN")
    user: str | None = _setting(None, "database.user", "ORACLE_USER")
    password: str | None = _setting(None, "database.password", "ORACLE_PASSWORD", secret=True)
    config_dir: str | None = _setting(None, "database.config_dir", "ORACLE_CONFIG_DIR")
    wallet_location: str | None = _setting(None, "database.wallet_location", "ORACLE_WALLET_LOCATION")
    wallet_password: str | None = _setting(None, "database.wallet_password", "ORACLE_WALLET_PASSWORD", secret=True)
    schema: str | None = _setting(None, "database.schema", "ORACLERAG_SCHEMA")
    pool_size: int = _setting(4, "database.pool_size", "ORACLERAG_POOL_SIZE", low=1, high=1000)
    call_timeout: float = _setting(0.0, "database.call_timeout", "ORACLERAG_CALL_TIMEOUT", low=0, high=86400)

    tenant: str = _setting("main", "tenant", "ORACLERAG_TENANT")
    embedding_model: str = _setting("ALL_MINILM_L12_V2", "embedding.model", "ORACLERAG_EMBEDDING_MODEL")

    chunk_size_tokens: int | None = _setting(
        None, "chunk.size_tokens", "ORACLERAG_CHUNK_SIZE_TOKENS", alias="RAG_CHUNK_SIZE_TOKENS", low=16, high=1_000_000
    )
    chunk_overlap_tokens: int | None = _setting(
        None, "chunk.overlap_tokens", "ORACLERAG_CHUNK_OVERLAP_TOKENS", alias="RAG_CHUNK_OVERLAP_TOKENS", low=0,
        high=1_000_000,
    )  # fmt: skip

    batch_size: int = _setting(32, "worker.batch_size", "ORACLERAG_BATCH_SIZE", low=1, high=1000)
    poll_interval: float = _setting(2.0, "worker.poll_interval", "ORACLERAG_POLL_INTERVAL", low=0.05, high=3600)
    initial_delay: float = _setting(5.0, "worker.initial_delay", "ORACLERAG_INITIAL_DELAY", low=0, high=3600)
    max_attempts: int = _setting(5, "worker.max_attempts", "ORACLERAG_MAX_ATTEMPTS", low=1, high=100)
    lease: float = _setting(300.0, "worker.lease", "ORACLERAG_LEASE", low=1, high=86400)
    backfill_on_start: bool = _setting(True, "worker.backfill_on_start", "ORACLERAG_BACKFILL_ON_START")

    k: int = _setting(8, "search.k", "ORACLERAG_TOP_K", low=1, high=10000)
    max_k: int = _setting(100, "search.max_k", "ORACLERAG_MAX_K", low=1, high=10_000)
    exact_below: int = _setting(50_000, "search.exact_below", "ORACLERAG_EXACT_BELOW", low=0, high=10**9)
    target_accuracy: int = _setting(90, "search.target_accuracy", "ORACLERAG_TARGET_ACCURACY", low=1, high=100)
    query_embedding: Literal["inline", "separate"] = _setting(
        "inline", "search.query_embedding", "ORACLERAG_QUERY_EMBEDDING"
    )
    rerank_model: str | None = _setting(None, "search.rerank_model", "ORACLERAG_RERANK_MODEL")

    generate_provider: Literal["extractive", "openai"] = _setting(
        "extractive", "generate.provider", "ORACLERAG_GENERATE_PROVIDER"
    )
    generate_base_url: str | None = _setting(None, "generate.base_url", "ORACLERAG_GENERATE_BASE_URL")
    generate_model: str | None = _setting(None, "generate.model", "ORACLERAG_GENERATE_MODEL")
    generate_api_key_env: str | None = _setting(None, "generate.api_key_env", "ORACLERAG_GENERATE_API_KEY_ENV")
    generate_temperature: float = _setting(0.0, "generate.temperature", "ORACLERAG_GENERATE_TEMPERATURE", low=0, high=2)
    generate_max_tokens: int = _setting(
        1024, "generate.max_tokens", "ORACLERAG_GENERATE_MAX_TOKENS", low=1, high=1_000_000
    )
    generate_timeout: float = _setting(60.0, "generate.timeout", "ORACLERAG_GENERATE_TIMEOUT", low=0.1, high=3600)

    sources: tuple[SourceSettings, ...] = ()

    def __post_init__(self) -> None:
        _validate(self)

    @classmethod
    def load(cls, path: str | Path | None = None, **overrides: Any) -> Settings:
        """Read the settings.

        ``path`` is the configuration file; without it ``ORACLERAG_CONFIG`` names it, else ``oraclerag.toml`` in the
        working directory is read if it exists. A keyword wins over the environment, which wins over the file.
        """
        named = path if path is not None else os.environ.get("ORACLERAG_CONFIG")
        file = Path(named) if named is not None else Path("oraclerag.toml")
        if named is not None and not file.is_file():
            raise ConfigurationError(f"There is no configuration file {str(file)!r}.")
        tree = _read(file) if file.is_file() else {}
        values: dict[str, Any] = {}
        for item in dataclasses.fields(cls):
            if item.name == "sources":
                continue
            raw, place = _find(tree, item.metadata["path"]), f"{item.metadata['path']} in {file}"
            for variable in (item.metadata["alias"], item.metadata["env"]):
                if variable is not None and os.environ.get(variable):
                    raw, place = os.environ[variable], variable
            if item.name in overrides:
                raw, place = overrides.pop(item.name), item.name
            if raw is not None:
                values[item.name] = _convert(item, raw, place)
        sources = tuple(
            parse_source(name, table, file.parent, f"[source.{name}] in {file}")
            for name, table in _table(tree, "source", file).items()
        )
        sources = overrides.pop("sources", sources)
        if overrides:
            raise ConfigurationError(f"There is no setting {min(overrides)!r}.")
        _refuse_unknown(tree, file)
        return cls(sources=sources, **values)

    def cutting(self, cutting: Cutting) -> Cutting:
        """Give a way to cut with the installation's sizes where it names none itself; whole texts are left whole."""
        if cutting.chunker in ("whole", "database") or cutting.preset is not None:
            return cutting
        size = cutting.size if cutting.size is not None else self.chunk_size_tokens
        overlap = cutting.overlap if cutting.overlap is not None else self.chunk_overlap_tokens
        return dataclasses.replace(cutting, size=size, overlap=overlap)

    def source(self, name: str) -> SourceSettings:
        """Give the settings of a source by its name."""
        from oraclerag.errors import UnknownSource

        for source in self.sources:
            if source.name == name:
                return source
        raise UnknownSource(f"No source {name!r} is configured.")


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_text_of(file))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{file} is not valid TOML: {error}.") from error


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is not UTF-8: byte {error.start} does not belong there.") from error
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from error


def _table(tree: Mapping[str, Any], name: str, file: Path) -> Mapping[str, Any]:
    table = tree.get(name, {})
    if not isinstance(table, dict):
        raise ConfigurationError(f"{name} in {file} must be a table.")
    return table


def _find(tree: Mapping[str, Any], path: str) -> Any:
    node: Any = tree
    for part in path.split("."):
        if not isinstance(node, dict):
            return None
        node = node.get(part)
    return node


def _refuse_unknown(tree: Mapping[str, Any], file: Path) -> None:
    known = {item.metadata["path"] for item in dataclasses.fields(Settings) if item.name != "sources"}
    sections = {path.partition(".")[0] for path in known if "." in path}
    for name, value in tree.items():
        if name == "source":
            continue
        if isinstance(value, dict) and name in sections:
            for key in value:
                if f"{name}.{key}" not in known:
                    raise ConfigurationError(f"[{name}] in {file} has an unknown key {key!r}.")
        elif name not in known:
            raise ConfigurationError(f"{file} has an unknown key {name!r}.")


def _convert(item: dataclasses.Field[Any], raw: Any, place: str) -> Any:
    """Bring a raw value (text from the environment, or TOML) to the type of its setting."""
    wanted = str(item.type)
    if wanted.startswith("int"):
        if isinstance(raw, int) and not isinstance(raw, bool):
            return raw
        if isinstance(raw, str) and re.fullmatch(r"\s*[+-]?\d+\s*", raw):
            return int(raw)
        raise ConfigurationError(f"{place} must be a whole number, not {raw!r}.")
    if wanted.startswith("float"):
        with contextlib.suppress(TypeError, ValueError):
            if not isinstance(raw, bool):
                return float(raw)
        raise ConfigurationError(f"{place} must be a number, not {raw!r}.")
    if wanted.startswith("bool"):
        if isinstance(raw, bool):
            return raw
        if isinstance(raw, str) and raw.strip().lower() in ("true", "1", "yes", "on"):
            return True
        if isinstance(raw, str) and raw.strip().lower() in ("false", "0", "no", "off"):
            return False
        raise ConfigurationError(f"{place} must be true or false, not {raw!r}.")
    if not isinstance(raw, str):
        raise ConfigurationError(f"{place} must be a text.")
    return raw


_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}


def _kind(annotation: str) -> str:
    return _KINDS.get(annotation.removesuffix(" | None"), "a text")


def _is_of(value: object, annotation: str) -> bool:
    """Whether a value has the type of its setting; a keyword may be anything."""
    if annotation == "bool" or isinstance(value, bool):
        return annotation == "bool" and isinstance(value, bool)
    if value is None:
        return annotation.endswith("None")
    kind = annotation.removesuffix(" | None")
    if kind in _KINDS:
        return isinstance(value, int if kind == "int" else (int, float))
    return isinstance(value, str)


def _validate(settings: Settings) -> None:
    """Hold every setting against its rule; the one place where that is done."""
    for item in dataclasses.fields(settings):
        if item.name == "sources":
            continue
        low, high = item.metadata["low"], item.metadata["high"]
        value = getattr(settings, item.name)
        if not _is_of(value, str(item.type)):
            raise ConfigurationError(f"{item.name} must be {_kind(str(item.type))}, not {type(value).__name__}.")
        if low is not None and value is not None and not low <= value <= high:
            raise ConfigurationError(
                f"{item.name} is {value}, but must be between {low} and {high} "
                f"({item.metadata['path']} in oraclerag.toml, {item.metadata['env']} in the environment)."
            )
    if settings.schema is not None:
        identifier(settings.schema, "schema")
    identifier(settings.embedding_model, "name of the embedding model")
    if settings.rerank_model is not None:
        identifier(settings.rerank_model, "name of a reranker")
    if len(settings.embedding_model) > 100:
        raise ConfigurationError("embedding_model must have at most 100 characters; a hash is appended to it.")
    if settings.query_embedding not in ("inline", "separate"):
        raise ConfigurationError(f"query_embedding must be 'inline' or 'separate', not {settings.query_embedding!r}.")
    if not fits(settings.tenant, MAX_TENANT_BYTES):
        raise ConfigurationError(
            f"tenant must be a text of 1 to {MAX_TENANT_BYTES} bytes, without halves of surrogate pairs "
            f"(tenant in oraclerag.toml, ORACLERAG_TENANT in the environment)."
        )
    if settings.tenant == NO_TENANT:
        raise ConfigurationError(f"tenant must not be {NO_TENANT!r}, which stands for none in the queue.")
    _validate_generate(settings)
    names = [source.name for source in settings.sources]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"The source {name!r} is configured twice.")


def _validate_generate(settings: Settings) -> None:
    """Hold the settings of generation against their rules; no message repeats an address: it may hold a secret."""
    if settings.generate_provider not in ("extractive", "openai"):
        raise ConfigurationError(
            f"generate_provider must be 'extractive' or 'openai', not {settings.generate_provider!r}."
        )
    for name in ("base_url", "model"):
        if settings.generate_provider == "openai" and getattr(settings, f"generate_{name}") is None:
            raise ConfigurationError(
                f'generate.provider = "openai" needs generate.{name} (ORACLERAG_GENERATE_{name.upper()}).'
            )
    if settings.generate_model is not None and not settings.generate_model.strip():
        raise ConfigurationError("generate_model must not be blank.")
    variable = settings.generate_api_key_env
    if variable is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,254}", variable):
        raise ConfigurationError(
            "generate_api_key_env is no name of an environment variable; it names the one that holds the key, such as "
            "OPENAI_API_KEY."  # never the value: whoever misread this has put the key there
        )
    if settings.generate_base_url is not None and (wrong := _wrong_address(settings.generate_base_url)):
        raise ConfigurationError(f'generate_base_url {wrong}, unlike "http://localhost:11434/v1".')


def _wrong_address(address: str) -> str | None:
    """Say what keeps an address from being one of an API."""
    try:
        parts = urllib.parse.urlsplit(address)
        parts.port  # noqa: B018 - a bad one raises
    except ValueError:
        return "is no address"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must begin with http:// or https:// and name a host"
    if not address.isascii() or not address.isprintable() or " " in address:
        return "must be printable ASCII without blanks"
    if "@" in parts.netloc:
        return "must hold no user and no password"
    if "?" in address or "#" in address:
        return "must have no query and no fragment"
    if parts.path.rstrip("/").endswith("/chat/completions"):
        return "must end before /chat/completions"
    return None


_TEXT_KEYS = ("title", "url", "tenant", "owner", "project", "sprint", "occurred_at", "collection", "body", "time_zone")
_SOURCE_KEYS = {
    *_TEXT_KEYS, "select", "visibility", "key", "template", "metadata", "chunker", "egress", "children", "tables",
    "preset", "chunk_size_tokens", "chunk_overlap_tokens", "allow_truncation", "vector_chunks", "recheck",
}  # fmt: skip


def parse_source(name: str, table: Any, folder: Path, place: str) -> SourceSettings:
    """Check one ``[source.NAME]`` table; ``folder`` is where a template's path starts."""
    if not _SOURCE_NAME.fullmatch(name):
        raise ConfigurationError(
            f"{place}: a source's name is a lower-case letter, then lower-case letters, digits or '_', 30 at most."
        )
    if name in RESERVED_SOURCES:
        raise ConfigurationError(
            f"{place}: {name!r} is the name of a source that comes with every installation.",
            hint="Give yours another name.",
        )
    if not isinstance(table, dict):
        raise ConfigurationError(f"{place} must be a table.")
    for key in table:
        if key not in _SOURCE_KEYS:
            raise ConfigurationError(f"{place} has an unknown key {key!r}.")

    def text(key: str) -> str | None:
        value = table.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise ConfigurationError(f"{place}: {key} must be a non-empty text.")
        return value

    select = text("select")
    if select is None:
        raise ConfigurationError(f"{place} needs a select: a query that gives source_id and the columns of the text.")
    visibility = table.get("visibility")
    if visibility not in ("shared", "owner"):
        raise ConfigurationError(
            f'{place} must say visibility = "shared" (everybody of the tenant) or "owner" '
            f"(the owner and managers); there is no default."
        )
    if visibility == "owner" and text("owner") is None:
        raise ConfigurationError(f'{place} has visibility = "owner" and must name the owner\'s column: owner = "…".')
    template, body = text("template"), text("body")
    if (template is None) == (body is None):
        raise ConfigurationError(f"{place} needs either a template or body (the column that is the text), not both.")
    if template is not None and template.endswith((".j2", ".jinja")) and "\n" not in template:
        path = folder / template
        if not path.is_file():
            raise ConfigurationError(f"{place}: there is no template file {str(path)!r}.")
        template = _text_of(path)
    cutting = _cutting(table, place)
    zone = text("time_zone") or "UTC"
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # OSError: "Europe" is a directory of zones
        raise ConfigurationError(f'{place}: {zone!r} is not a time zone, such as "Europe/Madrid".') from None
    egress = table.get("egress", True)
    if not isinstance(egress, bool):
        raise ConfigurationError(f"{place}: egress must be true or false.")
    recheck = table.get("recheck", False)
    if not isinstance(recheck, bool):
        raise ConfigurationError(f"{place}: recheck must be true or false.")
    key = _names(table.get("key", ["source_id"]), f"{place}: key")
    if not key:
        raise ConfigurationError(f"{place}: key must name at least one column.")
    return SourceSettings(
        name=name,
        select=select.strip().rstrip(";").rstrip(),
        visibility=cast("Visibility", visibility),
        key=key,
        template=template,
        body=body,
        metadata=_names(table.get("metadata", []), f"{place}: metadata"),
        cutting=cutting,
        time_zone=zone,
        egress=egress,
        recheck=recheck,
        children=MappingProxyType(_children(table.get("children", {}), place)),
        tables=MappingProxyType(_tables(table.get("tables", {}), place)),
        **{key: text(key) for key in _TEXT_KEYS if key not in ("body", "time_zone")},
    )


def _cutting(table: Mapping[str, Any], place: str) -> Cutting:
    kinds = {
        "chunker": str,
        "preset": str,
        "chunk_size_tokens": int,
        "chunk_overlap_tokens": int,
        "allow_truncation": bool,
        "vector_chunks": str,
    }
    for key, kind in kinds.items():
        if type(table.get(key, kind())) is not kind:
            raise ConfigurationError(f"{place}: {key} must be {_KINDS.get(kind.__name__, 'a text')}.")
    try:
        return Cutting(
            table.get("chunker", "whole"),
            table.get("preset"),
            table.get("chunk_size_tokens"),
            table.get("chunk_overlap_tokens"),
            table.get("allow_truncation", False),
            table.get("vector_chunks"),
        )
    except ConfigurationError as error:
        raise ConfigurationError(f"{place}: {error.message}") from None


def _names(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ConfigurationError(f"{place} must be a list of column names.")
    for name in value:
        identifier(name, f"a column in {place}")
    names = tuple(name.lower() for name in value)
    if len(set(names)) < len(names):
        raise ConfigurationError(f"{place} names a column twice.")
    return names


def _children(value: Any, place: str) -> dict[str, ChildSettings]:
    if not isinstance(value, dict):
        raise ConfigurationError(f"{place}: children must be tables.")
    children = {}
    for name, child in value.items():
        if not _CHILD_NAME.fullmatch(name):
            raise ConfigurationError(
                f"{place}: {name!r} is no name for children: "
                f"a lower-case letter, then lower-case letters, digits or '_'."
            )
        if not isinstance(child, dict) or set(child) != {"select", "order_by"}:
            raise ConfigurationError(f"{place}: children.{name} needs exactly select and order_by.")
        if not all(isinstance(part, str) and part.strip() for part in child.values()):
            raise ConfigurationError(f"{place}: select and order_by of children.{name} must be non-empty texts.")
        order = ", ".join(
            identifier(part.strip(), f"order of children.{name}") for part in child["order_by"].split(",")
        )
        children[name] = ChildSettings(child["select"].strip().rstrip(";").rstrip(), order)
    return children


def _tables(value: Any, place: str) -> dict[str, str | tuple[str, ...]]:
    found: dict[str, str | tuple[str, ...]] = {}
    if not isinstance(value, dict):
        raise ConfigurationError(f"{place}: tables must map table names to a column or a query.")
    for name, entry in value.items():
        qualified(name, f"a table in {place}")
        texts = entry if isinstance(entry, list) else [entry]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise ConfigurationError(
                f"{place}: tables must map table names to a column or a query, or to a list of them; {name} does not."
            )
        found[name] = tuple(texts) if isinstance(entry, list) else texts[0]
    return found


def table_entries(source: SourceSettings) -> dict[str, tuple[str, ...]]:
    """Give the entries under ``tables``: by table, the columns or queries that say whom a changed row concerns."""
    return {name: (entry,) if isinstance(entry, str) else tuple(entry) for name, entry in source.tables.items()}
