"""How a client gets in: connect packet, service name, and the two phases of authentication."""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

from oraclerag.local.interface import Engine, OraError
from oraclerag.local.wire.capabilities import Dialect, Features
from oraclerag.local.wire.packets import Channel, Closed, PacketType
from oraclerag.local.wire.primitives import Reader
from oraclerag.local.wire.verifier import Challenge, Verifiers

FIRST_PHASE = 118
SECOND_PHASE = 115
DATABASE_VERSION = (23, 26, 1, 0, 0)
MAX_OPEN_CURSORS = 1000
MAX_IDENTIFIER = 128
INSTANCE = "FREE"

_MAX_VERSION = 319
_MIN_VERSION = 315  # packet lengths have 32 bits
_EXTRAS_VERSION = 319  # fast authentication, end of response
_NO_URGENT_DATA = 0x0001
_NO_ENCRYPTION = 0x0C  # services disabled, none required
_FAST_AUTHENTICATION = 0x10000000
_END_OF_RESPONSE = 0x02000000
_ACCEPT_SIZE = 45
_CONNECT_FIELDS = struct.Struct(">10H")
_MAX_DESCRIPTOR = 16384
_CHANGE_PASSWORD = 0x02
_PRIVILEGED = 0x0F400060  # SYSDBA, SYSOPER, SYSASM, SYSBACKUP, SYSDG, SYSKM, SYSRAC

_UNKNOWN_SERVICE = 12514
_UNKNOWN_SID = 12505
_NO_SERVICE = 12504
_INCOMPATIBLE = 12618


def accept_connection(channel: Channel, features: Features, service: str) -> Dialect:
    """Read the connect packet and accept it, or refuse it and raise :class:`Closed`."""
    packet = channel.receive()
    if packet.type != PacketType.CONNECT or len(packet.body) < _CONNECT_FIELDS.size:
        raise Closed
    fields = _CONNECT_FIELDS.unpack_from(packet.body)
    version = min(fields[0], _MAX_VERSION)
    size, offset = fields[8], fields[9] - 8
    if size > _MAX_DESCRIPTOR:
        raise Closed
    descriptor = packet.body[offset : offset + size]
    if len(descriptor) < size:  # a long one comes in a packet of its own
        descriptor = channel.receive().body[2 : 2 + size]
    reason = _INCOMPATIBLE if version < _MIN_VERSION else _refusal(descriptor.decode("utf-8", "replace"), service)
    if reason:
        text = f"(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR={reason})(ERROR_STACK=(ERROR=(CODE={reason})(EMFI=4))))".encode()
        channel.send(PacketType.REFUSE, b"\1\0" + len(text).to_bytes(2, "big") + text)
        raise Closed
    extras = version >= _EXTRAS_VERSION
    flags = _FAST_AUTHENTICATION if extras and features.fast_authentication else 0
    dialect = Dialect(end_of_response=extras and features.end_of_response, max_string_size=features.max_string_size)
    if dialect.end_of_response:
        flags |= _END_OF_RESPONSE
    short_sdu = min(features.sdu, 0xFFFF)
    channel.send(
        PacketType.ACCEPT,
        struct.pack(
            ">HHHHHHHBB8xIIBI",
            version,
            _NO_URGENT_DATA,
            short_sdu,
            short_sdu,
            1,  # byte order
            0,
            _ACCEPT_SIZE,
            _NO_ENCRYPTION,
            _NO_ENCRYPTION,
            features.sdu,
            features.sdu,
            0,
            flags,
        ),
    )
    channel.use_long_lengths()
    return dialect


def _refusal(descriptor: str, service: str) -> int:
    """Give the number of the listener's error, 0 when the descriptor asks for ``service``."""
    name = re.search(r"\(\s*SERVICE_NAME\s*=\s*([^()]*)\)", descriptor, re.IGNORECASE)
    if name is not None:
        return 0 if name[1].strip().upper() == service.upper() else _UNKNOWN_SERVICE
    sid = re.search(r"\(\s*SID\s*=\s*([^()]*)\)", descriptor, re.IGNORECASE)
    if sid is not None:
        return 0 if sid[1].strip().upper() == service.upper() else _UNKNOWN_SID
    return _NO_SERVICE


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """The body of an authentication call; ``pairs`` hold secrets in the second phase."""

    user: str
    mode: int
    pairs: dict[str, str]


def read_credentials(reader: Reader) -> Credentials:
    """Read the body of either phase."""
    has_user = reader.u8()
    reader.number()
    mode = reader.number()
    reader.u8()
    count = reader.number()
    reader.skip(2)
    user = (reader.item() or b"") if has_user else b""
    pairs = {}
    for _ in range(count):
        name = reader.counted() or b""
        value = reader.counted() or b""
        reader.number()
        pairs[name.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
    return Credentials(user.decode("utf-8", "replace"), mode, pairs)


def version_number() -> int:
    """Give the version of the database as clients take it apart."""
    release, update, revision, increment, extension = DATABASE_VERSION
    return release << 24 | update << 16 | revision << 12 | increment << 4 | extension


def user_name(given: str) -> str:
    """Give a user's name as Oracle keeps it: upper case unless it was quoted."""
    if len(given) > 1 and given[0] == given[-1] == '"':
        return given[1:-1]
    return given.upper()


class Authentication:
    """The two phases for one session.

    ``serial`` is the session's number as clients see it.
    """

    def __init__(self, engine: Engine, verifiers: Verifiers, service: str, serial: int) -> None:
        self._engine = engine
        self._verifiers = verifiers
        self._service = service
        self._serial = serial
        self._user = ""
        self._challenge: Challenge | None = None

    def challenge(self, request: Credentials) -> list[tuple[str, str, int]]:
        """Answer phase one; an unknown user gets a challenge that looks like any other."""
        self._user = user_name(request.user)
        password = None if "\0" in self._user else self._engine.password(self._user)
        verifier = self._verifiers.get(self._user, password)
        self._challenge = Challenge(verifier, self._verifiers.rounds)
        return self._challenge.pairs()

    def confirm(
        self, request: Credentials, open_session: Callable[[str, str | None], None]
    ) -> list[tuple[str, str, int]]:
        """Answer phase two: check, then ``open_session(user, statement to run first)``.

        Raises ORA-01017 for a wrong user or password, ORA-03001 for changing a password and for proxies.
        """
        challenge, self._challenge = self._challenge, None
        pairs = request.pairs
        if request.mode & _CHANGE_PASSWORD or "AUTH_NEWPASSWORD" in pairs:
            raise OraError(3001, "unimplemented feature: changing a password")
        if "PROXY_CLIENT_NAME" in pairs:
            raise OraError(3001, "unimplemented feature: proxy authentication")
        proof = None
        if challenge is not None and not request.mode & _PRIVILEGED:
            proof = challenge.check(pairs.get("AUTH_SESSKEY", ""), pairs.get("AUTH_PASSWORD", ""))
        if proof is None:
            raise OraError(1017, "invalid credential or not authorized; logon denied")
        open_session(self._user, pairs.get("AUTH_ALTER_SESSION", "").rstrip("\0") or None)
        return [*self._session_pairs(), ("AUTH_SVR_RESPONSE", proof, 0)]

    def _session_pairs(self) -> list[tuple[str, str, int]]:
        values = {
            "AUTH_VERSION_STRING": "- Development",
            "AUTH_VERSION_SQL": str(DATABASE_VERSION[1]),
            "AUTH_XACTION_TRAITS": "3",
            "AUTH_VERSION_NO": str(version_number()),
            "AUTH_VERSION_STATUS": "0",
            "AUTH_CAPABILITY_TABLE": "",
            "AUTH_LAST_LOGIN": "",
            "AUTH_DBNAME": self._service.upper(),
            "AUTH_DB_MOUNT_ID": "0",
            "AUTH_DB_ID": "0",
            "AUTH_USER_ID": "100",
            "AUTH_SESSION_ID": str(self._serial),
            "AUTH_SERIAL_NUM": "1",
            "AUTH_INSTANCE_NO": "1",
            "AUTH_FAILOVER_ID": "",
            "AUTH_SERVER_PID": str(os.getpid()),
            "AUTH_SC_SERVER_HOST": "localhost",
            "AUTH_SC_DBUNIQUE_NAME": self._service.upper(),
            "AUTH_SC_REAL_DBUNIQUE_NAME": self._service.upper(),
            "AUTH_SC_INSTANCE_NAME": INSTANCE,
            "AUTH_SC_SERVICE_NAME": self._service,
            "AUTH_SC_DB_DOMAIN": "",
            "AUTH_INSTANCENAME": INSTANCE,
            "AUTH_NLS_LXLAN": "AMERICAN",
            "AUTH_NLS_LXCTERRITORY": "AMERICA",
            "AUTH_NLS_LXCCHARSET": "AL32UTF8",
            "AUTH_MAX_OPEN_CURSORS": str(MAX_OPEN_CURSORS),
            "AUTH_MAX_IDEN_LENGTH": str(MAX_IDENTIFIER),
        }
        return [(name, value, 0) for name, value in values.items()]
