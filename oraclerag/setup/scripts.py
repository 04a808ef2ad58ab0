"""The scripts of ``sql/setup`` and that of the tables, with the names of an installation, in the order to run them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from oraclerag import __version__, schema
from oraclerag.config import Settings
from oraclerag.errors import InputError
from oraclerag.statements import identifier, root

__all__ = ["Names", "Script", "scripts", "whole", "write"]

When = Literal["install", "afterwards", "optional", "remove"]

_DEFINE = re.compile(r"^DEFINE (\w+) = \S+$", re.MULTILINE)
_QUOTA = re.compile(r"[1-9][0-9]{0,9}[KMGT]?|UNLIMITED")
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True)
class Names:
    """How things are called: plain identifiers, taken in upper case.

    ``owner`` has the tables, ``worker`` and ``application`` are the database users of workers and of programs that
    announce and search, ``role`` is what the four roles begin with. ``quota`` is as Oracle writes it: 10G, UNLIMITED.
    """

    owner: str = "RAG"
    worker: str = "RAG_INDEXER"
    application: str = "RAG_APP"
    role: str = "RAG"
    tablespace: str = "USERS"
    quota: str = "10G"

    def __post_init__(self) -> None:
        for name in ("owner", "worker", "application", "role", "tablespace"):
            object.__setattr__(self, name, identifier(getattr(self, name), f"name of the {name}"))
        object.__setattr__(self, "quota", self.quota.upper())
        if not _QUOTA.fullmatch(self.quota):
            raise InputError(f"{self.quota!r} is no quota: a number with K, M, G or T, or UNLIMITED.")
        if len({self.owner, self.worker, self.application}) < 3:
            raise InputError("The owner of the tables, the workers and the application must be three users.")


@dataclass(frozen=True, slots=True)
class Script:
    """One script for SQL*Plus or SQLcl: where it goes, when and by whom it is run, and what for."""

    path: str
    when: When
    who: str
    what: str
    text: str


def scripts(names: Names, settings: Settings) -> tuple[Script, ...]:
    """Give everything that a DBA runs, in order; needs no database.

    Of the settings the endpoint and the credential count, where the database asks a language model.
    """
    filled = _names(names, settings)

    def of(path: str, when: When, who: str, what: str) -> Script:
        text = (root("sql") / "setup" / path.rpartition("/")[2].lstrip("0123456789_")).read_text("utf-8")
        return Script(path, when, who, what, _filled(text, filled))

    dba, owner = "a DBA", names.owner
    readers = f"{names.role}_SEARCHER"
    return (
        of("1_create_user.sql", "install", dba, f"the owner of the tables, {owner}"),
        Script("2_tables.sql", "install", dba, f"tables, indexes and views in {owner}", schema.script(owner)),
        of("3_grant_users.sql", "install", dba, f"roles {names.role}_ENQUEUER, _SEARCHER, _WORKER, _RECORDER"),
        of("4_application_users.sql", "install", dba, f"users {names.worker} and {names.application}"),
        of("afterwards/grant_model.sql", "afterwards", owner, "workers and searchers may use the model in force"),
        of("optional/model_directory.sql", "optional", dba, "the database reads model files from a folder of its host"),
        of("optional/network_acl.sql", "optional", dba, f"{names.application} may reach a language model"),
        of("optional/credential.sql", "optional", names.application, "the key of that language model"),
        of("optional/vpd.sql", "optional", dba, f"row security between tenants for {readers}, _RECORDER"),
        of("optional/vpd_remove.sql", "optional", dba, "takes row security away"),
        of("remove/drop_all.sql", "remove", owner, "everything that oraclerag made; the data is lost"),
    )


def whole(found: Iterable[Script]) -> str:
    """Give the scripts of the installation as one, to be saved: through a pipe its own lines would be its answers."""
    head = f"-- oraclerag {__version__}: what a DBA runs for a new database. Save it, then: sqlplus ... @FILE\n"
    parts = [f"\n{_RESET}{_part(script.text)}" for script in found if script.when == "install"]
    return "".join([head, *parts, "\nEXIT\n"])


def write(found: Iterable[Script], folder: Path, names: Names) -> tuple[Path, ...]:
    """Write the scripts into a folder, with one that runs those of the installation and a page that says so.

    Files of these names are replaced, others left alone.
    """
    found = tuple(found)
    texts = {script.path: script.text if script.when != "install" else _part(script.text) for script in found}
    calls = [
        f"PROMPT {script.path}: {script.what}\n{_RESET}@@{script.path}" for script in found if script.when == "install"
    ]
    texts["install.sql"] = _INSTALL.format(version=__version__, calls="\n\n".join(calls))
    texts["README.txt"] = _page(found, names)
    written = []
    for path, text in texts.items():
        place = folder / path
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        except OSError as error:
            raise InputError(f"{str(place)!r} cannot be written: {error.strerror}.") from None
        written.append(place)
    return tuple(sorted(written))


_RESET = "SET DEFINE ON\n"  # the script of the tables turns substitution off

_INSTALL = """\
-- oraclerag {version}: what a DBA runs for a new database, in order. It asks for three passwords, stops at the
-- first error, and can be run again.
--
--   sqlplus system@//dbhost:1521/FREEPDB1 @install.sql
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE

{calls}

EXIT
"""

_PAGE = """\
oraclerag {version}: what a DBA runs for a new database

1. In this folder, as a DBA in the pluggable database (on Autonomous Database as ADMIN, with DATA as the tablespace):

     sqlplus system@//dbhost:1521/FREEPDB1 @install.sql

   It asks for three passwords, stops at the first error, and can be run again:
{install}

2. As {owner}, on a machine that has oraclerag:

     ORACLE_USER={owner} oraclerag provision --model FILE

3. As {owner}, and again whenever another model was taken into use:
{afterwards}

4. Workers connect as {worker}, programs that announce changes and search as {application}, both with
   ORACLERAG_SCHEMA={owner}. {worker} must be able to read the tables of the sources: GRANT READ ON ... TO {worker}.
   With `oraclerag doctor` each of them sees whether something is missing.

Only where it is wanted, one by one; each says in its first lines what for:
{optional}

To take everything away:
{remove}
"""


def _page(found: tuple[Script, ...], names: Names) -> str:
    def lines(when: When) -> str:
        return "\n".join(f"     {one.path:30} as {one.who}: {one.what}" for one in found if one.when == when)

    return _PAGE.format(
        version=__version__,
        owner=names.owner,
        worker=names.worker,
        application=names.application,
        install=lines("install"),
        afterwards=lines("afterwards"),
        optional=lines("optional"),
        remove=lines("remove"),
    )


def _names(names: Names, settings: Settings) -> dict[str, str]:
    filled = {
        "rag_owner": names.owner,
        "rag_worker": names.worker,
        "rag_application": names.application,
        "rag_role": names.role,
        "rag_tablespace": names.tablespace,
        "rag_quota": names.quota,
        "rag_readers": f"{names.role}_SEARCHER,{names.role}_RECORDER",
        "rag_user": names.application,
        "rag_package": settings.generate_package,
    }
    if settings.generate_credential is not None:
        filled["rag_credential"] = identifier(settings.generate_credential, "credential")
    place = urlsplit(settings.generate_base_url or "")
    if settings.generate_provider == "database" and place.hostname:
        filled["rag_host"] = place.hostname.lower()
        filled["rag_port"] = str(place.port or _PORTS.get(place.scheme, 443))
    return filled


def _filled(text: str, names: Mapping[str, str]) -> str:
    """Put names in the place of those that a script begins with, also where its comments name them as examples."""
    return _DEFINE.sub(lambda match: f"DEFINE {match[1]} = {names[match[1]]}" if match[1] in names else match[0], text)


def _part(text: str) -> str:
    """Leave out what would end the session, so that the next script runs in it."""
    return "\n".join(line for line in text.split("\n") if line != "EXIT")
