"""Checks of the way to the database: connection, clocks, the wallet that opens it."""

from __future__ import annotations

import datetime as dt
import os
import time
from pathlib import Path

import oracledb

from oraclerag.database import translated
from oraclerag.doctor.finding import Verdict, fail, ok, unknown, warn
from oraclerag.doctor.look import Check, Look

__all__ = ["CHECKS", "EXPIRES_SOON", "expiry"]

EXPIRES_SOON = dt.timedelta(days=30)
"""Before so long one is warned of what expires."""

_ADDRESS = "MINILM_ONNX_PAR_URL"
_PATIENCE = 20.0  # seconds; a database that does not answer at all shall not be waited for
_SLOW = 0.1  # seconds of a round trip; a batch takes dozens of them
_APART = 5.0  # seconds
_TRIES = 3


def connection(look: Look) -> Verdict:
    """Log in, and take the time of a round trip."""
    with look.database.connect(call_timeout=_PATIENCE) as connected:
        times = []
        with translated():
            for _ in range(_TRIES):
                begin = time.perf_counter()
                connected.ping()
                times.append(time.perf_counter() - begin)
        thin, who, where = connected.thin, connected.username, connected.dsn
    row = look.row(look.sql["protocol"])
    protocol = str(row[0]) if row is not None else "unknown"
    detail = (
        f"{who} at {_place(where)}, protocol {protocol}{' (encrypted)' if protocol == 'tcps' else ''}, "
        f"{min(times) * 1000:.2f} ms a round trip, python-oracledb {oracledb.__version__} "
        f"({'thin' if thin else 'thick'})"
    )
    if min(times) > _SLOW:
        return warn(detail, "Run workers nearer to the database: a batch takes dozens of round trips.")
    return ok(detail)


def _place(dsn: str | None) -> str:
    """Give a descriptor without the parts that somebody may have put secrets into."""
    text = (dsn or "a pool").rpartition("@")[2].partition("?")[0]
    return text if len(text) <= 80 else text[:79] + "…"


def clock(look: Look) -> Verdict:
    """Compare this machine's clock with the database's, in the middle of a round trip."""
    statement = look.sql["now"]
    with look.database.connect() as connected, connected.cursor() as cursor, translated():
        cursor.execute(statement)  # parsed and described beforehand, so that the second takes one round trip
        cursor.fetchone()
        begin, here = time.perf_counter(), look.now()
        cursor.execute(statement)
        row = cursor.fetchone()
        took = time.perf_counter() - begin
    assert row is not None  # noqa: S101 - dual has one row
    apart = (row[0].replace(tzinfo=dt.UTC) - here).total_seconds() - took / 2
    detail = f"the database's clock is {abs(apart):.1f} s {'ahead of' if apart > 0 else 'behind'} this machine's"
    if abs(apart) > _APART:
        return warn(
            detail + "; the queue goes by the database's alone, but logs, heartbeats and certificates do not",
            "Have both synchronise their clocks (NTP): `timedatectl status` on each host.",
        )
    return ok(detail if abs(apart) >= 0.1 else "the same as the database's, to a tenth of a second")


def wallet(look: Look) -> Verdict:
    """Read when the certificates of the wallet expire."""
    folder = look.settings.wallet_location
    if folder is None:
        return ok("no wallet is configured")
    file = Path(folder) / "ewallet.pem"
    renew = (
        "Get a new wallet (on Autonomous Database: Database connection, Download wallet), and unzip it into "
        "database.wallet_location (ORACLE_WALLET_LOCATION)."
    )
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return fail(
            f"There is no ewallet.pem in the wallet {folder!r}, which is the file that the driver reads in thin mode.",
            f"Unzip the whole wallet there. {renew}",
        )
    except OSError as error:
        return fail(f"{str(file)!r} cannot be read: {error.strerror}.", "Let this user read it, and nobody else.")
    from cryptography import x509  # which python-oracledb itself needs

    try:
        ends = min(certificate.not_valid_after_utc for certificate in x509.load_pem_x509_certificates(data))
    except ValueError:
        return fail(f"{str(file)!r} holds no certificate.", renew)
    return expiry(look, f"the wallet {folder!r}", ends, renew)


def expiry(look: Look, what: str, ends: dt.datetime, renew: str) -> Verdict:
    """Say whether something has expired, or soon will."""
    left = ends - look.now()
    day = f"{ends:%Y-%m-%d}"
    if left <= dt.timedelta(0):
        return fail(f"{what} expired on {day}", renew)
    detail = f"{what} expires on {day}, in {left.days:,} days"
    return warn(detail, renew) if left < EXPIRES_SOON else ok(detail)


def pre_authenticated_request(look: Look) -> Verdict:
    """Look when the address expires by which the model is fetched from Object Storage."""
    text = look.settings.par_expires_at
    if text is None and os.environ.get(_ADDRESS):
        return unknown(
            f"{_ADDRESS} is set, and nothing says when it expires.",
            "Set ORACLERAG_PAR_EXPIRES_AT to what `terraform output minilm_onnx_par_expires_at` prints.",
        )
    if text is None:
        return ok("no pre-authenticated request is configured (model.par_expires_at)")
    renew = "`terraform apply -var par_serial=N`, with another number, makes a new one; then set model.par_expires_at."
    ends = dt.datetime.fromisoformat(text)
    if ends.tzinfo is None:
        ends = ends.replace(tzinfo=dt.UTC)
    return expiry(look, "the pre-authenticated request of the model", ends, renew)


CHECKS = (
    Check("connection", "Can this process log in, and how far away is the database?", connection),
    Check("clock", "Do this machine and the database agree on the time?", clock, after=("connection",)),
    Check("wallet", "When do the certificates of the wallet expire?", wallet),
    Check("par", "When does the address expire by which the model is fetched?", pre_authenticated_request),
)
