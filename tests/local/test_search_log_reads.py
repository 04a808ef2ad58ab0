"""What is read out of the search log, said of it and forgotten; figures against the same counted in Python."""

from __future__ import annotations

import datetime as dt
import random
import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import oracledb
import pytest

from oraclerag import Scope
from oraclerag.errors import InputError
from oraclerag.rag import Rag
from oraclerag.records import LoggedHit, LoggedSearch, SourceKey, Turn
from oraclerag.searches import Figures, Latency, purge
from tests.local.conftest import Account
from tests.local.library import settings_of

pytestmark = pytest.mark.one_size

MANAGER = Scope(tenant="acme", manager=True)
ADA = Scope(tenant="acme", owner="ada")
JSON = ("asked_as", "options", "timings")


@pytest.fixture(scope="module")
def installed(module_account: Account) -> Iterator[Rag]:
    with Rag(settings_of(module_account)) as opened:
        opened.migrate()
        yield opened


@pytest.fixture
def rag(installed: Rag) -> Rag:
    with installed.database.transaction() as connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM RAG_SEARCH")
    return installed


def log(rag: Rag, *, age: float = 0.0, hits: int | tuple[str, ...] = 0, **columns: Any) -> int:
    """Write an entry that is ``age`` days old; ``hits`` are entities of tasks, or keys of others."""
    keys = tuple(f"task:{number}" for number in range(hits)) if isinstance(hits, int) else hits
    values = {
        "tenant_id": "acme", "kind": "ask", "asked_role": "principal", "asked_by": "ada", "asked_as": ["ada"],
        "question": "Why is it late?", "outcome": "answered", "hits": len(keys), **columns,
    }  # fmt: skip
    with rag.database.transaction() as connection, connection.cursor() as cursor:
        number = cursor.var(int)
        cursor.setinputsizes(**{name: oracledb.DB_TYPE_JSON for name in JSON if name in values})
        cursor.execute(
            f"INSERT INTO RAG_SEARCH (ASKED_AT, {', '.join(values)}) VALUES (SYS_EXTRACT_UTC(SYSTIMESTAMP) - "
            f"NUMTODSINTERVAL(:age, 'DAY'), {', '.join(f':{name}' for name in values)}) "
            "RETURNING SEARCH_ID INTO :made",
            {**values, "age": age, "made": number},
        )
        made: int = number.getvalue()[0]
        for rank, key in enumerate(keys, 1):
            source, _, entity = key.partition(":")
            cursor.execute(
                "INSERT INTO RAG_SEARCH_HIT (SEARCH_ID, HIT_RANK, TENANT_ID, CHUNK_ID, SOURCE_TYPE, SOURCE_ID, CHUNK_NO, "
                "DISTANCE, IN_PROMPT) VALUES (:1, :2, :3, :4, :5, :6, 0, :7, 1)",
                [made, rank, values["tenant_id"], 100 + rank, source, entity, rank / 10],
            )
    return made


def test_everything_that_was_logged_is_shown(rag: Rag) -> None:
    number = log(
        rag, hits=2, session_name="talk", question="And then?", standalone="What comes then?", reduced="comes then",
        reduced_by="rules", options={"k": 3, "min_score": 0.25, "filter": {"module": ["AP"]}, "prompt": {"max_chunks": 4}},
        search_mode="exact", physical_name="TINY_1", k=3, prompt="P" * 40_000, answer="It ends. [^1]", generator="llm",
        prompt_tokens=10, answer_tokens=20, cited=1, uncited=0, unsupported=0, timings={"search": 0.5, "cite": 1},
        seconds=1.75,
    )  # fmt: skip
    found = rag.searches.show(number, scope=ADA)
    assert isinstance(found.asked_at, dt.datetime)
    assert found == LoggedSearch(
        search_id=number, tenant="acme", kind="ask", asked_role="principal", outcome="answered", asked_by="ada",
        asked_at=found.asked_at, asked_as=("ada",), session="talk", question="And then?", standalone="What comes then?",
        reduced="comes then", reduced_by="rules",
        options={"k": 3, "min_score": 0.25, "filter": {"module": ["AP"]}, "prompt": {"max_chunks": 4}}, mode="exact",
        model="TINY_1", k=3, found=2, prompt="P" * 40_000, answer="It ends. [^1]", generator="llm", prompt_tokens=10,
        answer_tokens=20, cited=1, uncited=0, unsupported=0, timings={"search": 0.5, "cite": 1.0}, seconds=1.75,
        hits=tuple(
            LoggedHit(rank, SourceKey("task", str(rank - 1), "acme"), 0, rank / 10, 100 + rank, in_prompt=True)
            for rank in (1, 2)
        ),
    )  # fmt: skip
    assert type(found.options["k"]) is int
    assert rag.searches.turns("talk", scope=ADA) == [Turn("And then?", "What comes then?", "It ends. [^1]")]
    [listed] = rag.searches.list(scope=ADA)
    assert (listed.search_id, listed.question, listed.prompt, listed.hits) == (number, "And then?", None, ())


def test_the_newest_come_first_and_can_be_chosen(rag: Rag) -> None:
    old = log(rag, age=3, session_name="a")
    failed = log(rag, age=2, outcome="failed", session_name="b")
    search = log(rag, age=1, kind="search", outcome="found", session_name="a")

    def numbers(**choice: Any) -> list[int]:
        return [one.search_id for one in rag.searches.list(scope=ADA, **choice)]

    assert numbers() == [search, failed, old]
    assert numbers(limit=2) == [search, failed]
    assert numbers(session="a") == [search, old]
    assert numbers(outcome="failed") == [failed]
    assert numbers(kind="search") == [search]
    asked_at = rag.searches.show(failed, scope=ADA).asked_at
    assert numbers(since=asked_at) == [search, failed]
    assert numbers(since=asked_at + dt.timedelta(microseconds=1)) == [search]
    aware = asked_at.replace(tzinfo=dt.UTC).astimezone(dt.timezone(dt.timedelta(hours=5)))
    assert numbers(since=aware, session="a", kind="search", outcome="found") == [search]
    for wrong in ({"limit": 0}, {"kind": "chat"}, {"outcome": "good"}, {"session": " "}, {"since": "yesterday"}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            rag.searches.list(scope=ADA, **wrong)


def test_turns_are_the_last_that_were_kept_oldest_first(rag: Rag) -> None:
    for number in range(5):
        log(rag, question=f"Question {number}", session_name="talk")
    log(rag, question=None, question_hash="0" * 64, session_name="talk")
    log(rag, question="Nothing came of it", outcome="failed", session_name="talk")
    log(rag, question="Only searched for", kind="search", outcome="found", session_name="talk")
    log(rag, question="Elsewhere", session_name="another")
    log(rag, question="Of a colleague", asked_by="ben", asked_as=["ada"], session_name="talk")
    assert [turn.question for turn in rag.searches.turns("talk", scope=ADA, last=2)] == ["Question 3", "Question 4"]
    assert len(rag.searches.turns("talk", scope=ADA)) == 3
    assert rag.searches.turns("talk", scope=MANAGER) == []
    for wrong in (0, 101, True):
        with pytest.raises(InputError, match="last"):
            rag.searches.turns("talk", scope=ADA, last=wrong)


def test_what_was_said_of_an_answer_is_kept_and_replaced(rag: Rag) -> None:
    number = log(rag)
    rag.feedback(number, good=False, note="  It cites\x1b[2J the wrong year. ", scope=ADA)
    found = rag.searches.show(number, scope=ADA)
    assert (found.feedback, found.feedback_note) == (False, "It cites\x1b[2J the wrong year.")
    assert found.feedback_at is not None
    rag.searches.feedback(number, True, "é" * 2000, scope=MANAGER)
    assert rag.searches.show(number, scope=ADA).feedback_note == "é" * 2000
    rag.feedback(number, good=True, scope=ADA)
    assert rag.searches.show(number, scope=ADA).feedback_note is None
    with pytest.raises(InputError, match="note has 4,001 bytes; 4,000 are the most"):
        rag.feedback(number, good=True, note="x" * 4001, scope=ADA)
    with pytest.raises(InputError, match="good must be True or False"):
        rag.feedback(number, good="no", scope=ADA)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="There is no logged search"):
        rag.feedback(number, good=True, scope=Scope(tenant="acme", owner="ben"))


def percentile(values: list[float], part: float) -> float:
    place = part * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return sorted(values)[low] * (1 - place + low) + sorted(values)[high] * (place - low)


def test_figures_are_what_counting_gives(rag: Rag) -> None:
    chance = random.Random(7)
    entries = []
    for _ in range(60):
        kind = chance.choice(("search", "ask", "diagnose"))
        outcome = chance.choice(("found", "nothing") if kind == "search" else ("answered", "truncated", "no_grounds"))
        outcome = "failed" if chance.random() < 0.2 else outcome
        answered = outcome in ("answered", "truncated")
        entry: dict[str, Any] = {
            "tenant_id": chance.choice(("acme", "globex")), "kind": kind, "outcome": outcome,
            "hits": chance.choice(((), ("task:1",), ("resolution:1", "task:2"))),
            "age": chance.choice((0.5, 1.5, 9.5)), "seconds": chance.random(),
            "timings": {"search": chance.random()} | ({"generate": chance.random()} if answered else {}),
            "generator": None if kind == "search" else chance.choice(("llm", "extractive")),
            "cited": chance.randrange(2) if answered else None, "uncited": chance.randrange(3) if answered else None,
            "feedback": chance.choice((None, 0, 1)),
        }  # fmt: skip
        entries.append(entry)
        log(rag, **entry)

    def check(found: Figures, chosen: list[dict[str, Any]], days: float) -> None:
        def many(**values: Any) -> int:
            return sum(all(entry[name] in value for name, value in values.items()) for entry in chosen)

        written = ("answered", "truncated")
        assert found.count == len(chosen)
        assert found.per_day == pytest.approx(len(chosen) / days, rel=1e-3)
        assert found.questions == many(kind=("ask", "diagnose"))
        assert found.answered == many(outcome=written)
        assert found.truncated == many(outcome=("truncated",))
        assert found.no_grounds == many(outcome=("no_grounds",))
        assert found.failed == many(outcome=("failed",))
        assert found.matched == sum(
            entry["outcome"] != "failed"
            and bool("resolution:1" in entry["hits"] if entry["kind"] == "diagnose" else entry["hits"])
            for entry in chosen
        )
        assert found.uncited == many(outcome=written, cited=(0,))
        assert found.sentences_cited == sum(entry["cited"] or 0 for entry in chosen)
        assert found.sentences_uncited == sum(entry["uncited"] or 0 for entry in chosen)
        assert (found.good, found.bad) == (many(feedback=(1,)), many(feedback=(0,)))
        series = {"total": [entry["seconds"] for entry in chosen]}
        for step in ("search", "generate"):
            series[step] = [entry["timings"][step] for entry in chosen if step in entry["timings"]]
        assert set(found.latency) == {step for step, values in series.items() if values}
        for step, latency in found.latency.items():
            assert latency.p50 == pytest.approx(statistics.median(series[step]))
            for measured, part in ((latency.p90, 0.9), (latency.p95, 0.95), (latency.p99, 0.99)):
                assert measured == pytest.approx(percentile(series[step], part))

    whole = rag.search_statistics()
    check(whole.total, entries, 9.5)
    for divisions, name in ((whole.tenants, "tenant_id"), (whole.kinds, "kind"), (whole.generators, "generator")):
        assert {part.name for part in divisions} == {entry[name] or "-" for entry in entries}
        for part in divisions:
            check(part, [entry for entry in entries if (entry[name] or "-") == part.name], 9.5)
    recent = rag.search_statistics(tenant="globex", days=2)
    check(recent.total, [one for one in entries if one["tenant_id"] == "globex" and one["age"] < 2], 2)
    assert [part.name for part in recent.tenants] == ["globex"]
    mine = rag.searches.stats(scope=MANAGER, since=dt.datetime.now(dt.UTC) - dt.timedelta(days=1))
    check(mine.total, [one for one in entries if one["tenant_id"] == "acme" and one["age"] < 1], 1)
    assert [part.name for part in mine.tenants] == ["acme"]


def test_figures_of_nothing_are_none_and_of_a_tenant_are_a_managers(rag: Rag) -> None:
    found = rag.search_statistics()
    assert found.total == Figures(name="*")
    assert set(found.total.shares.values()) == {None}
    assert (found.tenants, found.days) == ((), 1.0)
    log(rag, seconds=0.25, timings={})
    assert rag.search_statistics().total.latency == {"total": Latency(0.25, 0.25, 0.25, 0.25)}
    with pytest.raises(InputError, match="the scope of a manager"):
        rag.searches.stats(scope=ADA)
    for wrong in ({"days": 0}, {"days": 1, "since": dt.date(2026, 1, 1)}, {"since": "yesterday"}):
        with pytest.raises(InputError, match=r"days|since"):
            rag.search_statistics(**wrong)


def test_what_is_old_is_forgotten_slice_by_slice(rag: Rag) -> None:
    for age in (100, 80, 60, 95):
        for tenant in ("acme", "globex"):
            log(rag, age=age, tenant_id=tenant, hits=2, answer="It is.", feedback_note="Good.")
    cleared = purge(rag.database, dt.timedelta(days=90), texts_only=True, slice_size=3)
    assert (cleared.searches, cleared.hits, cleared.texts) == (0, 0, 4)
    assert purge(rag.database, dt.timedelta(days=90), texts_only=True).texts == 0
    listed = rag.searches.list(scope=MANAGER)
    assert [one.question for one in listed] == ["Why is it late?", "Why is it late?", None, None]
    shown = rag.searches.show(listed[-1].search_id, scope=MANAGER)
    assert (shown.answer, shown.feedback_note, shown.outcome, len(shown.hits)) == (None, None, "answered", 2)
    gone = purge(rag.database, dt.timedelta(days=90), tenant="acme", slice_size=1)
    assert (gone.searches, gone.hits, gone.texts) == (2, 4, 0)
    assert purge(rag.database, dt.timedelta(days=90), tenant="acme").searches == 0
    assert [one.search_id for one in rag.searches.list(scope=MANAGER)] == [one.search_id for one in listed[:2]]
    with pytest.raises(InputError, match="Nothing says how old"):
        rag.purge_searches()
    for wrong in (dt.timedelta(days=-1), 90):
        with pytest.raises(InputError, match="older_than"):
            rag.purge_searches(wrong)  # type: ignore[arg-type]
    with Rag(replace(rag.settings, searches_keep_days=70)) as other:
        assert other.purge_searches().searches == 4
    assert len(rag.searches.list(scope=MANAGER)) == 1


def test_with_the_texts_goes_the_vector_which_gives_a_question_away(rag: Rag) -> None:
    with_text = log(rag, age=100, options={"vector": [0.5, 1.0], "k": 3})
    log(rag, age=100, question=None, options={"vector": [0.5, 1.0]})
    log(rag, age=100, question=None, options={"k": 3})
    assert purge(rag.database, dt.timedelta(days=90), texts_only=True).texts == 2
    assert purge(rag.database, dt.timedelta(days=90), texts_only=True).texts == 0
    assert rag.searches.show(with_text, scope=ADA).options == {"k": 3}
    with pytest.raises(InputError, match="its text was cleared"):
        rag.searches.replay(with_text, scope=ADA)


@pytest.mark.parametrize("broken", [[1, "x"], 5, "x", {"search": "soon", "k": None}, {"a": {"b": []}}])
def test_an_entry_whose_json_is_not_what_it_was_is_shown(rag: Rag, broken: Any) -> None:
    """The columns are open to whoever may change the table; the rest of the entry is worth seeing."""
    number = log(rag, options=broken, timings=broken)
    found = rag.searches.show(number, scope=ADA)
    assert found.timings == {}
    assert isinstance(found.options, dict)
    assert len(rag.searches.list(scope=ADA)) == 1
    assert purge(rag.database, dt.timedelta(0), texts_only=True).texts == 1
    log(rag, asked_as=broken)
    assert len(rag.searches.list(scope=MANAGER)) == 2


@pytest.mark.parametrize(
    "options",
    [{"nonsense": 1}, {"scope": "x"}, {"connection": 1}, {"log": True}, {"since": 5}, {"until": "soon"}, {"prompt": 3}],
)
def test_an_entry_whose_options_no_search_takes_is_not_run_again(rag: Rag, options: dict[str, Any]) -> None:
    number = log(rag, options=options)
    with pytest.raises(InputError, match=f"{next(iter(options))}.*what no search takes"):
        rag.searches.replay(number, scope=ADA)


def test_an_entry_whose_prompt_no_question_takes_is_not_asked_again(rag: Rag) -> None:
    number = log(rag, options={"prompt": {"nonsense": 1}})
    with pytest.raises(InputError, match="nonsense"):
        rag.searches.replay(number, scope=ADA, answer=True)
