"""From a Hugging Face folder of the BERT family to one ONNX file that Oracle Database can load. No PyTorch."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from oraclerag.errors import InputError, ModelError
from oraclerag.model.folder import read_folder

__all__ = ["BuiltModel", "build"]


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """The file that was written.

    ``max_tokens`` counts [CLS] and [SEP]; ``limit_from`` says where it comes from: a file of the folder, or
    ``argument``.
    """

    path: Path
    sha256: str
    size: int
    dimensions: int
    max_tokens: int
    limit_from: str


def build(
    folder: Path,
    output: Path,
    *,
    max_tokens: int | None = None,
    query_prefix: str | None = None,
    passage_prefix: str | None = None,
) -> BuiltModel:
    """Write the model of ``folder`` to ``output`` (replaced as a whole, or left as it was).

    ``max_tokens`` (3 up to the size of the position table; default: what the folder states) is where the graph cuts
    texts, [CLS] and [SEP] included. The prefixes are put before questions and passages, where the folder does not say
    which or others are wanted. Raises ModelInvalid for a folder that cannot be built, InputError for arguments.
    """
    from_folder = read_folder(folder)
    limit, limit_from = from_folder.limit, from_folder.limit_from
    if max_tokens is not None:
        if not 3 <= max_tokens <= from_folder.shape.positions:
            raise InputError(
                f"max_tokens is {max_tokens}, but must be between 3 and {from_folder.shape.positions}, the size of the "
                "model's position table."
            )
        limit, limit_from = max_tokens, "argument"
    if output.is_dir():
        raise InputError(f"{str(output)!r} is a folder.", hint="Name the file to write, such as model.onnx.")
    try:
        from oraclerag.model.assemble import assemble
        from oraclerag.model.weights import read_weights
    except ImportError as error:
        raise ModelError(
            f"Building a model needs the package {error.name}.", hint="pip install 'oraclerag[model]'"
        ) from error
    data = assemble(
        from_folder.tokenizer,
        from_folder.shape,
        read_weights(from_folder.weights, from_folder.shape),
        max_tokens=limit,
        pooling=from_folder.pooling,
        properties={
            "oraclerag.query_prefix": from_folder.query_prefix if query_prefix is None else query_prefix,
            "oraclerag.passage_prefix": from_folder.passage_prefix if passage_prefix is None else passage_prefix,
        },
    )
    _write(output, data)
    return BuiltModel(
        path=output,
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        dimensions=from_folder.shape.hidden,
        max_tokens=limit,
        limit_from=limit_from,
    )


def _write(output: Path, data: bytes) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o644)  # mkstemp makes 0600; the database's own process may have to read it
        Path(name).replace(output)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
