"""Where the local database listens: the loopback interface, unless somebody says in so many words that others may."""

from __future__ import annotations

import ipaddress
import socket

__all__ = ["LOOPBACK", "REMOTE_MEANS", "bind", "check_address", "is_loopback", "reachable"]

LOOPBACK = "127.0.0.1"

REMOTE_MEANS = "whoever reaches it can try passwords, and statements and data travel unencrypted"
"""What it means to listen on another interface, as the end of a sentence."""


def check_address(address: str, *, allow_remote: bool) -> str:
    """Give the address to bind; ValueError when it is none, or not of the loopback interface without ``allow_remote``.

    An IPv4 or IPv6 address, or ``localhost``: other names can mean several addresses, and others tomorrow.
    """
    if address == "localhost":
        return LOOPBACK
    try:
        loopback = is_loopback(address)
    except ValueError:
        raise ValueError(f"{address!r} is no IP address to listen on, such as 127.0.0.1 or ::1") from None
    if not loopback and not allow_remote:
        raise ValueError(
            f"{address} is not of the loopback interface: {REMOTE_MEANS}; "
            "where that is meant, say so with --allow-remote (in Python allow_remote=True)"
        )
    return address


def is_loopback(address: str) -> bool:
    """Tell whether only this machine can reach an address; ValueError when it is none."""
    return ipaddress.ip_address(address).is_loopback


def bind(address: str, port: int, backlog: int) -> socket.socket:
    """Open the port; OSError when it is taken or the address is not this machine's."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, port), family=family, backlog=backlog)


def reachable(address: str, port: int) -> str:
    """Give host and port as a client on this machine writes them."""
    found = ipaddress.ip_address(address)
    if found.is_unspecified:
        address = LOOPBACK if found.version == 4 else "::1"
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
