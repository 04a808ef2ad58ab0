"""OCI Generative AI: what is sent there, signed so that whoever has the public key can check it."""

from __future__ import annotations

import base64
import email.utils
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as elliptic
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)

from oraclerag.config import Settings
from oraclerag.embed import from_settings
from oraclerag.errors import ConfigurationError, ProviderLoginFailed, ProviderRefused
from oraclerag.model.external import Kind
from tests.unit.fake_embeddings import fake_embeddings, said, vector_of

Profile = Callable[..., Path]
TEXTS = ["Straße des 17. Juni", "café"]


@pytest.fixture(scope="module")
def key() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def pem(key: Any, encryption: KeySerializationEncryption | None = None) -> bytes:
    return bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption()))


@pytest.fixture
def profile(tmp_path: Path, key: RSAPrivateKey, monkeypatch: pytest.MonkeyPatch) -> Profile:
    """Writes OCI's configuration; what is None is left out."""

    def write(content: bytes | None = None, name: str = "DEFAULT", **values: str | None) -> Path:
        (tmp_path / "key.pem").write_bytes(pem(key) if content is None else content)
        lines: dict[str, str | None] = {
            "user": "ocid1.user.oc1..u", "tenancy": "ocid1.tenancy.oc1..t", "fingerprint": "aa:bb",
            "region": "eu-frankfurt-1", "key_file": str(tmp_path / "key.pem"),
        }  # fmt: skip
        lines |= values
        file = tmp_path / "config"
        file.write_text(f"[{name}]\n" + "".join(f"{k}={v}\n" for k, v in lines.items() if v is not None))
        monkeypatch.setenv("OCI_CONFIG_FILE", str(file))
        return file

    return write


def settings(**more: Any) -> Settings:
    return Settings(embedding_provider="oci", embedding_model="cohere.embed-multilingual-v3.0", **more)


def answered(asked: dict[str, Any]) -> Any:
    return said({"embeddings": [vector_of(text) for text in asked["inputs"]], "modelVersion": "3.0"})


@pytest.mark.parametrize(("kind", "said_as"), [("query", "SEARCH_QUERY"), ("passage", "SEARCH_DOCUMENT")])
def test_a_request_is_signed_by_the_user(profile: Profile, key: RSAPrivateKey, kind: Kind, said_as: str) -> None:
    profile()
    with fake_embeddings(answered) as fake:
        base = fake.url.removesuffix("/v1")
        embedder = from_settings(settings(embedding_base_url=base, embedding_oci_compartment="ocid1.compartment.x"))
        assert embedder is not None
        found = embedder.embed(TEXTS, kind)
    assert [list(vector) for vector in found.vectors] == [vector_of(text) for text in TEXTS]
    assert found.tokens is None
    assert fake.asked == [
        {
            "path": "/20231130/actions/embedText",
            "inputs": TEXTS,
            "servingMode": {"servingType": "ON_DEMAND", "modelId": "cohere.embed-multilingual-v3.0"},
            "compartmentId": "ocid1.compartment.x",
            "inputType": said_as,
            "truncate": "NONE",
        }
    ]
    headers = fake.headers[0]
    parts = dict(re.findall(r'(\w+)="([^"]*)"', headers["authorization"]))
    assert headers["authorization"].startswith("Signature ")
    assert (parts["version"], parts["algorithm"]) == ("1", "rsa-sha256")
    assert parts["keyId"] == "ocid1.tenancy.oc1..t/ocid1.user.oc1..u/aa:bb"
    assert parts["headers"] == "date (request-target) host content-length content-type x-content-sha256"
    headers = headers | {"(request-target)": "post /20231130/actions/embedText"}
    text = "\n".join(f"{name}: {headers[name]}" for name in parts["headers"].split())
    key.public_key().verify(base64.b64decode(parts["signature"]), text.encode(), PKCS1v15(), SHA256())
    assert base64.b64decode(headers["x-content-sha256"]) == hashlib.sha256(fake.bodies[0]).digest()
    assert int(headers["content-length"]) == len(fake.bodies[0])
    assert headers["content-type"] == "application/json"
    assert email.utils.parsedate_to_datetime(headers["date"]).tzinfo is not None


def test_region_and_bill_are_those_of_the_profile(profile: Profile) -> None:
    profile(name="PROD")
    embedder: Any = from_settings(settings(embedding_oci_profile="PROD"))
    assert embedder.url == (
        "https://inference.generativeai.eu-frankfurt-1.oci.oraclecloud.com/20231130/actions/embedText"
    )
    assert embedder.compartment == "ocid1.tenancy.oc1..t"
    assert not embedder.local
    assert len(list(embedder.batches(["a"] * 97))) == 2, "96 texts are the most of a request"
    assert "BEGIN" not in repr(embedder)


def test_a_key_with_a_pass_phrase_is_opened(profile: Profile, key: RSAPrivateKey) -> None:
    profile(pem(key, BestAvailableEncryption(b"hunter2")), pass_phrase="hunter2")
    assert from_settings(settings()) is not None


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [(401, "NotAuthenticated", ProviderLoginFailed), (404, "NotAuthorizedOrNotFound", ProviderRefused)],
)
def test_what_oci_says_is_told_apart(profile: Profile, status: int, code: str, error: type[Exception]) -> None:
    profile()
    with fake_embeddings(said({"code": code, "message": "Not here."}, status)) as fake:
        embedder = from_settings(settings(embedding_base_url=fake.url.removesuffix("/v1")))
        assert embedder is not None
        with pytest.raises(error, match=code):
            embedder.embed(TEXTS, "passage")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no such profile": ({"name": "OTHER"}, "no profile 'DEFAULT'|has no tenancy"),
    "no user": ({"user": None}, "has no user"),
    "no region": ({"region": None}, "names no region"),
    "a region that is an address": ({"region": "evil.example/"}, "names no region"),
    "no key file": ({"key_file": "/nowhere/key.pem"}, "cannot be read"),
    "no key": ({"content": b"-----BEGIN nothing"}, "no private key"),
    "wrong pass phrase": ({"pass_phrase": "hunter2"}, "no private key"),
    "another kind of key": ({"content": pem(elliptic(SECP256R1()))}, "no RSA key"),
}


@pytest.mark.parametrize(("values", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_the_configuration_is_said(profile: Profile, values: dict[str, Any], message: str) -> None:
    profile(**values)
    with pytest.raises(ConfigurationError, match=message) as caught:
        from_settings(settings())
    assert "hunter2" not in str(caught.value)


def test_a_configuration_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCI_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match="is not there") as caught:
        from_settings(settings())
    assert "oci setup config" in (caught.value.hint or "")
