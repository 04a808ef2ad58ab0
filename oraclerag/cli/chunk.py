"""``chunk``: how a text would be cut, without storing it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from oraclerag.cli.options import Json, megabytes, opened, output

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.ingest.text import FileText
    from oraclerag.model.window import Reads
    from oraclerag.preview import Preview
    from oraclerag.rag import Rag

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("chunk")(chunk)


def chunk(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Text, Markdown, HTML or a report; .gz too; - is stdin.")],
    chunker: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="CHUNKER", help="whole, passages, diagnostics or database (default: by what the text is)."
        ),
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help="Of passages: fit, note, article or faq.")
    ] = None,
    size: Annotated[int | None, typer.Option("--size", metavar="N", help="Tokens of a chunk, at most.")] = None,
    overlap: Annotated[
        int | None, typer.Option("--overlap", metavar="N", help="Tokens that the next chunk repeats.")
    ] = None,
    allow_truncation: Annotated[
        bool, typer.Option("--allow-truncation", help="Insist on more tokens than the model reads.")
    ] = False,
    vector_chunks: Annotated[
        str | None, typer.Option("--vector-chunks", metavar="CLAUSE", help="Of --as database: how VECTOR_CHUNKS cuts.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The title of the document.")] = None,
    counter: Annotated[
        str | None,
        typer.Option(
            "--counter",
            metavar="MODEL",
            help="Count without a database: minilm-l6 if it was fetched, a model's folder, or cl100k.",
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option("--encoding", metavar="NAME", help="Of a file without a byte order mark (default: utf-8)."),
    ] = None,
    max_size: Annotated[
        float, typer.Option("--max-size", metavar="MB", min=0.000001, max=10_000, help="A larger file is not read.")
    ] = 100.0,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="PATH", help="Write a page that colours the chunks.")
    ] = None,
    json: Json = False,
) -> None:
    """Show how a text would be cut, without storing it.

    Tokens are counted as the model in force counts them, or as --counter does. Secrets that reports show are masked, as
    `ingest` does.
    """
    from oraclerag.cutting import Cutting
    from oraclerag.preview import guessed, preview

    screen = output(json)
    read = _read(file, encoding, megabytes(max_size))
    text, title = read.body, title or read.title
    if chunker is None:
        chunker = "passages" if preset is not None else guessed(text)
    if read.replaced:
        screen.say(f"{read.replaced:,} characters replaced; --encoding says in which encoding it is.")
    if chunker == "diagnostics":
        from oraclerag.chunk.diagnostics.secrets import masked

        text, title = masked(text), masked(title)
    cutting = Cutting(chunker, preset, size, overlap, allow_truncation, vector_chunks)
    with opened() as rag:
        cutting = rag.settings.cutting(cutting)
        model = _model(rag, counter)
        shown = preview(text, model, cutting, title=title, pieces=rag.pieces(text, cutting))
    if html is not None:
        from oraclerag.cli.chunk_page import page

        with html.open("w", encoding="utf-8") as out:
            out.writelines(page(shown, title))
        screen.say(f"{html} shows the chunks.")
    if json:
        screen.data(_records(shown))
    else:
        _table(screen, shown)


def _read(file: str, encoding: str | None, max_bytes: int) -> FileText:
    """Read a text as ``ingest`` does."""
    import sys

    from oraclerag.errors import InputError
    from oraclerag.ingest.find import STANDARD_INPUT, Found
    from oraclerag.ingest.text import Refused, known_encoding, read

    path = None if file == STANDARD_INPUT else Path(file)
    found = Found("standard input" if path is None else path.name, path)
    if path is not None and not path.exists():
        raise InputError(f"There is no file {file!r}.")
    try:
        return read(
            found, sys.stdin.buffer, max_bytes=max_bytes, encoding=known_encoding(encoding) if encoding else None
        )
    except Refused as error:
        raise InputError(f"{file!r} cannot be cut: {error.reason}.") from None


def _model(rag: Rag, counter: str | None) -> Reads:
    """Give who counts; where the database cannot say, the error tells that one can do without."""
    from oraclerag.errors import OracleRagError
    from oraclerag.model.window import window

    if counter is not None:
        return window(counter)
    try:
        return rag.model()
    except OracleRagError as error:
        error.hint = " ".join(
            filter(None, (error.hint, "Tokens can be counted without a database: --counter minilm-l6."))
        )
        raise


def _records(shown: Preview) -> dict[str, Any]:
    from oraclerag.console import record

    return {
        "chunker": shown.cutting.chunker,
        "family": shown.family,
        "experimental": shown.experimental,
        "model": shown.model,
        "max_tokens": shown.max_tokens,
        "exact": shown.exact,
        "chunks": [
            record(measured.chunk)
            | {"content": measured.chunk.content, "tokens": measured.tokens, "bytes": measured.size}
            for measured in shown.chunks
        ],
    }


def _table(screen: Output, shown: Preview) -> None:
    from oraclerag.console import one_line

    if shown.family is not None:
        rough = "; experimental: no real sample of it was at hand when its chunker was written"
        screen.say(f"Recognised as {shown.family}{rough if shown.experimental else ''}.")
    screen.table(
        ("#", "from", "to", "tokens", "bytes", "section", "says", "begins with"),
        (
            (
                measured.chunk.number,
                measured.chunk.start,
                measured.chunk.end,
                measured.tokens,
                measured.size,
                one_line(measured.chunk.section, 24),
                _said(measured.chunk.metadata),
                one_line(measured.chunk.text),
            )
            for measured in shown.chunks
        ),
        right=("#", "from", "to", "tokens", "bytes"),
    )
    counted = "counted" if shown.exact else "estimated from above"
    screen.say(
        f"{len(shown.chunks)} {'chunk' if len(shown.chunks) == 1 else 'chunks'} ({shown.cutting.chunker}), "
        f"tokens {counted} for {shown.model}, which reads {shown.max_tokens:,}."
    )


def _said(metadata: Mapping[str, Any]) -> str:
    """Give what a chunk says of itself in a few words: its codes, else names and values."""
    from oraclerag.console import one_line

    told = {name: value for name, value in metadata.items() if name not in ("report_family", "timestamp")}
    if "oracle_error_code" in told:
        told = {"": told["oracle_error_code"]}
    words = [f"{name}={_listed(value)}" if name else _listed(value) for name, value in told.items()]
    return one_line(", ".join(words), 22)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
