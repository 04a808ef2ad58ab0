"""The one predicate of every read: scope, sources, times, codes, filter. Each part is bracketed; values are binds.

A filter can narrow what a scope allows and never widen it: it is one more bracket behind AND.
"""

from __future__ import annotations

from typing import Any

from oraclerag import error_codes
from oraclerag.filters import ERROR_CODE
from oraclerag.search.request import Request

__all__ = ["brackets", "conditions"]

_PARTS = 10_007  # a prime: what is kept does not depend on how the chunks of a document follow each other


def conditions(request: Request, alias: str = "c") -> tuple[list[str], dict[str, Any]]:
    """Give the brackets that a chunk must fulfil to be read for a request, the scope's first, and their binds."""
    named, binds = brackets(request, alias)
    return [bracket for _, bracket in named], binds


def brackets(request: Request, alias: str = "c") -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Like :func:`conditions`, each bracket with the name of the option that it comes from; "scope" is the first."""
    allowed, binds = request.scope.predicate(alias)
    found, values = [("scope", allowed)], dict[str, Any](binds)

    def listed(option: str, column: str, prefix: str, names: tuple[str, ...]) -> None:
        if names:
            marks = {f"{prefix}{number}": name for number, name in enumerate(names)}
            found.append((option, f"({alias}.{column} IN ({', '.join(f':{name}' for name in marks)}))"))
            values.update(marks)

    listed("source", "SOURCE_TYPE", "source", request.sources)
    listed("collections", "COLLECTION", "collection", request.collections)
    if request.since is not None:
        found.append(("since", f"({alias}.OCCURRED_AT >= :since)"))
        values["since"] = request.since
    if request.until is not None:
        found.append(("until", f"({alias}.OCCURRED_AT < :until)"))
        values["until"] = request.until
    if request.months is not None:
        found.append(("months", f"({alias}.OCCURRED_AT >= ADD_MONTHS(SYS_EXTRACT_UTC(SYSTIMESTAMP), -:months))"))
        values["months"] = request.months
    if request.codes:
        spelled = dict.fromkeys(name for code in request.codes for name in error_codes.aliases(code))
        named = {f"code{number}": name for number, name in enumerate(spelled)}
        each = [f"JSON_EXISTS({alias}.METADATA, {ERROR_CODE.format(bind=f':{name}')})" for name in named]
        found.append(("codes", f"({' OR '.join(each)})"))
        values.update(named)
    if request.filter:
        found.append(("filter", f"({request.filter.text})"))
        values.update(request.filter.binds)
    if request.share is not None:
        found.append(("share", f"(MOD({alias}.CHUNK_ID * 6367, {_PARTS}) < :parts)"))
        values["parts"] = max(1, round(request.share * _PARTS))
    return found, values
