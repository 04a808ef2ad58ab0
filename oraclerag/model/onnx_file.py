"""Look into an ONNX file before it is sent to the database, without the onnx package.

Only what decides whether Oracle can load it is read: inputs, outputs, the operators of other domains, the file's own
metadata.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from oraclerag.errors import InputError, ModelInvalid
from oraclerag.model.protobuf import fields, message, text
from oraclerag.model.sentencepiece import SentencePiece
from oraclerag.model.tokenizer_files import LFS_MARK
from oraclerag.model.wordpiece import WordPiece

__all__ = ["MAX_BYTES", "ModelFile", "inspect_file"]

MAX_BYTES = 1_000_000_000  # the 23ai limit; 26ai takes 2 GB

_BUILD = "Build one with its tokenizer inside: `oraclerag model build FOLDER -o FILE`."
_STRING, _FLOAT = 8, 1  # TensorProto.DataType
_EXTERNAL = 1  # TensorProto.DataLocation


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model that Oracle can load as far as can be told from the file.

    ``input`` and ``output`` are the names of its string and vector tensors; ``max_tokens`` and ``tokenizer`` are None
    where the file does not say (another tool made it, or its tokenizer is not BERT's).
    """

    path: Path
    sha256: str
    size: int
    input: str
    output: str
    dimensions: int
    max_tokens: int | None
    tokenizer: WordPiece | SentencePiece | None
    query_prefix: str = ""
    passage_prefix: str = ""


@dataclass(slots=True)
class _Tensor:
    name: str
    kind: int
    shape: list[int | None]


def inspect_file(path: Path) -> ModelFile:
    """Check a file and give what is known of it; ModelInvalid names the remedy in plain words."""
    if not path.exists():
        raise InputError(f"There is no file {str(path)!r}.")
    if path.is_dir():
        raise ModelInvalid(f"{str(path)!r} is a folder, not an ONNX file.", hint=_BUILD)
    size = path.stat().st_size
    if size == 0:
        raise ModelInvalid(f"{path.name} is empty.", hint="Build or download it again.")
    if size > MAX_BYTES:
        raise ModelInvalid(
            f"{path.name} has {size:,} bytes; Oracle Database loads up to {MAX_BYTES:,}.", hint="Use a smaller model."
        )
    data = memoryview(path.read_bytes())
    start = bytes(data[: len(LFS_MARK)])
    if start == LFS_MARK:
        raise ModelInvalid(
            f"{path.name} is a Git LFS pointer, not the model.", hint="Run `git lfs pull`, or download it again."
        )
    if start.startswith(b"PK\x03\x04"):
        raise ModelInvalid(f"{path.name} is a zip file.", hint="Unpack it and load the .onnx file inside.")
    try:
        return _read(path, data, size, hashlib.sha256(data).hexdigest())
    except (IndexError, ValueError) as error:
        raise ModelInvalid(
            f"{path.name} is not an ONNX file, or only a part of one.", hint="Build or download it again."
        ) from error


def _read(path: Path, data: memoryview, size: int, digest: str) -> ModelFile:
    properties: dict[str, str] = {}
    graph: memoryview | None = None
    for number, value in fields(data):
        if number == 7:
            graph = message(value)
        elif number == 14:
            entry = {part: text(content) for part, content in fields(message(value)) if part in (1, 2)}
            properties[entry.get(1, "")] = entry.get(2, "")
    if graph is None:
        raise ValueError("a model without a graph")
    inputs: list[_Tensor] = []
    outputs: list[_Tensor] = []
    constants: set[str] = set()
    tokenizer: WordPiece | SentencePiece | None = None
    for number, value in fields(graph):
        if number == 1:
            tokenizer = _tokenizer(message(value)) or tokenizer
        elif number == 5:
            constants.add(_initializer(path, message(value)))
        elif number == 11:
            inputs.append(_tensor(message(value)))
        elif number == 12:
            outputs.append(_tensor(message(value)))
    inputs = [tensor for tensor in inputs if tensor.name not in constants]
    string, vector, dimensions = _check(path, inputs, outputs)
    limit = properties.get("oraclerag.max_tokens", "")
    return ModelFile(
        path=path,
        sha256=digest,
        size=size,
        input=string,
        output=vector,
        dimensions=dimensions,
        max_tokens=int(limit) if limit.isdigit() else None,
        tokenizer=tokenizer,
        query_prefix=properties.get("oraclerag.query_prefix", ""),
        passage_prefix=properties.get("oraclerag.passage_prefix", ""),
    )


def _check(path: Path, inputs: list[_Tensor], outputs: list[_Tensor]) -> tuple[str, str, int]:
    names = ", ".join(tensor.name for tensor in inputs) or "none"
    if len(inputs) != 1 or inputs[0].kind != _STRING:
        tokens = {"input_ids", "attention_mask", "token_type_ids"} & {tensor.name for tensor in inputs}
        what = "It is a plain export without its tokenizer: " if tokens else ""
        raise ModelInvalid(
            f"{path.name} reads the inputs {names}; Oracle Database wants one string. {what}"
            "VECTOR_EMBEDDING would have no text to give it.",
            hint=_BUILD,
        )
    vectors = []
    for tensor in outputs:
        sizes = [size for size in tensor.shape if size is not None and size > 1]
        variable = sum(size is None for size in tensor.shape)
        if tensor.kind == _FLOAT and len(sizes) == 1 and variable <= 1:
            vectors.append((tensor.name, sizes[0]))
    if len(vectors) != 1:
        raise ModelInvalid(
            f"{path.name} has {len(vectors)} outputs of FLOAT32 with one fixed dimension; Oracle Database wants one. "
            f"Its outputs: {', '.join(tensor.name for tensor in outputs) or 'none'}.",
            hint=_BUILD,
        )
    return inputs[0].name, *vectors[0]


def _initializer(path: Path, data: memoryview) -> str:
    name = ""
    for number, value in fields(data):
        if number == 8:
            name = text(value)
        elif number == 14 and value == _EXTERNAL:
            raise ModelInvalid(
                f"{path.name} keeps its weights in another file; the database is sent one file only.", hint=_BUILD
            )
    return name


def _tensor(data: memoryview) -> _Tensor:
    found = _Tensor("", 0, [])
    for number, value in fields(data):
        if number == 1:
            found.name = text(value)
        elif number == 2:
            for kind, tensor in fields(message(value)):
                if kind != 1:
                    continue
                for part, content in fields(message(tensor)):
                    if part == 1 and isinstance(content, int):
                        found.kind = content
                    elif part == 2:
                        found.shape = [_dimension(message(size)) for _, size in fields(message(content))]
    return found


def _dimension(data: memoryview) -> int | None:
    """Give a fixed size, None for a named or unknown one."""
    for number, value in fields(data):
        if number == 1 and isinstance(value, int):
            return value if 0 < value < 1 << 63 else None
    return None


def _tokenizer(data: memoryview) -> WordPiece | SentencePiece | None:
    """Give the tokenizer inside a node of the one kind or the other, None for any other node."""
    kind = ""
    texts: dict[str, memoryview] = {}
    numbers: dict[str, int] = {}
    for number, value in fields(data):
        if number == 4:
            kind = text(value)
        elif number == 5:
            name = ""
            for part, content in fields(message(value)):
                if part == 1:
                    name = text(content)
                elif part == 3 and isinstance(content, int):
                    numbers[name] = content
                elif part == 4:
                    texts[name] = message(content)
    if kind == "SentencepieceTokenizer" and "model" in texts:
        return SentencePiece(bytes(texts["model"]))
    if kind != "BertTokenizer" or "vocab_file" not in texts:
        return None
    # The defaults are those of the op; it drops empty lines.
    return WordPiece(
        tuple(token for token in text(texts["vocab_file"]).replace("\r", "\n").split("\n") if token),
        lowercase=bool(numbers.get("do_lower_case", 1)),
        strip_accents=bool(numbers.get("strip_accents", 0)),
        split_chinese=bool(numbers.get("tokenize_chinese_chars", 1)),
    )
