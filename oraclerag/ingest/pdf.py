"""The text of a PDF, by pypdf, which the extra ``pdf`` installs."""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass, field

from oraclerag.errors import ConfigurationError, InputError

__all__ = ["PdfText", "extract"]

# What pypdf raises beside its own errors, for files that are not well formed.
_MALFORMED = (
    ArithmeticError, AssertionError, AttributeError, LookupError, MemoryError, NotImplementedError, OSError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of the pages, an empty line between them, and the title that the file says of itself."""

    text: str = field(repr=False)
    title: str | None = field(default=None, repr=False)


def extract(data: bytes) -> PdfText:
    """Give the text of a PDF, empty where its pages are images.

    Raises ConfigurationError where pypdf is not installed, InputError where a password is needed or the file is broken.
    """
    try:
        import pypdf
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError:
        raise ConfigurationError(
            "PDF needs the library pypdf, which is not installed:", hint="pip install 'oraclerag[pdf]'"
        ) from None
    # What it finds odd in a file would be printed where nobody has set up logging.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError("the PDF is encrypted; take its password off first")
        pages = [page.extract_text().strip() for page in reader.pages]
        said = reader.metadata.title if reader.metadata is not None else None
    except DependencyError as error:
        raise ConfigurationError(
            "the PDF is encrypted; without its password it is read by the library cryptography alone:",
            hint="pip install cryptography",
        ) from error
    except (PyPdfError, *_MALFORMED) as error:
        raise InputError(f"the PDF cannot be read ({type(error).__name__})") from error
    title = " ".join(said.split()) if isinstance(said, str) else ""
    return PdfText("\n\n".join(page for page in pages if page), title or None)
