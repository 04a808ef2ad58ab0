"""Settings: keyword arguments, then the environment, then ``oraclerag.toml``, then defaults.

One table says for every setting its place in the file, its environment variable and its rule; ``rules`` holds them
against each other.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from oraclerag.config.reading import convert, find, read, table, template_text
from oraclerag.config.rules import check
from oraclerag.config.sources import SourceSettings, parse_source
from oraclerag.cutting import Cutting
from oraclerag.errors import ConfigurationError

__all__ = ["TENANT_BUDGETS", "Settings"]

TENANT_BUDGETS = "embedding.budget.tenants"
"""Where the file has the tokens per day of single tenants."""


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
    ``embedding_tenant_tokens`` are tokens per day of single tenants, by name. ``ask_template`` is Jinja2 text; in the
    file, and as a variable, it may be the path of a ``.j2`` file.
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
    embedding_provider: str = _setting("database", "embedding.provider", "ORACLERAG_EMBEDDING_PROVIDER")
    embedding_base_url: str | None = _setting(None, "embedding.base_url", "ORACLERAG_EMBEDDING_BASE_URL")
    embedding_api_key_env: str | None = _setting(None, "embedding.api_key_env", "ORACLERAG_EMBEDDING_API_KEY_ENV")
    embedding_oci_profile: str = _setting("DEFAULT", "embedding.oci_profile", "ORACLERAG_EMBEDDING_OCI_PROFILE")
    embedding_oci_compartment: str | None = _setting(
        None, "embedding.oci_compartment", "ORACLERAG_EMBEDDING_OCI_COMPARTMENT"
    )
    embedding_dimensions: int | None = _setting(
        None, "embedding.dimensions", "ORACLERAG_EMBEDDING_DIMENSIONS", low=1, high=65_535
    )
    embedding_max_tokens: int | None = _setting(
        None, "embedding.max_tokens", "ORACLERAG_EMBEDDING_MAX_TOKENS", low=32, high=999_999
    )
    embedding_query_prefix: str | None = _setting(None, "embedding.query_prefix", "ORACLERAG_EMBEDDING_QUERY_PREFIX")
    embedding_passage_prefix: str | None = _setting(
        None, "embedding.passage_prefix", "ORACLERAG_EMBEDDING_PASSAGE_PREFIX"
    )
    embedding_timeout: float = _setting(30.0, "embedding.timeout", "ORACLERAG_EMBEDDING_TIMEOUT", low=0.1, high=3600)
    embedding_batch_items: int | None = _setting(
        None, "embedding.batch_items", "ORACLERAG_EMBEDDING_BATCH_ITEMS", low=1, high=10_000
    )
    embedding_batch_tokens: int | None = _setting(
        None, "embedding.batch_tokens", "ORACLERAG_EMBEDDING_BATCH_TOKENS", low=1, high=10**7
    )
    embedding_tokens_per_minute: int | None = _setting(
        None, "embedding.tokens_per_minute", "ORACLERAG_EMBEDDING_TOKENS_PER_MINUTE", low=1, high=10**12
    )
    embedding_tokens_per_day: int | None = _setting(
        None, "embedding.budget.tokens_per_day", "ORACLERAG_EMBEDDING_TOKENS_PER_DAY", low=0, high=10**15
    )

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

    par_expires_at: str | None = _setting(None, "model.par_expires_at", "ORACLERAG_PAR_EXPIRES_AT")

    ask_max_chunks: int = _setting(8, "ask.max_chunks", "ORACLERAG_ASK_MAX_CHUNKS", low=1, high=10_000)
    ask_max_bytes: int = _setting(24_000, "ask.max_bytes", "ORACLERAG_ASK_MAX_BYTES", low=1000, high=10**8)
    ask_max_tokens: int = _setting(6_000, "ask.max_tokens", "ORACLERAG_ASK_MAX_TOKENS", low=200, high=10**8)
    ask_max_references: int = _setting(10, "ask.max_references", "ORACLERAG_ASK_MAX_REFERENCES", low=0, high=10_000)
    ask_anchors: Literal["hash", "bracket"] = _setting("hash", "ask.anchors", "ORACLERAG_ASK_ANCHORS")
    ask_template: str | None = _setting(None, "ask.template", "ORACLERAG_ASK_TEMPLATE")
    ask_min_score: float | None = _setting(None, "ask.min_score", "ORACLERAG_ASK_MIN_SCORE", low=-1, high=1)
    ask_order: Literal["similarity", "authority"] = _setting("similarity", "ask.order", "ORACLERAG_ASK_ORDER")

    generate_provider: Literal["extractive", "openai", "database"] = _setting(
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

    generate_package: Literal["DBMS_VECTOR", "DBMS_VECTOR_CHAIN"] = _setting(
        "DBMS_VECTOR", "generate.package", "ORACLERAG_GENERATE_PACKAGE"
    )
    generate_database_provider: str = _setting(
        "openai", "generate.database_provider", "ORACLERAG_GENERATE_DATABASE_PROVIDER"
    )
    generate_credential: str | None = _setting(None, "generate.credential", "ORACLERAG_GENERATE_CREDENTIAL")
    generate_database_params: str | None = _setting(
        None, "generate.database_params", "ORACLERAG_GENERATE_DATABASE_PARAMS", secret=True
    )

    reduce_by: Literal["rules", "model", "nothing"] = _setting("rules", "reduce.by", "ORACLERAG_REDUCE_BY")
    reduce_base_url: str | None = _setting(None, "reduce.base_url", "ORACLERAG_REDUCE_BASE_URL")
    reduce_model: str | None = _setting(None, "reduce.model", "ORACLERAG_REDUCE_MODEL")
    reduce_api_key_env: str | None = _setting(None, "reduce.api_key_env", "ORACLERAG_REDUCE_API_KEY_ENV")
    reduce_temperature: float = _setting(0.0, "reduce.temperature", "ORACLERAG_REDUCE_TEMPERATURE", low=0, high=2)
    reduce_timeout: float = _setting(15.0, "reduce.timeout", "ORACLERAG_REDUCE_TIMEOUT", low=0.1, high=3600)

    searches_log: Literal["ask", "all", "off"] = _setting("ask", "searches.log", "ORACLERAG_SEARCHES_LOG")
    searches_log_prompts: bool = _setting(False, "searches.log_prompts", "ORACLERAG_SEARCHES_LOG_PROMPTS")
    searches_questions: Literal["text", "hash"] = _setting("text", "searches.questions", "ORACLERAG_SEARCHES_QUESTIONS")
    searches_hash_key_env: str | None = _setting(None, "searches.hash_key_env", "ORACLERAG_SEARCHES_HASH_KEY_ENV")
    searches_keep_days: int | None = _setting(
        None, "searches.keep_days", "ORACLERAG_SEARCHES_KEEP_DAYS", low=1, high=36_500
    )

    files_egress: bool = _setting(True, "files.egress", "ORACLERAG_FILES_EGRESS")
    resolutions_egress: bool = _setting(True, "resolutions.egress", "ORACLERAG_RESOLUTIONS_EGRESS")

    embedding_tenant_tokens: Mapping[str, int] = field(default_factory=dict)
    sources: tuple[SourceSettings, ...] = ()

    def __post_init__(self) -> None:
        check(self)

    @classmethod
    def load(cls, path: str | Path | None = None, **overrides: Any) -> Settings:
        """Read the settings.

        ``path`` is the configuration file; without it ``ORACLERAG_CONFIG`` names it, else ``oraclerag.toml`` in the
        working directory is read if it exists. A keyword wins over the environment, which wins over the file; where
        ``sources`` are given, those of the file are not looked at.
        """
        named = path if path is not None else os.environ.get("ORACLERAG_CONFIG")
        file = Path(named) if named is not None else Path("oraclerag.toml")
        if named is not None and not file.is_file():
            raise ConfigurationError(f"There is no configuration file {str(file)!r}.")
        tree = read(file) if file.is_file() else {}
        values: dict[str, Any] = {}
        for item in dataclasses.fields(cls):
            if not item.metadata:
                continue
            raw, place = find(tree, item.metadata["path"]), f"{item.metadata['path']} in {file}"
            for variable in (item.metadata["alias"], item.metadata["env"]):
                if variable is not None and os.environ.get(variable):
                    raw, place = os.environ[variable], variable
            if item.name in overrides:
                raw, place = overrides.pop(item.name), item.name
            if raw is not None:
                values[item.name] = convert(item, raw, place)
                if item.name == "ask_template":
                    folder = file.parent if place.endswith(f" in {file}") else Path()
                    values[item.name] = template_text(values[item.name], folder, place)
        sources = overrides.pop("sources", None)
        if sources is None:
            sources = tuple(
                parse_source(name, declared, file.parent, f"[source.{name}] in {file}")
                for name, declared in table(tree, "source", file).items()
            )
        budgets = overrides.pop("embedding_tenant_tokens", find(tree, TENANT_BUDGETS) or {})
        if overrides:
            raise ConfigurationError(f"There is no setting {min(overrides)!r}.")
        _refuse_unknown(tree, file)
        return cls(sources=sources, embedding_tenant_tokens=budgets, **values)

    def tokens_per_day(self, tenant: str | None) -> int | None:
        """Give the tokens that a tenant may have embedded by a provider in a day (UTC); None: as many as it likes."""
        return self.embedding_tenant_tokens.get(tenant or "", self.embedding_tokens_per_day)

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


def _refuse_unknown(tree: Mapping[str, Any], file: Path) -> None:
    known = {item.metadata["path"] for item in dataclasses.fields(Settings) if item.metadata}
    for path in _paths({name: value for name, value in tree.items() if name != "source"}):
        if path in known or path.startswith(f"{TENANT_BUDGETS}."):
            continue
        section, _, key = path.rpartition(".")
        if any(one.startswith(f"{section}.") for one in known) and section:
            raise ConfigurationError(f"[{section}] in {file} has an unknown key {key!r}.")
        raise ConfigurationError(f"{file} has an unknown key {(section or key).partition('.')[0]!r}.")


def _paths(tree: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """Give the dotted places of all that is said in a tree; a table that should be a value is one."""
    for name, value in tree.items():
        path = f"{within}.{name}" if within else name
        if isinstance(value, dict) and value and any(known.startswith(f"{path}.") for known in _places()):
            yield from _paths(value, path)
        elif not (isinstance(value, dict) and not value):
            yield path


def _places() -> set[str]:
    return {item.metadata["path"] for item in dataclasses.fields(Settings) if item.metadata} | {f"{TENANT_BUDGETS}.*"}
