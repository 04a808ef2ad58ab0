"""Run a logged search again, as the scope that looks at it, with the options that it had."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from oraclerag.errors import InputError
from oraclerag.records import Answer, LoggedSearch, SearchResult
from oraclerag.scope import Scope
from oraclerag.searches.comparison import SearchReplay, compare

__all__ = ["refuse_unknown", "run"]

_TIMES = ("since", "until")


def run(
    logged: LoggedSearch,
    scope: Scope,
    search: Callable[..., SearchResult],
    ask: Callable[..., Answer],
    *,
    answer: bool,
    log: bool,
) -> SearchReplay:
    """Search again for what was searched for, or with ``answer`` ask the question again, and compare.

    ``search`` takes a text, the scope, whether to log, and ``options``; ``ask`` also what was said of the prompt,
    and what of the question was searched for. Raises InputError where that cannot be done, and what they raise.
    """
    question = logged.question
    options = _options(logged)
    if question is None and "vector" in options:  # which may stand for the question
        question = ""
    if question is None:
        raise InputError(
            f"Search {logged.search_id} cannot be run again: its question was not kept"
            + (", only its hash." if logged.question_hash else ", or its text was cleared."),
            hint='searches.questions = "text" keeps the questions that are asked from now on.',
        )
    searched = logged.reduced or question  # which is not written twice
    prompting = options.pop("prompt", {})
    if logged.kind == "diagnose":
        raise InputError(
            f"Search {logged.search_id} is a diagnosis, which is more than one search.",
            hint="Diagnose its report again.",
        )
    if not answer:
        return compare(logged, search(searched, scope=scope, log=log, options=options))
    if logged.kind == "search":
        raise InputError(f"Search {logged.search_id} asked for no answer, so there is none to compare with.")
    understood = {"searched": searched, "standalone": logged.standalone, "reduced_by": logged.reduced_by}
    answered = ask(question, scope=scope, prompting=prompting, understood=understood, log=log, options=options)
    return compare(logged, answered.result, answered)


def _options(logged: LoggedSearch) -> dict[str, Any]:
    """Give the options as a search takes them. Raises InputError where the log holds what is none of them."""
    options = dict(logged.options)
    if not isinstance(options.get("prompt", {}), dict):
        raise _not_taken("prompt")
    for name in _TIMES:
        try:
            options |= {name: _moment(options[name])} if options.get(name) is not None else {}
        except (TypeError, ValueError):
            raise _not_taken(name) from None
    return options


def refuse_unknown(options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise InputError for an option that is not known, which another version has logged or somebody has written."""
    if unknown := sorted(options.keys() - set(known)):
        raise _not_taken(unknown[0])


def _not_taken(option: str) -> InputError:
    """Give the error for an option of the log that no search takes, or not so."""
    return InputError(
        f"This cannot be run again: the log says of its option {option!r} what no search takes.",
        hint="Its entry was not written by this version, or was changed: `oraclerag searches show` prints it.",
    )


def _moment(text: str) -> dt.datetime | dt.date:
    return dt.date.fromisoformat(text) if len(text) == len("2026-01-31") else dt.datetime.fromisoformat(text)
