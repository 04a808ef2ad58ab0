"""The password check, against an independent client."""

from __future__ import annotations

import hashlib
import os

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.padding import PKCS7
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.local.wire.verifier import Challenge, Verifiers


def _cipher(key: bytes) -> Cipher[modes.CBC]:
    return Cipher(algorithms.AES(key), modes.CBC(bytes(16)))


class Client:
    """The client's side, written from the description of the exchange."""

    def __init__(self, password: str, challenge: Challenge) -> None:
        told = {name: value for name, value, _ in challenge.pairs()}
        salt = bytes.fromhex(told["AUTH_VFR_DATA"])
        rounds = int(told["AUTH_PBKDF2_VGEN_COUNT"])
        key = hashlib.pbkdf2_hmac("sha512", password.encode(), salt + b"AUTH_PBKDF2_SPEEDY_KEY", rounds, 64)
        secret = hashlib.sha512(key + salt).digest()[:32]
        server_half = _cipher(secret).decryptor().update(bytes.fromhex(told["AUTH_SESSKEY"]))
        own_half = os.urandom(32)
        self.session_key = _cipher(secret).encryptor().update(own_half).hex().upper()
        both = (own_half + server_half).hex().upper().encode()
        rounds = int(told["AUTH_PBKDF2_SDER_COUNT"])
        self.key = hashlib.pbkdf2_hmac("sha512", both, bytes.fromhex(told["AUTH_PBKDF2_CSK_SALT"]), rounds, 32)
        padder = PKCS7(128).padder()
        plain = padder.update(os.urandom(16) + password.encode()) + padder.finalize()
        self.password = _cipher(self.key).encryptor().update(plain).hex().upper()

    def trusts(self, proof: str) -> bool:
        plain = _cipher(self.key).decryptor().update(bytes.fromhex(proof))
        return plain[16:] == b"SERVER_TO_CLIENT"


def _challenge(password: str | None) -> Challenge:
    verifiers = Verifiers(rounds=1)
    return Challenge(verifiers.get("RAG", password), verifiers.rounds)


@settings(max_examples=25)
@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_only_the_right_password_passes(password: str, other: str) -> None:
    challenge = _challenge(password)
    client = Client(password, challenge)
    proof = challenge.check(client.session_key, client.password)
    assert proof is not None
    assert client.trusts(proof)
    if other != password:
        stranger = Client(other, challenge)
        assert challenge.check(stranger.session_key, stranger.password) is None


def test_nobody_passes_as_an_unknown_user() -> None:
    challenge = _challenge(None)
    for password in ("", "x"):
        client = Client(password, challenge)
        assert challenge.check(client.session_key, client.password) is None


def test_an_unknown_user_is_told_nothing_unusual() -> None:
    known, unknown = _challenge("x").pairs(), _challenge(None).pairs()
    assert [(name, len(value), flags) for name, value, flags in known] == [
        (name, len(value), flags) for name, value, flags in unknown
    ]


def test_malformed_answers() -> None:
    challenge = _challenge("x")
    client = Client("x", challenge)
    for key, password in (("", ""), ("zz", client.password), (client.session_key, "00"), (client.session_key, "")):
        assert challenge.check(key, password) is None


def test_a_verifier_is_kept_until_the_password_changes() -> None:
    verifiers = Verifiers(rounds=1)
    first = verifiers.get("RAG", "tiger")
    assert verifiers.get("RAG", "tiger") is first
    assert verifiers.get("RAG", "lion") is not first
    assert "tiger" not in repr(first)
