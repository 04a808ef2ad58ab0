"""The password check of login (O5LOGON with a 12c verifier), seen from the server.

Both sides prove that they know the password without sending it: each contributes half of a session key under a key
derived from the password; the password itself then travels under the session key.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
from dataclasses import dataclass

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

VERIFIER_TYPE = 0x4815  # 12c
DEFAULT_ROUNDS = 4096
SESSION_ROUNDS = 3
_KEY_SIZE = 32
_HALF_SIZE = 32
_BLOCK = 16
_SPEEDY_KEY = b"AUTH_PBKDF2_SPEEDY_KEY"
_GREETING = b"SERVER_TO_CLIENT"


def _aes(key: bytes) -> Cipher[modes.CBC]:
    return Cipher(algorithms.AES(key), modes.CBC(bytes(_BLOCK)))


def _encrypt(key: bytes, data: bytes) -> bytes:
    encryptor = _aes(key).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def _decrypt(key: bytes, data: bytes) -> bytes:
    if not data or len(data) % _BLOCK:
        raise ValueError
    decryptor = _aes(key).decryptor()
    return decryptor.update(data) + decryptor.finalize()


@dataclass(frozen=True, slots=True, repr=False)
class Verifier:
    """What the server derives from a password; ``salt`` goes to the client."""

    salt: bytes
    key: bytes
    password: bytes

    @classmethod
    def derive(cls, password: str, rounds: int) -> Verifier:
        """Derive a verifier with a new salt."""
        secret = password.encode()
        salt = os.urandom(16)
        slow = hashlib.pbkdf2_hmac("sha512", secret, salt + _SPEEDY_KEY, rounds, 64)
        return cls(salt, hashlib.sha512(slow + salt).digest()[:_KEY_SIZE], secret)


class Verifiers:
    """Verifiers by user, kept because deriving one is slow on purpose. Safe for threads.

    ``rounds`` of PBKDF2: some clients insist on 4096; tests may take 1.
    """

    def __init__(self, rounds: int = DEFAULT_ROUNDS) -> None:
        self.rounds = rounds
        self._known: dict[str, Verifier] = {}
        self._lock = threading.Lock()

    def get(self, user: str, password: str | None) -> Verifier:
        """Give a user's verifier; without a password (no such user) one that nothing satisfies."""
        if password is None:
            return Verifier(os.urandom(16), os.urandom(_KEY_SIZE), b"")
        with self._lock:
            known = self._known.get(user)
        if known is not None and hmac.compare_digest(known.password, password.encode()):
            return known
        fresh = Verifier.derive(password, self.rounds)
        with self._lock:
            self._known[user] = fresh
        return fresh


class Challenge:
    """One login under way: what phase one told the client, and the check of what it answers in phase two."""

    def __init__(self, verifier: Verifier, rounds: int) -> None:
        self._verifier = verifier
        self._half = os.urandom(_HALF_SIZE)
        self._salt = os.urandom(16)
        self._rounds = rounds

    def pairs(self) -> list[tuple[str, str, int]]:
        """Give the parameters of phase one: name, value, flags."""
        return [
            ("AUTH_SESSKEY", _encrypt(self._verifier.key, self._half).hex().upper(), 0),
            ("AUTH_VFR_DATA", self._verifier.salt.hex().upper(), VERIFIER_TYPE),
            ("AUTH_PBKDF2_CSK_SALT", self._salt.hex().upper(), 0),
            ("AUTH_PBKDF2_VGEN_COUNT", str(self._rounds), 0),
            ("AUTH_PBKDF2_SDER_COUNT", str(SESSION_ROUNDS), 0),
        ]

    def check(self, session_key: str, password: str) -> str | None:
        """Check the client's two answers (hex); give the proof that we know the password too, or None."""
        try:
            half = _decrypt(self._verifier.key, bytes.fromhex(session_key))[:_HALF_SIZE]
            combined = (half + self._half).hex().upper().encode()
            key = hashlib.pbkdf2_hmac("sha512", combined, self._salt, SESSION_ROUNDS, _KEY_SIZE)
            padded = _decrypt(key, bytes.fromhex(password))
        except ValueError:
            return None
        given = padded[_BLOCK : -padded[-1]] if 1 <= padded[-1] <= _BLOCK else b""
        if not given or not hmac.compare_digest(given, self._verifier.password):
            return None
        return _encrypt(key, os.urandom(_BLOCK) + _GREETING).hex().upper()
