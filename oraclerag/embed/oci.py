"""Requests to Oracle Cloud Infrastructure, signed with the API key of a user as the OCI command line has it.

The key stays in its file; what is signed are the headers that name the request and the hash of its body.
"""

from __future__ import annotations

import base64
import configparser
import email.utils
import hashlib
import os
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from oraclerag.errors import ConfigurationError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

__all__ = ["OciUser", "SignedByUser", "oci_user"]

_SIGNED = ("date", "(request-target)", "host", "content-length", "content-type", "x-content-sha256")
_WANTED = ("tenancy", "user", "fingerprint", "key_file")
_REGION = re.compile(r"[a-z]{2,5}(-[a-z]+)+-\d+")


@dataclass(frozen=True, slots=True)
class OciUser:
    """A profile of OCI's configuration file: whose key it is, and the region, None where it names none."""

    tenancy: str
    key_id: str
    region: str | None
    key: RSAPrivateKey = field(repr=False)

    @property
    def endpoint(self) -> str:
        """Where Generative AI answers in that region. Raises ConfigurationError where none is named."""
        if self.region is None or not _REGION.fullmatch(self.region):
            raise ConfigurationError(
                "The profile of OCI's configuration names no region such as eu-frankfurt-1.",
                hint="Write region=… there, or set embedding.base_url.",
            )
        return f"https://inference.generativeai.{self.region}.oci.oraclecloud.com"


def oci_user(profile: str) -> OciUser:
    """Read a profile of ``~/.oci/config``, or of the file that OCI_CONFIG_FILE names, and its key.

    Raises ConfigurationError, which repeats nothing of the key.
    """
    file = Path(os.environ.get("OCI_CONFIG_FILE") or "~/.oci/config").expanduser()
    found = configparser.ConfigParser(interpolation=None)
    try:
        read = found.read(file, "utf-8")
    except (configparser.Error, UnicodeDecodeError):
        read = []
    if not read:
        raise ConfigurationError(
            f"OCI's configuration {str(file)!r} is not there or cannot be read.",
            hint="`oci setup config` writes one; OCI_CONFIG_FILE names another file.",
        )
    if profile != "DEFAULT" and not found.has_section(profile):
        raise ConfigurationError(f"OCI's configuration {str(file)!r} has no profile {profile!r}.")
    values = found[profile]
    missing = [name for name in _WANTED if not values.get(name, "").strip()]
    if missing:
        raise ConfigurationError(f"The profile {profile!r} in {str(file)!r} has no {', '.join(missing)}.")
    key_id = "/".join(values[name].strip() for name in ("tenancy", "user", "fingerprint"))
    return OciUser(
        values["tenancy"].strip(),
        key_id,
        values.get("region", "").strip() or None,
        _private_key(Path(values["key_file"].strip()).expanduser(), values.get("pass_phrase")),
    )


def _private_key(file: Path, pass_phrase: str | None) -> RSAPrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise ConfigurationError(
            "Requests to OCI are signed with the library cryptography, which is not installed.",
            hint="Install it: pip install 'oraclerag[oci]'.",
        ) from error
    try:
        key = load_pem_private_key(file.read_bytes(), pass_phrase.encode() if pass_phrase else None)
    except OSError as error:
        raise ConfigurationError(f"The key file {str(file)!r} cannot be read: {error.strerror}.") from error
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise ConfigurationError(
            f"The key file {str(file)!r} holds no private key that the profile's pass_phrase opens."
        ) from error
    if not isinstance(key, RSAPrivateKey):
        raise ConfigurationError(f"The key file {str(file)!r} holds no RSA key.")
    return key


class SignedByUser(httpx.Auth):
    """Signs requests with a user's key (version 1 of OCI's signatures: RSA with SHA-256)."""

    requires_request_body = True

    def __init__(self, user: OciUser) -> None:
        self._user = user

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add date, hash of the body and signature."""
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        headers = request.headers
        headers["date"] = email.utils.formatdate(usegmt=True)
        headers["x-content-sha256"] = base64.b64encode(hashlib.sha256(request.content).digest()).decode()
        target = f"{request.method.lower()} {request.url.raw_path.decode()}"
        said = "\n".join(f"{name}: {target if name.startswith('(') else headers[name]}" for name in _SIGNED)
        signature = base64.b64encode(self._user.key.sign(said.encode(), PKCS1v15(), SHA256())).decode()
        headers["authorization"] = (
            f'Signature algorithm="rsa-sha256",headers="{" ".join(_SIGNED)}",keyId="{self._user.key_id}",'
            f'signature="{signature}",version="1"'
        )
        yield request
