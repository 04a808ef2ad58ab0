"""Every error the toolkit raises, as one tree.

::

    OracleRagError
    ├── ConfigurationError            settings, sources and templates: nothing was sent to the database
    │   ├── UnknownSource
    │   ├── TemplateError
    │   └── EmbeddingProviderNotSupported
    ├── InputError                    an argument of a call
    │   ├── MissingTenant
    │   └── AutocommitRefused
    ├── DatabaseError                 what Oracle or the driver said; the original is __cause__
    │   ├── ConnectionFailed          retryable
    │   ├── LoginFailed
    │   ├── PrivilegeMissing
    │   ├── Contention                retryable: deadlock, row locked, serialisation
    │   ├── SpaceExhausted
    │   ├── ParallelDml               the service modifies tables in parallel
    │   ├── RowsHidden                row security hides rows from who must see all
    │   ├── TextSearchFailed          Oracle Text refused the text leg of a hybrid search
    │   └── StatementFailed
    ├── SchemaError
    │   ├── SchemaMissing
    │   ├── SchemaOutdated
    │   └── SchemaTooNew
    ├── ModelError
    │   ├── ModelMissing
    │   ├── ModelInvalid
    │   ├── ModelNotActive
    │   └── EmbeddingDimensionMismatch
    ├── SourceError                   would hit every entity of a source: pauses it
    │   └── SourceChanged             the settings in force are another deployment's
    ├── EntityError                   one entity is at fault: postpones it alone
    ├── EmbeddingBudgetSpent          retryable: the tokens of a tenant and a day; it waits for the next one, uncounted
    ├── IndexingError                 what index_now or wait was to see done is not; `keys` says what
    │   ├── IndexingFailed
    │   └── IndexingTimeout           retryable
    ├── ProviderError                 what an endpoint of language or embedding models said, or that it did not answer
    │   ├── ProviderUnavailable       retryable: not reached, timed out, or a failure of its own
    │   ├── ProviderRateLimited       retryable: too much was asked; `retry_after` says when to come again
    │   ├── ProviderLoginFailed
    │   ├── ProviderRefused
    │   │   └── PromptTooLong
    │   ├── ProviderAnswerInvalid     what came is no answer
    │   ├── AnswerInterrupted         retryable: a stream ended early; `partial` is what had come
    │   └── AnswerTruncated           the limit of tokens cut an answer that must be whole
    └── LocalDatabaseError            the local database could not be started or reached

Each class has a default message, ``code`` (stable, for logs and JSON), ``retryable`` (may the same call succeed
later, unchanged?) and ``hint`` (what to do). A message never holds source text, prompts or secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from oraclerag.records import SourceKey

__all__ = [
    "AnswerInterrupted",
    "AnswerTruncated",
    "AutocommitRefused",
    "ConfigurationError",
    "ConnectionFailed",
    "Contention",
    "DatabaseError",
    "EmbeddingBudgetSpent",
    "EmbeddingDimensionMismatch",
    "EmbeddingProviderNotSupported",
    "EntityError",
    "IndexingError",
    "IndexingFailed",
    "IndexingTimeout",
    "InputError",
    "LocalDatabaseError",
    "LoginFailed",
    "MissingTenant",
    "ModelError",
    "ModelInvalid",
    "ModelMissing",
    "ModelNotActive",
    "OracleRagError",
    "ParallelDml",
    "PrivilegeMissing",
    "PromptTooLong",
    "ProviderAnswerInvalid",
    "ProviderError",
    "ProviderLoginFailed",
    "ProviderRateLimited",
    "ProviderRefused",
    "ProviderUnavailable",
    "RowsHidden",
    "SchemaError",
    "SchemaMissing",
    "SchemaOutdated",
    "SchemaTooNew",
    "SourceChanged",
    "SourceError",
    "SpaceExhausted",
    "StatementFailed",
    "TemplateError",
    "TextSearchFailed",
    "UnknownSource",
]


class OracleRagError(Exception):
    """Something went wrong in oraclerag."""

    code: ClassVar[str] = "ORACLERAG_ERROR"
    retryable: ClassVar[bool] = False
    default_hint: ClassVar[str | None] = None

    def __init__(self, message: str | None = None, *, hint: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").partition("\n")[0].strip()
        self.hint = hint if hint is not None else self.default_hint
        super().__init__(self.message)


class ConfigurationError(OracleRagError):
    """The configuration is not usable."""

    code = "CONFIGURATION"


class UnknownSource(ConfigurationError):
    """There is no source of that type."""

    code = "UNKNOWN_SOURCE"
    default_hint = "`oraclerag source list` shows what is configured."


class TemplateError(ConfigurationError):
    """A template cannot be rendered."""

    code = "TEMPLATE"
    default_hint = "`oraclerag source check` renders one row of every source."


class EmbeddingProviderNotSupported(ConfigurationError):
    """There is no way to embed with that provider."""

    code = "EMBEDDING_PROVIDER_NOT_SUPPORTED"


class InputError(OracleRagError):
    """An argument is not usable."""

    code = "INPUT"


class MissingTenant(InputError):
    """A tenant is required."""

    code = "MISSING_TENANT"
    default_hint = 'Name it: SourceKey(type, id, tenant="…"), Scope(tenant="…"), or --tenant on the command line.'


class AutocommitRefused(InputError):
    """The connection is in autocommit, so the queue row could not be taken back with the caller's transaction."""

    code = "AUTOCOMMIT_REFUSED"
    default_hint = "Pass a connection with an open transaction and commit it yourself."


class DatabaseError(OracleRagError):
    """The database refused."""

    code = "DATABASE"


class ConnectionFailed(DatabaseError):
    """The database cannot be reached or the connection was lost."""

    code = "CONNECTION_FAILED"
    retryable = True
    default_hint = "Check ORACLE_DSN and that the listener answers."


class LoginFailed(DatabaseError):
    """The database refused user and password."""

    code = "LOGIN_FAILED"
    default_hint = "Check ORACLE_USER and ORACLE_PASSWORD."


class PrivilegeMissing(DatabaseError):
    """The database user lacks a privilege."""

    code = "PRIVILEGE_MISSING"
    default_hint = "sql/setup holds the grants that a DBA must run."


class Contention(DatabaseError):
    """Another transaction was in the way."""

    code = "CONTENTION"
    retryable = True


class SpaceExhausted(DatabaseError):
    """The database has no room left."""

    code = "SPACE_EXHAUSTED"
    default_hint = "Extend the tablespace or the quota of the schema owner."


class ParallelDml(DatabaseError):
    """The session modifies tables in parallel, and could not look at what it wrote before a commit."""

    code = "PARALLEL_DML"
    default_hint = (
        "Connect to the service whose name ends with _tp or _low: _high and _medium of an Autonomous Database are for "
        "reports."
    )


class RowsHidden(DatabaseError):
    """Row security hides rows of the tables from this database user."""

    code = "ROWS_HIDDEN"
    default_hint = (
        "Run it as the database user of the workers, whom `oraclerag security install --worker` names, or as one "
        "that has EXEMPT ACCESS POLICY."
    )


class StatementFailed(DatabaseError):
    """A statement failed."""

    code = "STATEMENT_FAILED"


class TextSearchFailed(DatabaseError):
    """Oracle Text refused the text leg of a hybrid search."""

    code = "TEXT_SEARCH_FAILED"
    default_hint = (
        "`oraclerag index status` shows the text index, `oraclerag index rebuild --lexical` makes it anew; a search "
        "that is not hybrid does without it."
    )


class SchemaError(OracleRagError):
    """The tables of oraclerag are not as this version needs them."""

    code = "SCHEMA"


class SchemaMissing(SchemaError):
    """The tables of oraclerag are not there."""

    code = "SCHEMA_MISSING"
    default_hint = (
        "Run `oraclerag migrate` (or `oraclerag provision` for a new database); who is not the owner of the tables "
        "needs ORACLERAG_SCHEMA and a role of sql/setup/grant_users.sql."
    )


class SchemaOutdated(SchemaError):
    """The tables of oraclerag are of an older version."""

    code = "SCHEMA_OUTDATED"
    default_hint = "Run `oraclerag migrate`."


class SchemaTooNew(SchemaError):
    """The tables of oraclerag are of a newer version than this one."""

    code = "SCHEMA_TOO_NEW"
    default_hint = "Upgrade oraclerag: `pip install -U oraclerag`."


class ModelError(OracleRagError):
    """The embedding model is not usable."""

    code = "MODEL"


class ModelMissing(ModelError):
    """The embedding model is not in the database."""

    code = "MODEL_MISSING"
    default_hint = "Run `oraclerag provision`, or `oraclerag model load FILE` and `oraclerag model use NAME`."


class ModelInvalid(ModelError):
    """The file is not a model that the database can load."""

    code = "MODEL_INVALID"


class ModelNotActive(ModelError):
    """No embedding model is active, or another one than this process was configured with."""

    code = "MODEL_NOT_ACTIVE"
    default_hint = "`oraclerag model list` shows which one is in force; `oraclerag model use NAME` makes one active."


class EmbeddingDimensionMismatch(ModelError):
    """The model's dimension is not that of the vector column."""

    code = "EMBEDDING_DIMENSION_MISMATCH"


class SourceError(OracleRagError):
    """A source cannot be read; every entity of it would fail."""

    code = "SOURCE"
    default_hint = "`oraclerag source check` shows where; the source is taken up again once it is green."


class SourceChanged(SourceError):
    """The source was configured differently by another deployment; this worker leaves it alone."""

    code = "SOURCE_CHANGED"
    default_hint = "Deploy the same configuration everywhere, then `oraclerag reindex`."


class EntityError(OracleRagError):
    """One entity cannot be indexed."""

    code = "ENTITY"


class EmbeddingBudgetSpent(OracleRagError):
    """The tenant's tokens for embedding of this day are spent; ``seconds`` are left of it."""

    code = "EMBEDDING_BUDGET_SPENT"
    retryable = True
    default_hint = "embedding.budget in oraclerag.toml says how many there are; tomorrow (UTC) there are as many again."

    def __init__(self, message: str | None = None, *, seconds: float = 0.0, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.seconds = seconds


class IndexingError(OracleRagError):
    """What was waited for is not in the index; ``keys`` are entities, not all where there are many."""

    code = "INDEXING"

    def __init__(
        self, message: str | None = None, *, keys: tuple[SourceKey, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.keys = keys


class IndexingFailed(IndexingError):
    """Entities could not be indexed: they were postponed or given up."""

    code = "INDEXING_FAILED"
    default_hint = "`oraclerag queue list` says why."


class IndexingTimeout(IndexingError):
    """What was waited for is not in the index yet."""

    code = "INDEXING_TIMEOUT"
    retryable = True
    default_hint = "Is a worker running? `oraclerag queue status` shows what waits."


class ProviderError(OracleRagError):
    """The endpoint of a language or an embedding model gave no answer.

    ``status`` is HTTP's, ``provider_code`` the endpoint's own word for it, ``parameter`` the one that it is about,
    ``retry_after`` the seconds that it asked to wait; None where there are none. ``partial`` is the text that had come
    before (never in the message).
    """

    code = "PROVIDER"

    def __init__(
        self,
        message: str | None = None,
        *,
        hint: str | None = None,
        status: int | None = None,
        provider_code: str | None = None,
        parameter: str | None = None,
        retry_after: float | None = None,
        partial: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.provider_code = provider_code
        self.parameter = parameter
        self.retry_after = retry_after
        self.partial = partial


class ProviderUnavailable(ProviderError):
    """The endpoint of the model cannot be reached, or failed itself."""

    code = "PROVIDER_UNAVAILABLE"
    retryable = True
    default_hint = "Check generate.base_url, and generate.timeout where answers take long."


class ProviderRateLimited(ProviderError):
    """The endpoint of the model was asked too much in too short a time."""

    code = "PROVIDER_RATE_LIMITED"
    retryable = True


class ProviderLoginFailed(ProviderError):
    """The endpoint of the model does not accept the key."""

    code = "PROVIDER_LOGIN_FAILED"
    default_hint = "generate.api_key_env names the environment variable that holds the key."


class ProviderRefused(ProviderError):
    """The endpoint of the model refused the request."""

    code = "PROVIDER_REFUSED"
    default_hint = "Check generate.base_url and generate.model."


class PromptTooLong(ProviderRefused):
    """The prompt is longer than the language model reads."""

    code = "PROMPT_TOO_LONG"
    default_hint = "Give the prompt a smaller budget, or generate.model one that reads more."


class ProviderAnswerInvalid(ProviderError):
    """What came from the endpoint of the model is no answer."""

    code = "PROVIDER_ANSWER_INVALID"
    default_hint = "Is generate.base_url that of an OpenAI-compatible API? It mostly ends with /v1."


class AnswerInterrupted(ProviderError):
    """The answer ended before it was complete."""

    code = "ANSWER_INTERRUPTED"
    retryable = True


class AnswerTruncated(ProviderError):
    """The answer was cut by the limit of tokens, and only a whole one is of use."""

    code = "ANSWER_TRUNCATED"
    default_hint = "Raise generate.max_tokens."


class LocalDatabaseError(OracleRagError):
    """The local database is not usable."""

    code = "LOCAL_DATABASE"
    default_hint = "`oraclerag local status` says what runs; `oraclerag local reset` starts over."
