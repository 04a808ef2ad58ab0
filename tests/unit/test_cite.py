"""Citations: anchors of every form become footnotes, what is none stays, and what rests on nothing is counted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag.cite import cite, references
from oraclerag.errors import InputError
from oraclerag.records import Citation, Hit, PromptSource, SourceKey, Support

CONTENT = "The payment run failed because the tablespace had no free space; a datafile was added."


def source(
    anchor: str, number: int, *, entity: str | None = None, content: str = CONTENT, chunk: int = 0
) -> PromptSource:
    return PromptSource(
        anchor,
        Hit(
            rank=number,
            chunk_id=number,
            source=SourceKey("task", entity or str(number)),
            chunk_number=chunk,
            content=content,
            distance=0.1,
            title=f"Title {number}",
            url=f"https://tracker.example/{number}",
        ),
    )


BRACKETS = [source(f"[{number}]", number) for number in (1, 2, 3)]
HASHES = [source(f"##{number}##", number) for number in (2272, 2357, 3383)]


def cited(answer: str, sources: list[PromptSource], **more: Any) -> tuple[str, list[str], Support]:
    text, citations, support = cite(answer, sources, **more)
    assert [citation.number for citation in citations] == sorted({citation.number for citation in citations})
    return text, [citation.source.id for citation in citations], support


@pytest.mark.parametrize(
    ("answer", "text", "ids"),
    [
        ("A [1].", "A [^1].", "1"),
        ("A [2], B [1], C [2].", "A [^1], B [^2], C [^1].", "2 1"),
        ("A [1, 3].", "A [^1][^2].", "1 3"),
        ("A [2-3], [1–2].", "A [^1][^2][^3].", "2 3 1"),
        ("A [3-2].", "A [^1][^2].", "2 3"),
        ("A ［1，2］、［３］。", "A [^1][^2][^3]。", "1 2 3"),
        ("A 【2】 B 【1†source】.", "A [^1] B [^2].", "2 1"),
        ("A [1][2] B [1] [1].", "A [^1][^2] B [^1].", "1 2"),
        ("A ([1]), B (1).", "A [^1], B (1).", "1"),
        ("A [Source 1, source 2] y [fuente 3].", "A [^1][^2] y [^3].", "1 2 3"),
        ("A [1 and 2] [1 y 3].", "A [^1][^2][^3].", "1 2 3"),
        ("A [ 1 ].", "A [^1].", "1"),
        ("A [1] (see B) [2](see C)", "A [^1] (see B) [2](see C)", "1"),
        ("[1]: A", "[^1] : A", "1"),
        ("A\n[1]: B [2]: C", "A\n[^1] : B [^2]: C", "1 2"),
        ("A [9]. B [0], C [4-9] D", "A. B, C D", ""),
        ("A [1, 9].", "A [^1].", "1"),
        ("- [9] A", "- A", ""),
        ("year [2026], ORA-00600 [17147]", "year [2026], ORA-00600 [17147]", ""),
        ("`x[1]` ``a`[1]`` x[1] V$SESSION[1]", "`x[1]` ``a`[1]`` x[1] V$SESSION[^1]", "1"),
        ("A [2]\n```\na[1] = [2]\n```\n[1]", "A [^1]\n```\na[1] = [2]\n```\n[^2]", "2 1"),
        ("1. A\n   ~~~sql\n   a[1]\n   ~~~\nB [1]", "1. A\n   ~~~sql\n   a[1]\n   ~~~\nB [^1]", "1"),
        ("```\nnever closed [1]", "```\nnever closed [1]", ""),
        ("[text](http://h/[1]) [see [1]](http://h) ![1](a.png)", "[text](http://h/[1]) [see [1]](http://h) ![1](a.png)", ""),
        ("<http://h/[1]> http://h/a [1] https://h/bb[2]", "<http://h/[1]> http://h/a [^1] https://h/bb[^2]", "1 2"),
        ("own [^7] A [1]\n\n[^7]: mine", "own [^7] A [^1]\n\n[^7]: mine", "1"),
        ("own [^1][^2] A [1]", "own [^1][^2] A [^3]", "1"),
        ("A ##2272##", "A", ""),
        (r"A \[1\] [a] [] [-1] [1.5]", r"A \[1\] [a] [] [-1] [1.5]", ""),
    ],
)  # fmt: skip
def test_bracket_anchors(answer: str, text: str, ids: str) -> None:
    got, found, _ = cited(answer, BRACKETS)
    assert (got, found) == (text, ids.split())


@pytest.mark.parametrize(
    ("answer", "text", "ids"),
    [
        ("A ##2357##. B ##2272##.", "A [^1]. B [^2].", "2357 2272"),
        ("A ##2357##, ##2272##.", "A [^1][^2].", "2357 2272"),
        ("A ##2357## ##2272## B", "A [^1][^2] B", "2357 2272"),
        ("A ##2357####2272##.", "A [^1][^2].", "2357 2272"),
        ("A ##2357##2272##.", "A [^1][^2].", "2357 2272"),
        ("A ##2357, 2272## and ## 3383 ##.", "A [^1][^2] and [^3].", "2357 2272 3383"),
        ("A ##2357# and ##2272.", "A [^1] and [^2].", "2357 2272"),
        ("A ＃＃2357＃＃", "A [^1]", "2357"),
        ("A (##2357##) (##1##) B", "A [^1] B", "2357"),
        ("A ##1## B ##99999999999999999999999## C", "A B ##99999999999999999999999## C", ""),
        ("## 12 reasons\n\n##13 more\n#2357#", "## 12 reasons\n\n##13 more\n#2357#", ""),
        ("a[1] [2] [2357]", "a[1] [2] [2357]", ""),
        ("`##2357##`\n```\n##2357##\n```", "`##2357##`\n```\n##2357##\n```", ""),
        ("https://h/x##2357## [##2272##](http://h)", "https://h/x[^1] [##2272##](http://h)", "2357"),
        ("quoted ♯♯2357♯♯ ⟦1⟧", "quoted ##2357## [1]", ""),
    ],
)
def test_hash_anchors(answer: str, text: str, ids: str) -> None:
    got, found, _ = cited(answer, HASHES)
    assert (got, found) == (text, ids.split())


def test_the_same_anchor_five_times_is_one_citation() -> None:
    text, citations, _ = cite("A ##2272## B ##2272## C ##2272## D ##2272## E ##2272##", HASHES)
    assert text == "A [^1] B [^1] C [^1] D [^1] E [^1]"
    assert len(citations) == 1


def test_chunks_of_one_entity_are_one_citation_with_the_chunks_by_use() -> None:
    sources = [source("[1]", 1, entity="42", content="first"), source("[2]", 2, entity="42", content="second", chunk=5)]
    text, citations, _ = cite("A [2]. B [1][2].", sources)
    assert text == "A [^1]. B [^1]."
    assert citations == (
        Citation(
            1, SourceKey("task", "42"), "Title 2", "https://tracker.example/2", "second", ("task:42:5", "task:42:0")
        ),
    )
    assert "second" not in repr(citations)


def test_sources_beyond_the_limit_are_dropped_and_counted() -> None:
    text, ids, support = cited("A [1]. B [2]. C [3], D [2]. E [1].", BRACKETS, limit=1)
    assert (text, ids, support.dropped) == ("A [^1]. B. C, D. E [^1].", ["1"], 2)
    assert cited("A [1].", BRACKETS, limit=0)[:2] == ("A.", [])
    for limit in (-1, True, "3"):
        with pytest.raises(InputError):
            cite("A", [], limit=limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "sentences", "uncited", "unsupported", "unknown"),
    [
        ("", 0, 0, 0, 0),
        ("The tablespace had no free space [1].", 1, 0, 0, 0),
        ("The tablespace had no free space. [1] A new datafile was added [2].", 2, 0, 0, 0),
        ("The tablespace had no free space.\n[1]\n\nA datafile was later added.", 2, 1, 0, 0),
        ("The tablespace had no free space.[1]", 1, 0, 0, 0),
        ("The tablespace had no free space. [1]", 1, 0, 0, 0),
        ("> The tablespace had no free space. [1]\n\n> A new datafile was added. [2]", 2, 0, 0, 0),
        ("The tablespace had no free space.", 1, 1, 0, 0),
        ("The tablespace had no free space [9].", 1, 1, 0, 1),
        ("Purple elephants dance under moonlight every winter [1].", 1, 0, 1, 0),
        ("The payment runs fail: no free space in tablespaces, e.g. v. 12.2 of the datafiles [1].", 1, 0, 0, 0),
        ("Yes. See below. [1]", 0, 0, 0, 0),
        ("# Why the payment run failed\n\nThese reasons were found there:\n\n- See [1]\n- The payment run failed\n- A datafile was added\n  by the administrators [2]\n", 2, 1, 0, 0),
        ("Should another datafile be added there?", 0, 0, 0, 0),
        ("| What | Why |\n|---|---|\n| payment run failed | tablespace without free space [1] |", 1, 0, 0, 0),
        ("```sql\nALTER TABLESPACE users ADD DATAFILE SIZE 10M\n```", 0, 0, 0, 0),
        ("La ejecución de pagos falló. El espacio libre era insuficiente.", 2, 2, 0, 0),
    ],
)  # fmt: skip
def test_support(answer: str, sentences: int, uncited: int, unsupported: int, unknown: int) -> None:
    assert cite(answer, BRACKETS)[2] == Support(sentences, uncited, unsupported, unknown, 0)


def test_what_cited_chunks_say_together_supports_a_sentence() -> None:
    sources = [source("[1]", 1, content="alpha bravo"), source("[2]", 2, content="charlie delta")]
    sentence = "Zulu yankee xray whisky alpha bravo charlie delta"
    assert cite(f"{sentence} [1][2].", sources)[2].unsupported == 0
    assert cite(f"{sentence} [1].", sources)[2].unsupported == 1


def test_an_error_code_is_a_word_in_either_spelling() -> None:
    sources = [source("[1]", 1, content="ORA-942 was raised")]
    assert cite("ORA-00942 appeared twice [1].", sources)[2] == Support(1, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("title", "url", "line"),
    [
        ("Late payments", "https://h/1", "[^1]: [Late payments](<https://h/1>)"),
        (None, None, "[^1]: task:42"),
        ("", "https://h/1", "[^1]: [task:42](<https://h/1>)"),
        ("a](javascript:x) [b*_`c`", "https://h/1", r"[^1]: [a\](javascript:x) \[b\*\_\`c\`](<https://h/1>)"),
        ("<img src=x> & co\nline", None, "[^1]: &lt;img src=x&gt; &amp; co line (task:42)"),
        ("x", "javascript:alert(1)", "[^1]: x (task:42)"),
        ("x", "JAVA\nSCRIPT:alert(1)", "[^1]: x (task:42)"),
        ("x", "/relative", "[^1]: x (task:42)"),
        ("x", 'https://h/a b)>\n(ü"', "[^1]: [x](<https://h/a%20b%29%3E%0A%28ü%22>)"),
        ("x", "https://[h", "[^1]: x (task:42)"),
        ("x", "https://h/%C3%BC?a=1&b=2#c", "[^1]: [x](<https://h/%C3%BC?a=1&b=2#c>)"),
        ("- item", None, r"[^1]: \- item (task:42)"),
        ("1. item", None, r"[^1]: 1\. item (task:42)"),
        ("# head", None, r"[^1]: \# head (task:42)"),
        ("\u202ex\x1b", None, "[^1]: x (task:42)"),
    ],
)
def test_references(title: str | None, url: str | None, line: str) -> None:
    assert references([Citation(1, SourceKey("task", "42"), title, url, "q", ("task:42:0",))]) == line


def test_references_stand_in_their_order() -> None:
    _, citations, _ = cite("A [3]. B [1].", BRACKETS)
    assert references(citations) == (
        "[^1]: [Title 3](<https://tracker.example/3>)\n[^2]: [Title 1](<https://tracker.example/1>)"
    )
    assert references([]) == ""


PIECES = st.lists(
    st.sampled_from(
        [
            *"[]()#`~\n *->|:.!^‹",
            *(
                "[1]",
                "[2-3]",
                "[9]",
                "##1##",
                "##2",
                "```",
                "\n```\n",
                "[^1]",
                "](",
                "http://",
                "word ",
                "［1，2］",
                "⟦1⟧",
            ),
        ]
    )
    | st.text(max_size=3),
    max_size=60,
).map("".join)


@given(PIECES, st.sampled_from([BRACKETS, HASHES, [*BRACKETS, *HASHES], []]), st.integers(0, 3))
def test_no_answer_is_a_surprise(answer: str, sources: list[PromptSource], limit: int) -> None:
    text, citations, support = cite(answer, sources, limit=limit)
    own = {int(number) for number in re.findall(r"\[\^(\d{1,9})\]", answer.replace("⟦", "[").replace("⟧", "]"))}
    numbers = [citation.number for citation in citations]
    assert len(numbers) <= limit
    assert numbers == sorted(set(numbers))
    assert not own & set(numbers)
    for number in numbers:
        assert f"[^{number}]" in text
    assert support.uncited + support.unsupported <= support.sentences
    assert text.count("```") == answer.count("```")
    references(citations)


@given(
    st.lists(
        st.tuples(st.sampled_from(["alpha", "is slow.", "`[1]`", "Beta"]), st.lists(st.integers(1, 3), max_size=4))
    )
)
def test_a_random_answer_comes_back_whole(said: list[tuple[str, list[int]]]) -> None:
    """Every anchor is found, and taking the footnotes back gives the answer."""
    answer = " ".join(f"{words} {''.join(f'[{number}]' for number in dict.fromkeys(marks))}" for words, marks in said)
    text, citations, support = cite(answer, BRACKETS)
    assert support.unknown_anchors == 0
    order = list(dict.fromkeys(number for _, marks in said for number in marks))
    assert [citation.source.id for citation in citations] == [str(number) for number in order]
    back = re.sub(r"\[\^(\d)\]", lambda found: f"[{order[int(found[1]) - 1]}]", text)
    assert back == answer


def test_no_answer_takes_longer_than_its_length() -> None:
    """These are quadratic, and minutes, where a pattern starts anew at each character."""
    for piece in ("[", "`a", "##1 ", "##1,", "[a](", "(", "[1] ", "[1,", "<a:", "x. "):
        cite(piece * 4_000, BRACKETS)
