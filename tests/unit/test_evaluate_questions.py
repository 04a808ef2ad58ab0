"""What can be evaluated is read whole or not at all, and what is wrong is said with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.errors import InputError
from oraclerag.evaluate import Question, Relevant, load
from oraclerag.evaluate.questions import named
from oraclerag.records import SourceKey


def lines(tmp_path: Path, *rows: Any, name: str = "q.jsonl") -> Path:
    file = tmp_path / name
    file.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return file


def test_a_question_with_everything(tmp_path: Path) -> None:
    file = lines(
        tmp_path,
        {
            "id": "q1",
            "question": "Why?",
            "relevant": ["task:42", "task:43:0", {"source": "task:44", "grade": 2}, {"source": "file:a:1", "chunk": None},
                         {"source": "task:45", "chunk": 3, "grade": 0}],
            "expected": "Because.",
            "filter": {"project": "AP"},
            "codes": ["ORA-01652"],
        },
        "",
        {"question": "¿Y esto?"},
    )  # fmt: skip
    found = load(file)
    assert found.name == "q.jsonl"
    assert found.questions == (
        Question(
            "q1",
            "Why?",
            (
                Relevant(SourceKey("task", "42")),
                Relevant(SourceKey("task", "43"), 0),
                Relevant(SourceKey("task", "44"), None, 2.0),
                Relevant(SourceKey("file", "a:1")),
                Relevant(SourceKey("task", "45"), 3, 0.0),
            ),
            "Because.",
            {"project": "AP"},
            ("ORA-01652",),
            "q.jsonl, line 1",
        ),
        Question("3", "¿Y esto?", place="q.jsonl, line 3"),
    )
    assert found.questions[0].judged == {"task:42": 1, "task:43:0": 1, "task:44": 2, "file:a:1": 1, "task:45:3": 0}


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("{", "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"question": "a", "question": "b"}', "a key twice"),
        ('{"question": "a", "relevant": [{"source": "t:1", "grade": NaN}]}', "no number"),
        ({}, '"question" must be'),
        ({"question": " "}, '"question" must be'),
        ({"question": "a", "relevants": []}, "'relevants' is no key"),
        ({"question": "a", "id": ""}, '"id" must be'),
        ({"question": "a", "id": True}, '"id" must be'),
        ({"question": "a", "expected": ""}, '"expected" must be'),
        ({"question": "a", "filter": []}, '"filter" must be'),
        ({"question": "a", "codes": []}, '"codes" must be'),
        ({"question": "a", "relevant": "task:1"}, '"relevant" must be a list'),
        ({"question": "a", "relevant": ["task"]}, "'task' names nothing"),
        ({"question": "a", "relevant": [":1"]}, "':1' names nothing"),
        ({"question": "a", "relevant": [7]}, "must be a key or an object"),
        ({"question": "a", "relevant": [{"grade": 1}]}, "must be a key or an object"),
        ({"question": "a", "relevant": [{"source": "t:1", "weight": 1}]}, "must be a key or an object"),
        ({"question": "a", "relevant": [{"source": "t:1", "grade": "high"}]}, "a grade must be a number"),
        ({"question": "a", "relevant": [{"source": "t:1", "grade": True}]}, "a grade must be a number"),
        ({"question": "a", "relevant": [{"source": "t:1", "grade": 1e300}]}, "a grade must be a number"),
        ({"question": "a", "relevant": [{"source": "t:1", "chunk": -1}]}, '"chunk" must be'),
        ({"question": "a", "relevant": ["t:1", {"source": "t:1", "grade": 2}]}, "named twice"),
        ({"question": "a", "relevant": ["t:1", "t:1:0"]}, "as a whole and by its chunk"),
        ({"question": "a", "relevant": [f"{'t' * 31}:1"]}, "type of a SourceKey"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, row: Any, rule: str) -> None:
    file = lines(tmp_path, {"question": "fine"}, row)
    with pytest.raises(InputError) as caught:
        load(file)
    assert caught.value.message.startswith("q.jsonl, line 2: ")
    assert rule in caught.value.message


def test_ids_are_each_of_one_question(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"q\.jsonl, line 2: the id 'x' stands in q\.jsonl, line 1 already"):
        load(lines(tmp_path, {"id": "x", "question": "a"}, {"id": "x", "question": "b"}))


def test_files_that_are_none(tmp_path: Path) -> None:
    for file, rule in (
        (tmp_path / "absent.jsonl", "There is no file"),
        (lines(tmp_path, name="empty.jsonl"), "holds no question"),
        (lines(tmp_path, "x", name="q.docx"), "none of what can be evaluated"),
        (tmp_path, "holds no judgements"),
    ):
        with pytest.raises(InputError, match=rule):
            load(file)
    bad = tmp_path / "latin.jsonl"
    bad.write_bytes('{"question": "a"}\n{"question": "ñ"}\n'.encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.jsonl, line 2: not UTF-8"):
        load(bad)
    broken = tmp_path / "q.jsonl.gz"
    broken.write_bytes(b"\x1f\x8b nothing")
    with pytest.raises(InputError, match="cannot be read"):
        load(broken)


@given(st.text(min_size=1, max_size=20))
def test_a_key_is_read_as_hits_have_it_or_refused(text: str) -> None:
    try:
        one = named(text, "here")
    except InputError:
        return
    assert named(one.key, "here") == one
    assert text.startswith(str(one.source))


# -- collections ------------------------------------------------------------------------------------------------------

QUERIES = [{"_id": "1", "text": "one"}, {"_id": 2, "text": "two"}, {"_id": "3", "text": "not judged"}]
QRELS = "query-id\tcorpus-id\tscore\n1\td1\t1\n1\td2\t0\n2\td:7\t2\n"


def beir(tmp_path: Path) -> Path:
    (tmp_path / "qrels").mkdir()
    lines(tmp_path, *QUERIES, name="queries.jsonl")
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS)
    return tmp_path


def test_a_folder_of_beir(tmp_path: Path) -> None:
    found = load(beir(tmp_path), source="passage")
    assert [(question.id, question.text, dict(question.judged)) for question in found.questions] == [
        ("1", "one", {"passage:d1": 1, "passage:d2": 0}),
        ("2", "two", {"passage:d:7": 2}),
    ]
    assert found.name == "qrels/test.tsv"
    assert found.notes == ("1 questions of queries.jsonl have no judgements in test.tsv and are not asked.",)


def test_judgements_alone_packed_questions_and_the_form_of_trec(tmp_path: Path) -> None:
    folder = beir(tmp_path)
    asked = load(folder, source="passage").questions
    assert load(folder / "qrels" / "test.tsv", source="passage").questions == asked
    (folder / "queries.jsonl.gz").write_bytes(gzip.compress((folder / "queries.jsonl").read_bytes()))
    (folder / "queries.jsonl").unlink()
    packed = load(folder, source="passage").questions
    assert [question.judged for question in packed] == [question.judged for question in asked]
    trec = folder / "trec.qrels"
    trec.write_text("1 0 passage:d1 1\n2 0 passage:x 2\n")
    assert [dict(question.judged) for question in load(trec).questions] == [{"passage:d1": 1}, {"passage:x": 2}]


@pytest.mark.parametrize(
    ("qrels", "rule"),
    [
        ("1\td1\n", "test.tsv, line 1: 2 columns"),
        ("1\td1\tgood\n", "test.tsv, line 1: the score 'good' is no number"),
        ("1\td1\tinf\n", "test.tsv, line 1: a grade must be"),
        ("1\td1\t1\n1\td1\t1\n", "test.tsv, line 2: 'd1' is judged twice"),
        ("1\t\t1\n", "test.tsv, line 1: an id is empty"),
        ("9\td1\t1\n", "judges the question '9', which queries.jsonl does not have"),
        ("query-id\tcorpus-id\tscore\n", "holds no judgement"),
    ],
)
def test_judgements_that_are_none(tmp_path: Path, qrels: str, rule: str) -> None:
    folder = beir(tmp_path)
    (folder / "qrels" / "test.tsv").write_text(qrels)
    with pytest.raises(InputError) as caught:
        load(folder, source="passage")
    assert rule in caught.value.message


def test_a_collection_needs_to_know_whose_ids_these_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: 'd1' names nothing") as caught:
        load(beir(tmp_path))
    assert caught.value.hint == "--source names the source whose ids these are."
    with pytest.raises(InputError, match="not of lines of JSON"):
        load(lines(tmp_path, {"question": "a"}), source="passage")
    with pytest.raises(InputError, match=r"neither qrels/dev\.tsv nor qrels\.tsv"):
        load(tmp_path, split="dev")
    with pytest.raises(InputError, match="split must be"):
        load(tmp_path, split="../x")
