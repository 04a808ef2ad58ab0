"""What the database is given to have an answer written, what its errors mean, and that none of them tells a text."""

from __future__ import annotations

import dataclasses
from typing import Any

import oracledb
import pytest

from oraclerag import errors, generate
from oraclerag.config import Settings
from oraclerag.config.rules import DATABASE_PROVIDERS
from oraclerag.database import Database
from oraclerag.generate.in_database import InDatabase, failure, parameters
from tests.unit.fake_llm import SECRET, prompt, waits

SETTINGS: dict[str, Any] = {
    "generate_provider": "database",
    "generate_base_url": "https://llm.example/v1/chat/completions",
    "generate_model": "m",
    "generate_credential": "APP.LLM",
}


class _Told:
    """What the driver keeps of an error."""

    def __init__(self, code: str, text: str) -> None:
        self.full_code = code
        self._text = text

    def __str__(self) -> str:
        return self._text


def oracle(code: str, text: str = "") -> oracledb.DatabaseError:
    return oracledb.DatabaseError(_Told(code, f"{code}: {text}"))


def provider_said(inner: str, code: str = "-20000") -> str:
    return f"The provider returned an error - Error Code: {code}, Error Message: {inner}"


def in_chain(said: str) -> str:
    return f"Oracle Text error:\nDRG-50857: oracle error in dbms_vector_chain.utl_to_generate_text(clob)\nORA-20002: {said}"


def given(provider: str, **more: Any) -> dict[str, Any]:
    return parameters(
        provider, credential="LLM", url="http://u", model="m", temperature=0.5, max_tokens=9, timeout=1.2, more=more
    )


BASE = {"url": "http://u", "model": "m", "credential_name": "LLM", "transfer_timeout": 2}
NAMED: dict[str, dict[str, Any]] = {
    "openai": {"temperature": 0.5, "max_tokens": 9},
    "cohere": {"temperature": 0.5, "max_tokens": 9},
    "ocigenai": {"chatRequest": {"temperature": 0.5, "maxTokens": 9}},
    "googleai": {"generation_config": {"temperature": 0.5, "maxOutputTokens": 9}},
    "vertexai": {"generation_config": {"temperature": 0.5, "maxOutputTokens": 9}},
    "ollama": {"host": "local", "options": {"temperature": 0.5, "num_predict": 9}},
    "huggingface": {},
}


@pytest.mark.parametrize("provider", DATABASE_PROVIDERS)
def test_each_provider_gets_its_own_names(provider: str) -> None:
    assert given(provider) == {"provider": provider} | BASE | NAMED[provider]


def test_what_a_model_does_not_take_can_be_taken_away_and_more_be_added() -> None:
    changed = given("openai", max_tokens=None, max_completion_tokens=50, transfer_timeout=7, absent=None)
    assert changed == {
        "provider": "openai", "temperature": 0.5, "max_completion_tokens": 50, **BASE, "transfer_timeout": 7,
    }  # fmt: skip
    nested = given("ocigenai", chatRequest={"topK": 1, "temperature": None})
    assert nested["chatRequest"] == {"maxTokens": 9, "topK": 1}


ERRORS: list[tuple[oracledb.DatabaseError, type[errors.ProviderError], str, str]] = [
    # error, what it means, the codes that are told, what the hint speaks of
    (oracle("ORA-20002", provider_said("ORA-20003: error retrieving credential", "-20003")),
     errors.ProviderLoginFailed, "ORA-20002, ORA-20003", "credential.sql"),
    (oracle("ORA-20000", in_chain(provider_said("ORA-20003: error retrieving credential", "-20003"))),
     errors.ProviderLoginFailed, "ORA-20000, DRG-50857, ORA-20002, ORA-20003", "credential.sql"),
    (oracle("ORA-20000", in_chain(provider_said("ORA-20000: ORA-24247: Network access denied"))),
     errors.ProviderRefused, "ORA-20000, DRG-50857, ORA-20002, ORA-24247", "network_acl.sql"),
    (oracle("ORA-29273", 'HTTP request failed\nORA-24247: network access denied\nORA-06512: at "SYS.UTL_HTTP"'),
     errors.ProviderRefused, "ORA-29273, ORA-24247", "network_acl.sql"),
    (oracle("ORA-29273", "HTTP request failed\nORA-29024: Certificate validation failure"),
     errors.ProviderRefused, "ORA-29273, ORA-29024", "wallet"),
    (oracle("ORA-20002", provider_said("ORA-20000: ORA-29273: HTTP request failed\nORA-12541: No listener")),
     errors.ProviderUnavailable, "ORA-20002, ORA-20000, ORA-29273, ORA-12541", "generate.base_url"),
    (oracle("ORA-20002", provider_said("ORA-20000: ORA-29276: transfer timeout")),
     errors.ProviderUnavailable, "ORA-20002, ORA-20000, ORA-29276", "generate.timeout"),
    (oracle("ORA-00904", '"DBMS_VECTOR"."UTL_TO_GENERATE_TEXT": invalid identifier'),
     errors.ProviderRefused, "ORA-00904", "EXECUTE"),
    (oracle("ORA-03001", "unimplemented feature: text by the provider cohere\nHelp: https://docs"),
     errors.ProviderRefused, "ORA-03001: unimplemented feature: text by the provider cohere", "generate.model"),
    (oracle("ORA-20002", provider_said("ORA-20000: ORA-40441: JSON syntax error")),
     errors.ProviderAnswerInvalid, "ORA-20002, ORA-20000, ORA-40441", "whole address"),
    (oracle("ORA-20002", provider_said("HTTP status 401", "401")), errors.ProviderLoginFailed, "401 (ORA-20002", "cred"),
    (oracle("ORA-20002", provider_said("slow down", "429")), errors.ProviderRateLimited, "429 (ORA-20002", ""),
    (oracle("ORA-20002", provider_said("x", "503")), errors.ProviderUnavailable, "503 (ORA-20002", "base_url"),
    (oracle("ORA-20002", provider_said("x", "413")), errors.PromptTooLong, "413 (ORA-20002", "smaller"),
    (oracle("ORA-29273", "HTTP request failed\nORA-29268: HTTP client error 404 - Not Found"),
     errors.ProviderRefused, "404 (ORA-29273, ORA-29268", "generate.model"),
    (oracle("ORA-20002", provider_said("something new")), errors.ProviderRefused, "(ORA-20002)", "cause"),
    (oracle("ORA-00600", "internal error code"), errors.ProviderRefused, "(ORA-00600)", "cause"),
    (oracle("DPY-4024", "call timeout of 100 ms exceeded"), errors.ProviderUnavailable, "in time (DPY-4024", "timeout"),
    (oracle("DPY-4011", "the database or network closed the connection"),
     errors.ProviderUnavailable, "was lost before the answer came (DPY-4011", ""),
    (oracle("ORA-00028", "your session has been killed"), errors.ProviderUnavailable, "ORA-00028", ""),
]  # fmt: skip


@pytest.mark.parametrize(("error", "cls", "told", "hint"), ERRORS, ids=lambda value: str(value)[:60])
def test_an_oracle_error_is_a_typed_one(
    error: oracledb.DatabaseError, cls: type[errors.ProviderError], told: str, hint: str
) -> None:
    found = failure(error)
    assert type(found) is cls
    assert f"{told}" in found.message
    assert hint in (found.hint or "")


@pytest.mark.parametrize("wrapped", [provider_said, lambda text: in_chain(provider_said(text))])
def test_what_the_provider_said_is_not_told_and_codes_in_it_mean_nothing(wrapped: Any) -> None:
    quoted = f"{{'error': 'in <{SECRET} ORA-24247: and HTTP client error 401> there is a word that I do not take'}}"
    found = failure(oracle("ORA-20002", wrapped(quoted)))
    assert type(found) is errors.ProviderRefused
    assert found.status is None
    for text in (found.message, found.hint or "", repr(found)):
        assert SECRET[:20] not in text
        assert "24247" not in text


def test_nothing_can_be_asked_without_a_database_or_on_a_connection_that_was_lent() -> None:
    settings = Settings(**SETTINGS)
    with pytest.raises(errors.ConfigurationError, match="needs the database"):
        generate.from_settings(settings)
    generator = generate.from_settings(settings, Database(settings))
    assert not generator.local
    with pytest.raises(errors.ConfigurationError, match="a connection of its own: a pool, an Engine, or ORACLE_DSN"):
        generator.generate(prompt())


def test_the_settings_reach_it_and_no_secret_is_in_its_name() -> None:
    settings = Settings(
        **SETTINGS, generate_package="DBMS_VECTOR_CHAIN", generate_database_provider="ocigenai", generate_timeout=7.0,
        generate_temperature=0.25, generate_max_tokens=33, generate_database_params='{"x": "hunter2"}',
        reduce_by="model", reduce_model="small", reduce_timeout=3.0, password="hunter2",
    )  # fmt: skip
    database = Database(settings)
    generator = generate.from_settings(settings, database)
    assert generator == InDatabase(
        database=database, provider="ocigenai", credential="APP.LLM", base_url=SETTINGS["generate_base_url"], model="m",
        package="DBMS_VECTOR_CHAIN", temperature=0.25, max_tokens=33, timeout=7.0, more={"x": "hunter2"},
    )  # fmt: skip
    assert generator.name == "database"
    reducing = generate.for_questions(settings, database)
    assert isinstance(reducing, InDatabase)
    assert (reducing.model, reducing.timeout, reducing.attempts.most) == ("small", 3.0, 1)
    assert "hunter2" not in repr(generator) + repr(settings)
    elsewhere = dataclasses.replace(settings, reduce_base_url="http://127.0.0.1:1/v1")
    assert not isinstance(generate.for_questions(elsewhere, database), InDatabase)


def test_what_failed_is_asked_again_and_no_other_connection_is_held_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps: list[float] = []
    asked: list[str] = []

    def once(self: InDatabase, _: Any) -> str | None:
        asked.append(self.model)
        if len(asked) < 3:
            raise failure(oracle("ORA-20002", provider_said("x", "503")))
        return None

    monkeypatch.setattr(InDatabase, "_once", once)
    settings = Settings(**SETTINGS)
    generator = dataclasses.replace(
        generate.from_settings(settings, Database(settings)),
        attempts=waits(sleeps),  # type: ignore[type-var]
    )
    with generator.stream(prompt()) as stream:
        assert list(stream) == []
        assert stream.generation.text == ""
        assert stream.generation.finish is None
    assert asked == ["m"] * 3
    assert sleeps == [0.5, 1.0]
