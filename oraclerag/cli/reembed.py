"""``reembed``: another embedding model, while searches and workers go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from oraclerag.cli.options import FAILED, Json, Tenant, opened, output, scope

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.rag import Rag
    from oraclerag.reembed import ModelComparison, ModelSwitch

__all__ = ["register"]

Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model to come; it must be loaded.")]
Pause = Annotated[
    float, typer.Option("--pause", metavar="SECONDS", min=0, max=3600, help="Left between slices of 64 chunks.")
]
Switch = Annotated[bool, typer.Option("--switch/--no-switch", help="Put it in force when all chunks have its vector.")]
Sample = Annotated[int | None, typer.Option("--sample", metavar="N", help="Questions asked of both (default: 50).")]
MinRecall = Annotated[
    float | None, typer.Option("--min-recall", metavar="SHARE", help="Switch only where its index finds that much.")
]
Truncate = Annotated[bool, typer.Option("--allow-truncation", help="Also a model that reads less than chunks have.")]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("reembed")(reembed)


def reembed(
    model: Model = None,
    status: Annotated[bool, typer.Option("--status", help="Say how far a switch is.")] = False,
    rollback: Annotated[bool, typer.Option("--rollback", help="Put the model before in force again.")] = False,
    finish: Annotated[bool, typer.Option("--finish", help="Take the model before away: no way back.")] = False,
    abort: Annotated[bool, typer.Option("--abort", help="Give up a switch that has not been made.")] = False,
    switch: Switch = True,
    pause: Pause = 0.0,
    tenant: Tenant = None,
    sample: Sample = None,
    min_recall: MinRecall = None,
    allow_truncation: Truncate = False,
    json: Json = False,
) -> None:
    """Switch to another embedding model without a gap.

    Fills a second vector column while the first one answers, builds its index, asks both the same questions, and puts
    the new model in force. The one before is kept until --finish. Run again after an interruption, it goes on.
    """
    chosen = [
        name
        for name, asked in (("--status", status), ("--rollback", rollback), ("--finish", finish), ("--abort", abort))
        if asked
    ]
    if len(chosen) + (model is not None) != 1:
        raise typer.BadParameter("name one: --model NAME, --status, --rollback, --finish or --abort.")
    if min_recall is not None and not 0 <= min_recall <= 1:
        raise typer.BadParameter("--min-recall takes a share from 0 to 1.")
    screen = output(json)
    comparison: ModelComparison | None = None
    withheld = False
    with opened() as rag:
        work = rag.reembedding
        if model is not None:
            with screen.progress("embedding", work.chunks()) as update:
                seen = 0

                def told(done: int, _of: int) -> None:
                    nonlocal seen
                    update(done - seen)
                    seen = done

                work.fill(model, pause=pause, allow_truncation=allow_truncation, said=screen.say, on_progress=told)
            comparison = _compared(screen, rag, tenant, sample)
            withheld = min_recall is not None and (comparison is None or (comparison.recall or 0.0) < min_recall)
            found = work.status()
            if found.state == "filling" and switch and not withheld:  # not where what was missing was made up for
                found = work.switch()
        elif rollback:
            found = work.rollback()
        elif finish:
            found = work.finish(said=screen.say)
        elif abort:
            found = work.abort(said=screen.say)
        else:
            found = work.status()
    _show(screen, found, comparison, json=json)
    if withheld:
        screen.say("The index of the new model finds less than --min-recall asks for: the model in force stays.")
        raise typer.Exit(FAILED)


def _compared(screen: Output, rag: Rag, tenant: str | None, sample: int | None) -> ModelComparison | None:
    from oraclerag.errors import InputError, MissingTenant

    try:
        return rag.reembedding.compare(scope=scope(tenant, None, None, manager=True), sample=sample)
    except MissingTenant:
        screen.say("Questions were not compared: name a tenant whose questions are asked (--tenant).")
    except InputError as error:  # nothing there to ask
        screen.say(f"Questions were not compared: {error.message}")
    return None


def _show(screen: Output, found: ModelSwitch, comparison: ModelComparison | None, *, json: bool) -> None:
    from oraclerag.console import record

    if json:
        screen.data({**record(found), "comparison": comparison})
        return
    facts = {"in force": f"{found.model} in {found.column}"}
    if found.second_model is not None and found.state != "unfinished":
        what = "to come" if found.state == "filling" else "before, kept"
        facts[what] = f"{found.second_model} in {found.second_column}: {found.filled:,} of {found.chunks:,} chunks"
    if comparison is not None and comparison.overlap is not None:
        facts["compared"] = (
            f"{comparison.questions} questions ({comparison.origin}), {comparison.k} nearest: {comparison.overlap:.0%} "
            f"the same, the first {comparison.same_first:.0%}"
        )
        facts["recall of its index"] = f"{comparison.recall:.3f}, of the other {comparison.recall_now:.3f}"
    screen.facts(facts)
    if found.next_step is not None:
        screen.say(f"Next: {found.next_step}")
    else:
        screen.say("No switch is under way.")
