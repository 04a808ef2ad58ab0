"""``prompt`` and ``ask``: what a language model would be shown, and the answer with its sources."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from oraclerag.cli.filters import conditions
from oraclerag.cli.options import (
    Fallback,
    Filters,
    Groups,
    HowMany,
    Hybrid,
    Json,
    Logged,
    Manager,
    MinScore,
    Owner,
    Prefer,
    SourceNames,
    Tenant,
    opened,
    output,
    scope,
)

if TYPE_CHECKING:
    from oraclerag.answer import Prompting
    from oraclerag.config import Settings
    from oraclerag.records import Answer
    from oraclerag.search import SearchOptions

__all__ = ["register"]

Question = Annotated[str, typer.Argument(metavar="QUESTION")]
Whole = Annotated[bool, typer.Option("--whole-question", help="Search for every word of the question.")]
AnswerOrder = Annotated[str | None, typer.Option("--order", metavar="ORDER", help="similarity or authority.")]
Chunks = Annotated[int | None, typer.Option("--max-chunks", metavar="N", help="Sources in the prompt, at most.")]
Session = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Understand a follow-up from what was asked before.")
]


def register(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("prompt")(prompt)
    app.command("ask")(ask)


def prompt(
    question: Question,
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    k: HowMany = None,
    source: SourceNames = None,
    filter_: Filters = None,
    prefer: Prefer = None,
    order: AnswerOrder = None,
    hybrid: Hybrid = False,
    fallback: Fallback = False,
    min_score: MinScore = None,
    whole_question: Whole = False,
    max_chunks: Chunks = None,
    session: Session = None,
    json: Json = False,
) -> None:
    """Show the prompt that `ask` would send."""
    screen = output(json)
    options = _options(k, source, filter_, prefer, order, hybrid, fallback, min_score)
    with opened() as rag:
        made = rag.prompt(
            question,
            scope=scope(tenant, owner, group, manager=manager),
            how=_how(rag.settings, whole_question, max_chunks),
            session=session,
            **options,
        )
    if json:
        screen.data(made)
    elif made is None:
        screen.say("Nothing that this scope may see was found: there is no prompt.")
    else:
        for message in made.messages:
            screen.write(f"-- {message['role']}\n{message['content']}")
        shown = f"{_sources(len(made.sources))}, {made.left_out} left out"
        screen.say(f"{shown}; {made.size:,} bytes, about {made.tokens:,} tokens.")


def ask(
    question: Question,
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    k: HowMany = None,
    source: SourceNames = None,
    filter_: Filters = None,
    prefer: Prefer = None,
    order: AnswerOrder = None,
    hybrid: Hybrid = False,
    fallback: Fallback = False,
    min_score: MinScore = None,
    whole_question: Whole = False,
    max_chunks: Chunks = None,
    session: Session = None,
    log: Logged = None,
    json: Json = False,
) -> None:
    """Answer a question and cite its sources.

    Only from what the asker may see. Without a language model (generate.provider) the best sentences are quoted.
    """
    screen = output(json)
    options = _options(k, source, filter_, prefer, order, hybrid, fallback, min_score)
    with opened() as rag:
        answer = rag.ask(
            question,
            scope=scope(tenant, owner, group, manager=manager),
            how=_how(rag.settings, whole_question, max_chunks),
            session=session,
            log=log,
            **options,
        )
    if json:
        screen.data(answer)
        return
    screen.write(answer.text)
    if answer.references:
        screen.write("\n" + answer.references)
    for line in _notes(answer):
        screen.say(line)


def _options(
    k: int | None,
    source: list[str] | None,
    filter_: list[str] | None,
    prefer: list[str] | None,
    order: str | None,
    hybrid: bool,
    fallback: bool,
    min_score: float | None,
) -> SearchOptions:
    from oraclerag.search import SearchOptions

    return SearchOptions(
        k=k,
        source=source or None,
        filter=conditions(filter_ or [], "--filter"),
        prefer=conditions(prefer or [], "--prefer"),
        **({} if order is None else {"order": cast("Any", order)}),
        hybrid=hybrid,
        fallback=fallback,
        min_score=min_score,
    )


def _how(settings: Settings, whole_question: bool, max_chunks: int | None) -> Prompting:
    from oraclerag.answer import Prompting

    how = dataclasses.replace(Prompting.of(settings), reduce=not whole_question)
    return how if max_chunks is None else dataclasses.replace(how, max_chunks=max_chunks)


def _notes(answer: Answer) -> list[str]:
    notes = []  # those of the answer were logged, on this screen
    if answer.standalone is not None:
        notes.append(f"Understood as: {answer.standalone}")
    if answer.result.codes_missing:
        notes.append(f"No text that this scope may see names {' or '.join(answer.result.codes_missing)}.")
    if answer.withheld:
        notes.append(f"{answer.withheld} hits were kept back: their sources let no text leave (egress).")
    generation = answer.generation
    if generation is not None and not generation.text.strip():
        notes.append(f"The language model wrote nothing; it ended with {generation.finish!r}.")
    elif generation is not None and generation.finish in ("content_filter", "refusal"):
        notes.append(f"The language model did not answer to the end, or not at all: {generation.finish}.")
    if answer.outcome == "truncated":
        notes.append("The answer is cut: it reached the limit of tokens (generate.max_tokens).")
    if answer.search_id is not None:
        notes.append(f"Logged as {answer.search_id}; `oraclerag searches feedback` says whether it was good.")
    if answer.outcome != "no_grounds":
        support = answer.support
        notes.append(
            f"{_sources(len(answer.citations))} cited by {answer.generator}; of {support.sentences} sentences "
            f"{support.uncited} cite none and {support.unsupported} share few words with what they cite."
        )
        if support.unknown_anchors:
            notes.append(f"Taken out: {_counted(support.unknown_anchors, 'anchor')} of no source in the prompt.")
        if support.dropped:
            notes.append(f"Not listed: {_sources(support.dropped)} more (ask.max_references).")
    return notes


def _sources(count: int) -> str:
    return _counted(count, "source")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
