"""Read the tokenizer of a Hugging Face folder: tokenizer.json, or vocab.txt with tokenizer_config.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from oraclerag.errors import ModelInvalid
from oraclerag.model.wordpiece import WordPiece

__all__ = ["LFS_MARK", "read_tokenizer", "read_vocabulary"]

LFS_MARK = b"version https://git-lfs"

_USE_WORDPIECE = "Use a model with a BERT WordPiece tokenizer, such as all-MiniLM-L6-v2."


def read_tokenizer(folder: Path, *, lowercase_first: bool = False) -> tuple[WordPiece, int | None]:
    """Give the tokenizer of a folder, and the limit that tokenizer.json states if it states one.

    ``lowercase_first``: sentence-transformers lowercases before it tokenizes. Raises ModelInvalid for any other kind
    of tokenizer.
    """
    path = folder / "tokenizer.json"
    if path.is_file():
        return read_vocabulary(path, lowercase_first=lowercase_first), _truncation(path)
    path = folder / "vocab.txt"
    if path.is_file():
        return read_vocabulary(path, lowercase_first=lowercase_first), None
    if (folder / "vocab.json").exists():
        raise ModelInvalid("The folder has vocab.json: a byte-level BPE tokenizer (RoBERTa, GPT).", hint=_USE_WORDPIECE)
    raise ModelInvalid(
        "The folder has neither tokenizer.json nor vocab.txt.", hint="Download the tokenizer of the model as well."
    )


def read_vocabulary(path: Path, *, lowercase_first: bool = False) -> WordPiece:
    """Read one tokenizer.json or vocab.txt; the switches of a vocab.txt come from tokenizer_config.json beside it."""
    raw = path.read_bytes()
    if raw.startswith(LFS_MARK):
        raise ModelInvalid(f"{path.name} is a Git LFS pointer, not the file.", hint="Run `git lfs pull` in the folder.")
    if not raw.strip():
        raise ModelInvalid(f"{path.name} is empty.", hint="Download it again.")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelInvalid(f"{path.name} is not UTF-8 text.", hint="Download it again.") from error
    if path.suffix == ".json":
        return _from_json(_object(text, path), path, lowercase_first=lowercase_first)
    return _from_lines(text, path, lowercase_first=lowercase_first)


def _object(text: str, path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ModelInvalid(f"{path.name} is not valid JSON.", hint="Download it again.") from error
    if not isinstance(found, dict):
        raise ModelInvalid(f"{path.name} does not hold a JSON object.", hint="Download it again.")
    return found


def _truncation(path: Path) -> int | None:
    truncation = _object(path.read_text("utf-8"), path).get("truncation")
    limit = truncation.get("max_length") if isinstance(truncation, dict) else None
    return limit if isinstance(limit, int) else None


def _part(tree: dict[str, Any], name: str) -> dict[str, Any]:
    found = tree.get(name)
    return found if isinstance(found, dict) else {}


def _from_json(tree: dict[str, Any], path: Path, *, lowercase_first: bool) -> WordPiece:
    model, normalizer, splitter = _part(tree, "model"), _part(tree, "normalizer"), _part(tree, "pre_tokenizer")
    if model.get("type") != "WordPiece":
        kind = {"Unigram": "a SentencePiece (Unigram)", "BPE": "a byte-pair (BPE)"}.get(
            str(model.get("type")), f"a {model.get('type')!r}"
        )
        raise ModelInvalid(
            f"{path.name} describes {kind} tokenizer; only WordPiece can be built in.", hint=_USE_WORDPIECE
        )
    expected = {
        "normalizer": (normalizer.get("type"), "BertNormalizer"),
        "pre_tokenizer": (splitter.get("type"), "BertPreTokenizer"),
        "unk_token": (model.get("unk_token"), "[UNK]"),
        "continuing_subword_prefix": (model.get("continuing_subword_prefix"), "##"),
        # The op in the graph has 100 built in.
        "max_input_chars_per_word": (model.get("max_input_chars_per_word", 100), 100),
        "clean_text": (normalizer.get("clean_text", True), True),
    }
    for name, (found, wanted) in expected.items():
        if found != wanted:
            raise ModelInvalid(
                f"{path.name} says {name} {found!r}; only {wanted!r} can be built in.", hint=_USE_WORDPIECE
            )
    vocabulary = model.get("vocab")
    if not isinstance(vocabulary, dict) or sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise ModelInvalid(f"The ids of the vocabulary in {path.name} are not 0, 1, 2, …", hint="Download it again.")
    lowercase = bool(normalizer.get("lowercase")) or lowercase_first
    strip = normalizer.get("strip_accents")
    return WordPiece(
        tuple(sorted(vocabulary, key=vocabulary.__getitem__)),
        lowercase=lowercase,
        strip_accents=bool(normalizer.get("lowercase")) if strip is None else bool(strip),
        split_chinese=bool(normalizer.get("handle_chinese_chars", True)),
    )


def _from_lines(text: str, path: Path, *, lowercase_first: bool) -> WordPiece:
    # Not splitlines: a vocabulary may hold U+2028 and its like as tokens.
    tokens = tuple(line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))
    beside = path.with_name("tokenizer_config.json")
    options = _object(beside.read_text("utf-8"), beside) if beside.is_file() else {}
    lowercase = bool(options.get("do_lower_case", True))
    strip = options.get("strip_accents")
    return WordPiece(
        tokens,
        lowercase=lowercase or lowercase_first,
        strip_accents=lowercase if strip is None else bool(strip),
        split_chinese=bool(options.get("tokenize_chinese_chars", True)),
    )
