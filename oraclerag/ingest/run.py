"""One run of ingest: every file by itself, so that a bad one stops no other and nothing is half written."""

from __future__ import annotations

import dataclasses
import datetime as dt
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, get_args

from oraclerag import telemetry
from oraclerag.chunk.diagnostics.secrets import masked, places
from oraclerag.database import Database
from oraclerag.envelope import Envelope
from oraclerag.errors import InputError, MissingTenant
from oraclerag.ingest.find import Found, Listing, find
from oraclerag.ingest.report import FileKind, IngestedFile, IngestReport, Refusal
from oraclerag.ingest.store import FileRow, Store
from oraclerag.ingest.text import Refused, known_encoding, read
from oraclerag.records import NO_TENANT, Visibility, fits
from oraclerag.source import Source, tenants_mapped
from oraclerag.source.base import in_utc, json_object

__all__ = ["DEFAULT_MAX_BYTES", "Options", "ingest"]

DEFAULT_MAX_BYTES = 100_000_000
"""What a file may take, as it lies there and unpacked."""

_LOOKED_UP_AT_ONCE = 512
_NAME_BYTES = 128  # of a tenant, a collection, an owner


@dataclass(frozen=True, slots=True)
class Options:
    """What is said of all files of one run; see :meth:`oraclerag.Rag.ingest`."""

    kind: FileKind
    collection: str | None = None
    tenant: str | None = None
    owner: str | None = None
    visibility: Visibility = "shared"
    envelope: Envelope = field(default_factory=Envelope)
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    occurred_at: dt.datetime | None = None
    root: Path | None = None
    name: str | None = None
    encoding: str | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    prune: bool = False
    force: bool = False

    def __post_init__(self) -> None:
        if self.kind not in get_args(FileKind):
            raise InputError(f"kind must be 'docs' or 'diagnostics', not {self.kind!r}.")
        if self.visibility not in get_args(Visibility):
            raise InputError(f"visibility must be 'shared' or 'owner', not {self.visibility!r}.")
        if self.visibility == "owner" and self.owner is None:
            raise InputError("With the visibility 'owner' an owner must be named, who sees the files.")
        for what in ("collection", "tenant", "owner"):
            value = getattr(self, what)
            if value is not None and not fits(value, _NAME_BYTES):
                raise InputError(f"The {what} must be a text of 1 to {_NAME_BYTES} bytes.")
        try:
            known = json_object(self.metadata)
        except (TypeError, ValueError, RecursionError):
            raise InputError("metadata must be a mapping that has a JSON form.") from None
        object.__setattr__(self, "metadata", known)
        if self.max_bytes < 1:
            raise InputError(f"The largest size is {self.max_bytes} bytes, but must be 1 at least.")


def _of_report(report: IngestReport) -> telemetry.Attributes:
    counts = ("new", "changed", "unchanged", "removed", "skipped", "failed")
    return {name: getattr(report, name) for name in counts}


@telemetry.spanned("oraclerag.ingest", of=_of_report)
def ingest(
    database: Database,
    sources: Mapping[str, Source],
    paths: Sequence[str | os.PathLike[str]],
    options: Options,
    *,
    default_tenant: str,
    stdin: BinaryIO | None = None,
    on_file: Callable[[IngestedFile, int, int], None] | None = None,
) -> IngestReport:
    """Bring RAG_FILE to what files say and enqueue what is new, changed or gone, every file in its own transaction.

    ``on_file`` is told what became of a file, how many are done and of how many. Raises InputError for arguments that
    mean nothing and for a ``prune`` that would take away too much, MissingTenant, and what the database says.
    """
    tenant = _tenant(options.tenant, default_tenant, mapped=tenants_mapped(dict(sources)))
    encoding = None if options.encoding is None else known_encoding(options.encoding)
    listing = find(paths, options.kind, root=options.root, name=options.name)
    if options.prune and not listing.folders:
        raise InputError("--prune removes what has left a folder; name one.")
    if not listing.files and not listing.refused and not options.prune:
        raise InputError("There is no file in what was named.", hint="Hidden files are left out.")
    collection = options.collection or options.kind
    store = Store(database, sources, tenant, collection)
    leaving = _leaving(store, listing, options) if options.prune else {}
    run = _Run(store, options, encoding, stdin, len(listing.files) + len(listing.refused) + len(leaving), on_file)
    for refusal in listing.refused:
        run.refuse(refusal)
    for begin in range(0, len(listing.files), _LOOKED_UP_AT_ONCE):
        run.files(listing.files[begin : begin + _LOOKED_UP_AT_ONCE])
    run.remove(leaving)
    return run.report(collection, tenant)


def _tenant(asked: str | None, default: str, *, mapped: bool) -> str:
    if asked == NO_TENANT:
        raise InputError(f"The tenant is {NO_TENANT!r}, which stands for none and is no tenant's name.")
    if mapped:
        if asked is None:
            raise MissingTenant("A source maps a tenant, so files need one too: whose are they?")
        return asked
    if asked is not None and asked != default:
        raise InputError(
            f"No source maps a tenant: files belong to {default!r} as everything does, not to {asked!r}.",
            hint="Another default tenant is set by `tenant` in oraclerag.toml, or by ORACLERAG_TENANT.",
        )
    return default


def _leaving(store: Store, listing: Listing, options: Options) -> dict[str, int]:
    """Give the files that were ingested from these folders and are not there any more.

    What lies where nobody could look, or is hidden and was named, stays. Raises InputError where that would be more
    than half of them.
    """
    there = {found.name for found in listing.files} | {refusal.name for refusal in listing.refused}
    known: dict[str, int] = {}
    for folder in listing.folders:
        below = store.below(folder, options.kind)
        known |= {name: file_id for name, file_id in below.items() if "/." not in name[len(folder) - 1 :]}
    leaving = {
        name: file_id
        for name, file_id in known.items()
        if name not in there and not name.startswith(tuple(listing.unseen))
    }
    if 2 * len(leaving) > len(known) and not options.force:
        raise InputError(
            f"--prune would remove {len(leaving):,} of {len(known):,} files; nothing was done.",
            hint="If the folder is right and so much has left it, insist: --yes, or force=True.",
        )
    return leaving


class _Run:
    """The files of one run, one after another."""

    def __init__(
        self,
        store: Store,
        options: Options,
        encoding: str | None,
        stdin: BinaryIO | None,
        total: int,
        on_file: Callable[[IngestedFile, int, int], None] | None,
    ) -> None:
        self._store = store
        self._options = options
        self._encoding = encoding
        self._stdin = stdin
        self._total = total
        self._on_file = on_file
        self._done = 0
        self._counts: Counter[str] = Counter()
        self._told: list[IngestedFile] = []

    def files(self, files: Sequence[Found]) -> None:
        """Ingest some files; what there is of them is asked once."""
        known = self._store.known([found.name for found in files])
        for found in files:
            try:
                row, one = self._row(found)
            except Refused as refused:
                self.refuse(refused.of(found.name), there=found.name in known)
                continue
            outcome, key = self._store.write(row, known.get(found.name))
            self.tell(dataclasses.replace(one, outcome=outcome, key=key))

    def refuse(self, refusal: Refusal, *, there: bool = False) -> None:
        """Note that a file is not ingested; ``there``: it was, before."""
        reason = f"{refusal.reason}; what was ingested of it before stays" if there else refusal.reason
        self.tell(IngestedFile(refusal.name, "failed" if refusal.failed else "skipped", reason))

    def remove(self, leaving: Mapping[str, int]) -> None:
        """Remove what has left its folder."""
        names = list(leaving)
        for name, key in zip(names, self._store.remove([leaving[name] for name in names]), strict=True):
            self.tell(IngestedFile(name, "removed", key=key))

    def tell(self, file: IngestedFile) -> None:
        """Note what became of a file."""
        self._done += 1
        self._counts[file.outcome] += 1
        self._counts["replaced"] += file.replaced
        self._counts["masked"] += file.masked
        if file.outcome != "unchanged" or file.replaced or file.masked:
            self._told.append(file)
        if self._on_file is not None:
            self._on_file(file, self._done, self._total)

    def report(self, collection: str, tenant: str) -> IngestReport:
        """Give what was done."""
        return IngestReport(collection, tenant, **self._counts, files=tuple(self._told))

    def _row(self, found: Found) -> tuple[FileRow, IngestedFile]:
        options = self._options
        text = read(found, self._stdin, max_bytes=options.max_bytes, encoding=self._encoding)
        body, title, secrets = text.body, text.title, 0
        if options.kind == "diagnostics":
            secrets = len(places(body))
            body, title = masked(body) if secrets else body, masked(title)
        row = FileRow(
            name=found.name,
            kind=options.kind,
            title=title,
            url=None,
            visibility=options.visibility,
            owner=options.owner,
            occurred_at=in_utc(options.occurred_at, "UTC"),
            metadata={"file": found.name, **options.metadata, **options.envelope.as_metadata()},
            body=body,
        )
        return row, IngestedFile(found.name, "unchanged", replaced=text.replaced, masked=secrets)
