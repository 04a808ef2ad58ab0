"""FLOW read → find errors and waits → analyse → search cases, notes and reports → a cited way out → keep the report.

A report is the caller's own text. It leaves this machine only where the caller says so; what of the index goes to a
language model follows the rules of every answer.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from oraclerag import answer as answering
from oraclerag import searches, telemetry
from oraclerag.database import Database
from oraclerag.diagnose import by_model, matching, path
from oraclerag.diagnose.analysis import Analysis, analysis_of, from_findings
from oraclerag.diagnose.command import command
from oraclerag.diagnose.diagnosis import Diagnosis
from oraclerag.diagnose.findings import Findings, extracted
from oraclerag.diagnose.matching import Expand, Search, Wanted
from oraclerag.diagnose.reading import Given, read_report
from oraclerag.envelope import FIELDS, Envelope
from oraclerag.errors import InputError, OracleRagError, ProviderError
from oraclerag.generate import Generator
from oraclerag.ingest import DEFAULT_MAX_BYTES, IngestedFile, IngestReport
from oraclerag.records import Answer, Hit, SourceKey
from oraclerag.reduce import Reducer
from oraclerag.scope import Scope
from oraclerag.source import Source

__all__ = ["Around", "Asked", "diagnose"]

_AS_IT_IS = Reducer(None, reduces=False)

_NOTHING = "A report that names neither an error nor a wait."

Ingest = Callable[..., IngestReport]
"""``rag.ingest`` for diagnostics of the caller's tenant."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller says of a report, see :meth:`oraclerag.Rag.diagnose`."""

    envelope: Envelope
    tenant: str | None
    analysis: Analysis | Mapping[str, Any] | str | None = None
    name: str | None = None
    encoding: str | None = None
    max_bytes: int = DEFAULT_MAX_BYTES
    store: bool | None = None
    send_report: bool = False
    cases: int = 3
    notes: int = 5
    fallback: bool = False
    min_score: float | None = None


@dataclass(frozen=True, slots=True)
class Around:
    """What the flow needs: how to read and to ingest for the resolved ``scope``, who writes, and the search log."""

    search: Search
    expand: Expand
    ingest: Ingest
    sources: Mapping[str, Source]
    generator: Generator
    how: answering.Prompting
    database: Database
    scope: Scope
    log: bool | None = None


def _of_diagnosis(diagnosis: Diagnosis) -> telemetry.Attributes:
    return {
        "analysed_by": diagnosis.analysed_by,
        "cases": len(diagnosis.cases),
        "notes": len(diagnosis.notes),
        "reports": len(diagnosis.reports),
        "missing": len(diagnosis.missing),
        "outcome": diagnosis.path.outcome,
        "stored": diagnosis.stored is not None,
    }


@telemetry.spanned("oraclerag.diagnose", of=_of_diagnosis)
def diagnose(report: str | os.PathLike[str] | BinaryIO, asked: Asked, around: Around) -> Diagnosis:
    """Diagnose a report. Raises InputError for what cannot be read, and what the searches raise.

    A language model that fails, and a report that cannot be kept, lose no diagnosis: a remark says so.
    """
    wanted = Wanted("", cases=asked.cases, notes=asked.notes)  # refuses numbers before anything is read
    kept = searches.keeping(around.database, "diagnose", around.log)
    given_analysis = None if asked.analysis is None else analysis_of(asked.analysis)
    remarks: list[str] = []
    course = searches.Course(generator=around.generator.name)
    if asked.store and asked.name is None and not isinstance(report, os.PathLike):
        raise InputError(
            "A report that is no file needs a name to be kept.", hint="Name it: --name night/alert.log (name=…)."
        )
    with course.timed("read"):
        given = read_report(report, name=asked.name, encoding=asked.encoding, max_bytes=asked.max_bytes)
        findings = extracted(given.text)
    given = dataclasses.replace(given, text="")  # of a large report that is most of what is held
    envelope = _known(asked.envelope, findings)
    with course.timed("analyse"):
        analysis, by = _analysed(given_analysis, findings, around.generator, asked, remarks)
    if analysis is None:
        remarks.append("The report names neither an error nor a wait: there is nothing to search for.")
    else:
        wanted = dataclasses.replace(
            wanted, text=analysis.text, codes=analysis.error_codes,
            waits=analysis.waits, envelope=envelope, name=given.name, fallback=asked.fallback,
            min_score=asked.min_score, max_k=around.database.settings.max_k,
        )  # fmt: skip

    def run() -> tuple[matching.Found, Answer]:
        known = matching.Found((), (), ())
        if analysis is not None:
            with course.timed("search"):
                known = matching.found(wanted, around.search, around.expand)
        return known, _way_out(analysis, by, known, asked, around, course, remarks)

    if kept is None:
        known, answer = run()
    else:
        (known, answer), (number,) = searches.followed(
            around.database, kept, [_logged(analysis, wanted, around)], [course], run
        )
        answer = dataclasses.replace(answer, search_id=number)
    with course.timed("store"):
        stored = _stored(given, asked, around, remarks)
    named = {name: getattr(envelope, name) for name in ("environment", "module", "version", "script")}
    return Diagnosis(
        name=given.name,
        found=findings,
        envelope=envelope,
        tenant=asked.tenant,
        analysis=analysis,
        analysed_by=by,
        cases=known.cases,
        notes=known.notes,
        reports=known.reports,
        missing=known.missing,
        path=answer,
        command=None if analysis is None else command(analysis, findings, named, asked.tenant),
        stored=stored,
        remarks=tuple(remarks),
        timings=course.timings,
    )


def _known(given: Envelope, found: Findings) -> Envelope:
    """Give what is known of a report: what the caller says, and the module and version that it names itself."""
    more = {}
    for name in ("module", "version"):
        said = found.facts.get(FIELDS[name], ())
        if getattr(given, name) is None and len(said) == 1:
            with contextlib.suppress(InputError):  # what a report says need be no name
                more[name] = getattr(Envelope(**{name: said[0]}), name)
    return dataclasses.replace(given, **more)


def _logged(analysis: Analysis | None, wanted: Wanted, around: Around) -> searches.Asked:
    """Give what the search log has of it: what is searched for, and options of one search that comes near to it."""
    options: dict[str, Any] = {"k": wanted.cases + wanted.notes, "order": "authority", "fallback": wanted.fallback}
    options |= {"codes": list(wanted.codes) or False, "min_score": wanted.min_score}
    if preferred := matching.preferred(wanted.envelope):
        options["prefer"] = preferred
    return searches.Asked(
        kind="diagnose",
        question=_NOTHING if analysis is None else wanted.text,
        scope=around.scope,
        options=options,
        k=wanted.cases + wanted.notes,
        prompting=dataclasses.asdict(around.how),
    )


def _analysed(
    given: Analysis | None, found: Findings, generator: Generator, asked: Asked, remarks: list[str]
) -> tuple[Analysis | None, str | None]:
    """Give the caller's analysis, or the model's, or what was found, and who made it."""
    plain = from_findings(found)
    if given is not None:  # the errors of the report are those of the incident, whatever is said of it
        codes = given.error_codes or (plain.error_codes if plain is not None else ())
        return dataclasses.replace(given, error_codes=codes), "caller"
    if plain is None:
        return None, None
    if generator.name == "extractive":
        return plain, "extracted"
    if not generator.local and not asked.send_report:
        remarks.append(
            "The language model is not on this machine, so nothing of the report was sent to it; send_report allows it."
        )
        return plain, "extracted"
    try:
        made, left_out = by_model.analysed(found, generator)
    except ProviderError as error:
        remarks.append(f"No language model analysed the report ({error.code}): what was found in it is searched for.")
        return plain, "extracted"
    if left_out:
        remarks.append(f"{left_out} codes or waits of the language model's analysis do not stand in the report.")
    # A model that names no code takes none away.
    codes = made.error_codes or plain.error_codes
    return dataclasses.replace(made, error_codes=codes, waits=made.waits or plain.waits), generator.name


def _way_out(
    analysis: Analysis | None,
    by: str | None,
    known: matching.Found,
    asked: Asked,
    around: Around,
    course: searches.Course,
    remarks: list[str],
) -> Answer:
    """Answer, from the cases and then the notes, which steps resolve the incident."""
    result = dataclasses.replace(known.result, hits=_ranked(known), codes_missing=known.missing)
    how = dataclasses.replace(around.how, reduce=False)
    searched_for = course.timings.get("search", 0.0)

    def answered(question: str, generator: Generator, how: answering.Prompting) -> Answer:
        try:
            return answering.answer(
                question, lambda _: result, around.sources, generator, how, reducer=_AS_IT_IS, course=course
            )
        finally:
            course.searched, course.timings["search"] = None, searched_for

    question = path.question("" if analysis is None else analysis.text)
    generator = around.generator
    if generator.name != "extractive":
        sent = question
        if analysis is not None and by == "extracted" and not generator.local and not asked.send_report:
            sent = path.question(", ".join((*analysis.error_codes, *analysis.waits)))
        try:
            return answered(sent, generator, dataclasses.replace(how, template=how.template or path.template()))
        except ProviderError as error:
            remarks.append(f"No language model wrote the way out ({error.code}): what is known is quoted.")
    return answered(question, path.Steps(), how)


def _ranked(known: matching.Found) -> tuple[Hit, ...]:
    """Give the hits in the order of their weight: cases, then notes."""
    hits = [match.hit for match in (*known.cases, *known.notes)]
    return tuple(dataclasses.replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1))


def _stored(given: Given, asked: Asked, around: Around, remarks: list[str]) -> SourceKey | None:
    """Take the report in where that is wanted, so that it is found later; gives its key."""
    if asked.store is False or given.name is None:
        return None
    files: list[IngestedFile] = []
    try:
        around.ingest(
            given.path,
            kind="diagnostics",
            tenant=asked.tenant,
            envelope=asked.envelope,
            name=asked.name,
            encoding=asked.encoding,
            max_bytes=asked.max_bytes,
            stdin=given.stream,
            on_file=lambda file, *_: files.append(file),
        )
    except OracleRagError as error:
        remarks.append(f"The report was not kept: {error.message}")
        return None
    remarks += [f"The report was not kept: {file.reason}." for file in files if file.reason]
    return next((file.key for file in files if file.key is not None), None)
