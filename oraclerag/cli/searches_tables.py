"""How the search log looks on a screen: entries, one of them, what is otherwise now, figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.records import LoggedSearch
    from oraclerag.searches import Figures, SearchReplay, SearchStatistics

__all__ = ["replayed", "show_list", "show_one", "show_replay", "show_statistics", "with_shares"]


def show_list(screen: Output, found: list[LoggedSearch]) -> None:
    """Print entries, one a line."""
    from oraclerag.console import one_line

    if screen.json:
        screen.data(found)
    elif not found:
        screen.say("Nothing is logged that this scope may see.")
    else:
        screen.table(
            ("id", "asked (UTC)", "kind", "by", "outcome", "hits", "", "question"),
            (
                (
                    one.search_id,
                    f"{one.asked_at:%Y-%m-%d %H:%M}",
                    one.kind,
                    one_line(_who(one), 12),
                    one.outcome,
                    one.found,
                    {True: "+", False: "-", None: ""}[one.feedback],
                    one_line(_question(one)),
                )
                for one in found
            ),
            right=("id", "hits"),
        )


def show_one(screen: Output, found: LoggedSearch) -> None:
    """Print all of an entry."""
    from oraclerag.console import to_json

    said = {True: "good", False: "bad", None: None}[found.feedback]
    facts = {
        "search": f"{found.search_id} ({found.kind})",
        "tenant": found.tenant,
        "asked": f"{found.asked_at:%Y-%m-%d %H:%M:%S} UTC by {_who(found)} ({found.asked_role})",
        "as": ", ".join(found.asked_as) or None,
        "session": found.session,
        "hash": found.question_hash,
        "reduced by": found.reduced_by,
        "options": to_json(found.options, indent=None) if found.options else None,
        "mode": found.mode,
        "model": found.model,
        "hits": f"{found.found or 0}" + ("" if found.k is None else f" of at most {found.k}"),
        "generator": found.generator,
        "tokens": None
        if found.prompt_tokens is None and found.answer_tokens is None
        else f"{_number(found.prompt_tokens)} in the prompt, {_number(found.answer_tokens)} in the answer",
        "sentences": f"{found.cited} cite, {found.uncited} do not, {found.unsupported} say little of what they cite"
        if found.cited is not None
        else None,
        "outcome": found.outcome
        + (f": {found.error_code} at step {found.failed_step}" if found.error_code is not None else ""),
        "time": _times(found),
        "feedback": None if said is None else f"{said}, {found.feedback_at:%Y-%m-%d %H:%M} UTC",
    }
    screen.facts({name: value for name, value in facts.items() if value is not None})
    if found.hits:
        screen.table(
            ("#", "hit", "score", "in the prompt", "cited"),
            (
                (
                    hit.rank,
                    hit.key,
                    "-" if hit.distance is None else f"{1 - hit.distance:.3f}",
                    "yes" if hit.in_prompt else "",
                    "yes" if hit.cited else "",
                )
                for hit in found.hits
            ),
            right=("#", "score"),
        )
    for name in ("question", "standalone", "reduced", "prompt", "answer", "feedback_note"):
        text = getattr(found, name)
        if text is not None:
            screen.write(f"\n-- {name.replace('_', ' ')}\n{text}")


def replayed(found: SearchReplay) -> dict[str, Any]:
    """Give a replay for JSON, with what follows from it."""
    from oraclerag.console import record

    return {
        "changed": found.changed,
        "model_changed": found.model_changed,
        "outcome_changed": found.outcome_changed,
        **record(found),
    }


def show_replay(screen: Output, found: SearchReplay) -> None:
    """Print what is otherwise now."""
    facts = {
        "hits": f"{found.kept} as before, {len(found.came)} came, {len(found.went)} went, {len(found.moved)} moved",
        "model": f"{found.model_before or '-'} → {found.model or '-'}" if found.model_changed else "as before",
        "outcome": f"{found.logged.outcome} → {found.outcome}" if found.outcome_changed else "as before",
        "answer": {None: None, True: "another text", False: "the same text"}[found.answer_changed],
    }
    screen.facts({name: value for name, value in facts.items() if value is not None})
    rows: list[tuple[str, str, Any, Any, str, str]] = []
    rows += [("came", hit.key, "", hit.rank, "", f"{hit.distance:.4f}") for hit in found.came]
    rows += [("went", hit.key, hit.rank, "", _distance(hit.distance), "") for hit in found.went]
    rows += [
        ("moved", hit.key, hit.rank_before, hit.rank, _distance(hit.distance_before), f"{hit.distance:.4f}")
        for hit in found.moved
    ]
    numbers = ("# then", "# now", "distance then", "distance now")
    if rows:
        screen.table(("", "hit", *numbers), rows, right=numbers)
    steps = _steps([*found.seconds_before, *found.seconds])
    screen.table(
        ("step", "ms then", "ms now"),
        ((step, _ms(found.seconds_before.get(step)), _ms(found.seconds.get(step))) for step in steps),
        right=("ms then", "ms now"),
    )
    if found.answer is not None:
        screen.write(f"\n-- answer now\n{found.answer.text}")
        if found.answer.references:
            screen.write(f"\n{found.answer.references}")
    screen.say("Something changed." if found.changed else "Nothing changed.")


def with_shares(found: SearchStatistics) -> dict[str, Any]:
    """Give figures for JSON, with the shares beside the numbers."""
    from oraclerag.console import record

    def shared(part: Figures) -> dict[str, Any]:
        return {**record(part), "shares": part.shares}

    return {
        "since": found.since,
        "until": found.until,
        "days": found.days,
        "total": shared(found.total),
        "tenants": [shared(part) for part in found.tenants],
        "kinds": [shared(part) for part in found.kinds],
        "generators": [shared(part) for part in found.generators],
    }


def show_statistics(screen: Output, found: SearchStatistics) -> None:
    """Print figures: in total and part by part, and how long the steps took."""
    screen.facts(
        {
            "from": f"{found.since:%Y-%m-%d %H:%M} UTC",
            "to": f"{found.until:%Y-%m-%d %H:%M} UTC",
            "days": f"{found.days:,.1f}",
        }
    )
    parts = [("total", found.total)]
    parts += [(f"tenant {part.name}", part) for part in found.tenants]
    parts += [(f"kind {part.name}", part) for part in found.kinds]
    parts += [(f"by {part.name}", part) for part in found.generators if part.name != "-"]
    shares = ("matched", "answered", "no_grounds", "uncited", "failed")
    columns = ("of", "count", "a day", *(name.replace("_", " ") for name in shares), "+/-")
    screen.table(
        columns,
        (
            (
                _cut(name, 16),
                f"{part.count:,}",
                f"{part.per_day:,.1f}",
                *(_percent(part.shares[share]) for share in shares),
                f"{part.good:,}/{part.bad:,}",
            )
            for name, part in parts
        ),
        right=columns[1:],
    )
    latencies = [(name, part.latency["total"]) for name, part in parts if "total" in part.latency]
    latencies += [(f"step {step}", latency) for step, latency in found.total.latency.items() if step != "total"]
    if latencies:
        columns = ("of", "p50 ms", "p90 ms", "p95 ms", "p99 ms")
        screen.table(
            columns,
            (
                (_cut(name, 40), *map(_ms, (latency.p50, latency.p90, latency.p95, latency.p99)))
                for name, latency in latencies
            ),
            right=columns[1:],
        )
    uncited = found.total.shares["sentences_uncited"]
    if uncited is not None:
        screen.say(f"Of the sentences of answers {_percent(uncited)} cite no source.")


def _who(found: LoggedSearch) -> str:
    return found.asked_by or ("a manager" if found.asked_role == "manager" else ", ".join(found.asked_as) or "anyone")


def _question(found: LoggedSearch) -> str:
    if found.question is not None:
        return found.question
    return f"(hash {found.question_hash[:12]})" if found.question_hash else "(not kept)"


def _times(found: LoggedSearch) -> str | None:
    steps = ", ".join(f"{step} {_ms(found.timings[step])}" for step in _steps(found.timings))
    if found.seconds is None:
        return steps or None
    return f"{_ms(found.seconds)} ms" + (f" ({steps})" if steps else "")


def _ms(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1000:.1f}" if seconds < 0.01 else f"{seconds * 1000:,.0f}"


def _steps(timings: Iterable[str]) -> list[str]:
    """Give the names of steps in the order in which they are taken."""
    from oraclerag.searches.statistics import STEPS

    return sorted(dict.fromkeys(timings), key=lambda step: STEPS.index(step) if step in STEPS else len(STEPS))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.0f} %"


def _distance(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"
