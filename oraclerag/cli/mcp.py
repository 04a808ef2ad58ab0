"""``mcp``: search and ask for a language model's client, over the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from oraclerag.cli.options import Collections, Groups, Manager, Owner, SourceNames, Tenant, opened, scope

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("mcp")(mcp)


def mcp(
    owner: Owner = None,
    group: Groups = None,
    manager: Manager = False,
    tenant: Tenant = None,
    source: SourceNames = None,
    collection: Collections = None,
    local_model: Annotated[
        bool, typer.Option("--local-model", help="The client's model is on this machine: egress = false may be read.")
    ] = False,
) -> None:
    """Serve search, ask and fetch to an MCP client over stdio.

    Every call asks as the options say, and no call can ask for more. Needs the extra: pip install 'oraclerag[mcp]'.
    """
    from oraclerag.errors import ConfigurationError

    try:
        from oraclerag.integrations.mcp import Bounds, server
    except ImportError as error:
        message, _, command = str(error).rstrip(".").partition(": ")
        raise ConfigurationError(f"{message}.", hint=command or None) from error
    asker = scope(tenant, owner, group, manager=manager)
    with opened() as rag:
        rag.fetch([], scope=asker)  # a database that does not answer, or a missing tenant, is told here and now
        server(rag, Bounds(asker, tuple(source or ()), tuple(collection or ()), local_model)).run()
