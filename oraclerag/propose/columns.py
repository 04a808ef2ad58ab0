"""What a column may be, by its name, its type and its comment: every answer has a reason in words."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from oraclerag.propose.described import Column, Table
from oraclerag.propose.names import word_set, words

__all__ = [
    "can_be_key",
    "can_be_title",
    "descriptive",
    "is_long",
    "is_text",
    "is_time",
    "of_people",
    "ranked",
    "unfit",
    "withheld",
]

_TEXTS = ("VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR", "CLOB", "NCLOB")
_FACTS = ("NUMBER", "FLOAT", "BINARY_FLOAT", "BINARY_DOUBLE", "DATE", "TIMESTAMP", "BOOLEAN")
_TIMES = ("DATE", "TIMESTAMP")
_KEYS = ("VARCHAR2", "NVARCHAR2", "CHAR", "NCHAR", "NUMBER", "FLOAT", "RAW", "DATE")
_SHORT = 400  # bytes: longer ones are prose

_SECRETS = word_set(
    """
    password passwd pwd passphrase passcode pass pin secret secrets token tokens apikey credential credentials salt
    otp mfa totp iban bic ssn sin nif nie dni cvv cvc pan ccn passport hash signature cookie contrasena
    """
)
_SECRET_PAIRS = word_set(
    """
    api_key private_key access_key secret_key encryption_key social_security tax_id tax_number card_number
    credit_card account_number bank_account account_no card_no session_id license_number driver_license national_id
    """
)
_SECRET_PARTS = ("password", "passwd", "secret", "apikey", "accesstoken")
_SECRET_COMMENTS = ("password", "passphrase", "iban")
_PERSONAL = word_set(
    """
    salary wage wages income bonus commission dob birthdate birthday gender sex religion ethnicity diagnosis disability
    """
)
_PERSONAL_PAIRS = word_set("birth_date date_birth of_birth marital_status")
_PEOPLE = word_set(
    """
    user users usr employee employees emp staff person persons people member members account accounts worker workers
    contact contacts agent agents operator operators empleado empleados usuario usuarios
    """
)


def withheld(column: Column) -> str | None:
    """Say why a column should not be indexed: it looks like a secret, or like what is nobody's business."""
    for named, source in ((words(column.name), "name"), (words(column.comment or ""), "comment")):
        pairs = {f"{one}_{two}" for one, two in itertools.pairwise(named)}
        if source == "name":
            named = [*named, *(part for part in _SECRET_PARTS if part in "".join(named))]
        for found in (*named, *sorted(pairs)):
            # a comment may speak of a token or a key without the column holding one
            named_so = found in (*_SECRETS, *_SECRET_PARTS) and (source == "name" or found in _SECRET_COMMENTS)
            if found in _SECRET_PAIRS or named_so:
                return f"its {source} has {found.replace('_', ' ')!r}: it looks like a secret"
            if found in _PERSONAL_PAIRS or (found in _PERSONAL and source == "name"):
                return f"its {source} has {found.replace('_', ' ')!r}: it looks personal"
    return None


def unfit(column: Column) -> str | None:
    """Say why a column of its type does not belong into a text, if that is so."""
    if column.family == "JSON":
        return "JSON: name the fields that tell something in the select (JSON_VALUE) or the template (column.field)"
    if column.family in _TEXTS or column.family in _FACTS:
        return None
    if column.family == "LONG":
        return "LONG cannot be read in a query within a query (ORA-00997)"
    return f"{column.kind} is no text"


def is_text(column: Column) -> bool:
    """Whether a column holds text."""
    return column.family in _TEXTS


def is_long(column: Column) -> bool:
    """Whether it holds prose: a LOB, or more than what a name or a code takes."""
    return column.family in ("CLOB", "NCLOB") or (is_text(column) and column.length > _SHORT)


def can_be_title(column: Column) -> bool:
    """Whether a text can be what a hit is called: as long as many a column is declared, but no LOB."""
    return is_text(column) and "LOB" not in column.kind


def is_time(column: Column) -> bool:
    """Whether a column is a time."""
    return column.family in _TIMES


def can_be_key(column: Column) -> bool:
    """Whether a column's value has a text that is an id."""
    return column.family in _KEYS or (column.family == "TIMESTAMP" and "TIME ZONE" not in column.kind)


def of_people(table: str) -> bool:
    """Whether a table's name says that its rows are people."""
    return bool(_PEOPLE & set(words(table)))


# Names in the order in which they are believed; a pattern ends with the words of a column.
_RANKS = {
    "title": ("title", "subject", "headline", "name", "full_name", "summary", "label", "titulo", "asunto", "nombre"),
    "url": ("url", "link", "href", "permalink", "web_address"),
    "owner": (
        "owner_id", "owner", "assignee_id", "assignee", "assigned_to", "responsible_id", "responsible", "user_id",
        "employee_id", "author_id", "author", "created_by", "reporter_id", "reporter", "reported_by",
        "opened_by",
    ),
    "tenant": ("tenant_id", "tenant", "org_id", "organization_id", "organisation_id", "tenant_code", "mandant"),
    "maybe tenant": ("company_id", "client_id", "customer_id", "account_id", "business_unit_id", "site_id"),
    "project": ("project_id", "project", "project_code"),
    "sprint": ("sprint_id", "sprint"),
    "occurred_at": (
        "occurred_at", "occurred_on", "happened_at", "published_at", "published_on", "opened_at", "reported_at",
        "created_at", "created_on", "creation_date", "created_date", "created", "received_at", "sent_at", "posted_at",
        "event_time", "event_date", "opened", "hire_date", "order_date", "updated_at", "modified_at",
        "last_update_date",
    ),
    "metadata": ("status", "state", "priority", "severity", "type", "category", "kind"),
}  # fmt: skip
_DESCRIBES = ("name", "title", "full_name", "display_name", "label", "summary", "username", "description", "code")


def ranked(what: str, columns: Iterable[Column], table: str = "") -> list[tuple[Column, str]]:
    """Give the columns whose names say that they are ``what``, the likeliest first, each with the reason.

    A column called like its table and the word counts as the word: TASK_TITLE of TASK.
    """
    names = _RANKS[what]
    found = []
    for column in columns:
        named = _without(words(column.name), words(table))
        whole, last = "_".join(named), named[-1] if named else ""
        if whole in names:
            found.append((names.index(whole), column))
        elif what in ("url", "title") and last in names:
            found.append((len(names) + names.index(last), column))
    found.sort(key=lambda one: one[0])
    return [(column, f"the column is called {column.name}") for _, column in found]


def descriptive(table: Table) -> tuple[list[Column], str] | None:
    """Give the column, or the two of a person's name, that say what a row of a table is; None where nothing does."""
    usable = [column for column in table.columns if can_be_title(column) and not withheld(column)]
    by_name = {"_".join(_without(words(column.name), words(table.name))): column for column in usable}
    if "first_name" in by_name and "last_name" in by_name:
        return [by_name["first_name"], by_name["last_name"]], "FIRST_NAME and LAST_NAME say who it is"
    for name in _DESCRIBES:
        if name in by_name:
            return [by_name[name]], f"{by_name[name].name} says what a row is"
    called = [column for column in usable if words(column.name)[-1:] in (["name"], ["title"])]
    if called:
        return [called[0]], f"{called[0].name} is its first name or title"
    short = [column for column in usable if not is_long(column) and column.required]
    return ([short[0]], f"{short[0].name} is its first short text that every row has") if short else None


def _without(named: Sequence[str], table: Sequence[str]) -> list[str]:
    """Take the words of the table off the front of a column's, in singular or plural."""
    for prefix in ([*table], [*table[:-1], table[-1].removesuffix("s")] if table else []):
        if prefix and list(named[: len(prefix)]) == prefix and len(named) > len(prefix):
            rest = list(named[len(prefix) :])
            return rest if rest != ["id"] else list(named)
    return list(named)
