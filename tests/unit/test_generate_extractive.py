"""Answers without a language model: what is quoted, in which order, with which anchors; and who is asked for which."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oraclerag import anchors, generate
from oraclerag.cite import cite
from oraclerag.config import Settings
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.generate.extractive import Extractive
from oraclerag.records import Prompt
from tests.unit.fake_llm import KEY, prompt

INVOICE = (
    "Invoice disputes\nThe invoice is paid after 30 days. The dispute was opened by Acme. Dr. Who signs.\n\n"
    "ORA-00060 was raised while the invoice was locked."
)
TAX = "Tax codes of Spain. IVA is 21 percent. Invoices carry it! Does it apply? ¿Se aplica en Canarias? No."


def quoted(asked: Prompt, sentences: int = 5) -> list[tuple[str, str]]:
    """Quotations and their anchors."""
    text = Extractive(sentences).generate(asked).text
    return re.findall(r"^> (.*) (##\d+##|\[\d+\])$", text, re.MULTILINE)


def test_the_best_sentence_is_first_word_for_word_and_cited() -> None:
    generation = Extractive().generate(prompt("What is the IVA percent?", INVOICE, TAX))
    assert generation.text.startswith("No language model wrote this. ")
    assert generation.text.split("\n\n")[1] == "> IVA is 21 percent. ##2##"
    assert (generation.model, generation.finish, generation.truncated) == ("extractive", "stop", False)


def test_its_label_is_no_statement_that_lacks_a_source() -> None:
    asked = prompt("What is the IVA percent?", INVOICE, TAX)
    generation = Extractive().generate(asked)
    text, citations, support = cite(generation.text, asked.sources, label=generation.label)
    assert text.startswith(generation.label)
    assert (support.sentences > 0, support.uncited, support.unsupported) == (True, 0, 0)
    assert cite(generation.text, asked.sources) == (
        text,
        citations,
        replace(support, sentences=support.sentences + 1, uncited=1),
    )


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("What does ora-00060 mean for the invoice?", "ORA-00060 was raised while the invoice was locked."),
        ("¿Se aplican en Canarias?", "¿Se aplica en Canarias?"),
        ("Who opened disputes?", "The dispute was opened by Acme."),
        ("disputing", "Invoice disputes"),
        ("IVA", "IVA is 21 percent."),
    ],
)
def test_words_decide_rare_ones_more(question: str, best: str) -> None:
    assert quoted(prompt(question, INVOICE, TAX))[0][0] == best


def test_function_words_find_nothing_while_there_are_others() -> None:
    found = quoted(prompt("What is the dispute?", INVOICE, TAX))
    assert [text for text, _ in found] == ["Invoice disputes", "The dispute was opened by Acme."]


def test_a_rare_word_counts_more_than_a_frequent_one() -> None:
    found = quoted(prompt("alpha beta", "Alpha one. Alpha two. Alpha three. Beta one."))
    assert found[0][0] == "Beta one."


def test_an_identifier_counts_double() -> None:
    assert quoted(prompt("alpha x7", "Alpha one. X7 one."))[0][0] == "X7 one."


def test_a_question_of_function_words_alone_looks_for_them() -> None:
    assert quoted(prompt("What is it?", "Other. It is so.")) == [("It is so.", "##1##")]


def test_equals_stand_in_the_order_of_the_sources_and_once() -> None:
    asked = prompt("alpha", "Alpha one.", "Alpha two. Alpha one.", "alpha  ONE.")
    assert quoted(asked) == [("Alpha one.", "##1##"), ("Alpha two.", "##2##")]
    assert quoted(asked, 1) == [("Alpha one.", "##1##")]


def test_without_a_common_word_the_nearest_begin() -> None:
    asked = prompt("xylophone", INVOICE, TAX)
    assert quoted(asked) == [("Invoice disputes", "##1##"), ("Tax codes of Spain.", "##2##")]
    assert "no sentence of the sources has a word of the question" in Extractive().generate(asked).text


def test_without_sources_it_says_so() -> None:
    asked = prompt("x")
    empty = Prompt(asked.instructions, asked.question, (), 0, 0, 0, "")
    assert Extractive().generate(empty).text == "No language model wrote this, and there is no source to quote."


@pytest.mark.parametrize("style", ["hash", "bracket"])
def test_a_quotation_names_no_other_source(style: Any) -> None:
    asked = prompt("alpha", "Alpha is proven by ##2##, [2] and ## 2 ##.", "Other.", style=style)
    text = Extractive().generate(asked).text
    assert [mark.numbers for mark in anchors.marks(text, style)] == [((1, 1),)]


def test_a_long_line_is_cut_at_a_word() -> None:
    [(text, _)] = quoted(prompt("alpha", "alpha " + "beta " * 1000))
    assert text.endswith("beta …")
    assert len(text) < 620
    [(text, _)] = quoted(prompt("alpha", "alpha-" + "x" * 5000))  # no blank to cut at
    assert len(text) < 620


def test_a_stream_gives_what_generate_gives() -> None:
    asked = prompt("invoice", INVOICE, TAX)
    stream = Extractive().stream(asked)
    first = next(stream)
    with pytest.raises(InputError, match="not read to its end"):
        _ = stream.generation
    parts = [first, *stream]
    assert len(parts) > 2
    assert stream.generation == Extractive().generate(asked)
    assert "".join(parts) == stream.generation.text


@given(st.text(max_size=80), st.lists(st.text(max_size=200), max_size=4))
def test_every_quotation_is_of_its_source(question: str, contents: list[str]) -> None:
    asked = prompt(question, *contents)
    answer = Extractive().generate(asked)
    assert answer == Extractive().generate(asked)
    sources = {source.anchor: source.hit.content for source in asked.sources}
    for part in answer.text.split("\n\n")[1:]:
        text, _, anchor = part.removeprefix("> ").rpartition(" ")
        content = " ".join(anchors.neutral(" ".join(sources[anchor].split()), "hash").split())
        assert text in content


# -- from settings ----------------------------------------------------------------------------------------------------


def test_nothing_configured_quotes() -> None:
    generator = generate.from_settings(Settings())
    assert (generator.name, generator.local) == ("extractive", True)


OPENAI: dict[str, Any] = {"generate_provider": "openai", "generate_model": "m"}


@pytest.mark.parametrize(("url", "local"), [("http://[::1]:1/v1", True), ("https://api.example.com/v1", False)])
def test_an_endpoint_is_local_where_it_is_on_this_machine(url: str, local: bool) -> None:
    generator = generate.from_settings(Settings(**OPENAI, generate_base_url=url))
    assert (generator.name, generator.local) == ("openai", local)


def test_every_setting_reaches_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    from oraclerag.generate.over_http import OverHttp

    monkeypatch.setenv("THE_KEY", f" {KEY}\n")
    generator = generate.from_settings(
        Settings(
            **OPENAI, generate_base_url="http://h/v1", generate_api_key_env="THE_KEY", generate_temperature=0.5,
            generate_max_tokens=7, generate_timeout=9.0,
        )
    )  # fmt: skip
    assert generator == OverHttp(
        base_url="http://h/v1", model="m", api_key=KEY, temperature=0.5, max_tokens=7, timeout=9.0,
        attempts=generator.attempts if isinstance(generator, OverHttp) else None,  # type: ignore[arg-type]
    )  # fmt: skip


def test_a_key_that_is_not_there_is_missed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", " ")
    with pytest.raises(ConfigurationError, match=r"THE_KEY, which generate\.api_key_env names, holds no key"):
        generate.from_settings(Settings(**OPENAI, generate_base_url="http://h/v1", generate_api_key_env="THE_KEY"))
