"""Read a Hugging Face folder of the BERT family, and refuse in plain words what is none.

Only facts are read here: numbers of the encoder, tokenizer, limit, pooling. The weights are left to ``weights.py``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oraclerag.errors import InputError, ModelInvalid
from oraclerag.model.sentencepiece import SentencePiece
from oraclerag.model.shape import BertShape
from oraclerag.model.tokenizer import Tokenizer
from oraclerag.model.tokenizer_files import LFS_MARK, read_tokenizer

__all__ = ["BertFolder", "read_folder"]

_USE_BERT = "Use a BERT-family sentence encoder with a WordPiece vocabulary, such as all-MiniLM-L6-v2."
_MODULES = ("Transformer", "Pooling", "Normalize")


@dataclass(frozen=True, slots=True)
class BertFolder:
    """What a folder says: the numbers of the encoder, its tokenizer, its limit in tokens, how it pools.

    ``pooling`` is ``mean`` or ``cls``. ``limit`` counts [CLS] and [SEP]; ``limit_from`` names the file it was read
    from. ``query_prefix`` and ``passage_prefix`` are what the authors put before queries and texts, usually nothing.
    """

    path: Path
    shape: BertShape
    tokenizer: Tokenizer
    limit: int
    limit_from: str
    pooling: str
    weights: Path
    query_prefix: str = ""
    passage_prefix: str = ""


def read_folder(folder: Path) -> BertFolder:
    """Read the folder; ModelInvalid (InputError for a path that is not there) names what is wrong and the remedy."""
    if not folder.exists():
        raise InputError(f"There is no folder {str(folder)!r}.")
    if not folder.is_dir():
        raise _not_a_folder(folder)
    config = _json(folder / "config.json", required=True)
    shape = _shape(config)
    sentence = _json(folder / "sentence_bert_config.json")
    tokenizer: Tokenizer
    truncation = None
    found = _sentencepiece(folder)
    if found is not None:
        tokenizer = found
    else:
        tokenizer, truncation = read_tokenizer(folder, lowercase_first=bool(sentence.get("do_lower_case")))
    if tokenizer.size > shape.vocabulary:
        raise ModelInvalid(
            f"The tokenizer has {tokenizer.size} tokens, config.json says vocab_size {shape.vocabulary}.",
            hint="Take tokenizer and config.json from the same model.",
        )
    limit, limit_from = _limit(sentence, truncation, shape)
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts") or {}
    return BertFolder(
        path=folder,
        shape=shape,
        tokenizer=tokenizer,
        limit=limit,
        limit_from=limit_from,
        pooling=_pooling(folder),
        weights=_weights(folder),
        query_prefix=_prompt(prompts, "query"),
        passage_prefix=_prompt(prompts, "passage", "document"),
    )


def _not_a_folder(path: Path) -> ModelInvalid:
    with path.open("rb") as file:
        start = file.read(len(LFS_MARK))
    build = "`oraclerag model build FOLDER -o FILE` wants the folder with config.json and model.safetensors."
    if start.startswith(b"PK\x03\x04"):
        return ModelInvalid(f"{path.name} is a zip file.", hint=f"Unpack it first. {build}")
    if start == LFS_MARK:
        return ModelInvalid(f"{path.name} is a Git LFS pointer, not a model.", hint=f"Run `git lfs pull`. {build}")
    if path.suffix == ".onnx":
        return ModelInvalid(
            f"{path.name} is an ONNX file already.",
            hint=f"If its tokenizer is inside, run `oraclerag model load {path.name}`. {build}",
        )
    return ModelInvalid(f"{path.name} is a file, not the folder of a model.", hint=build)


def _json(path: Path, *, required: bool = False) -> dict[str, Any]:
    """Read a JSON object; {} for a file that is not there, unless it is required."""
    if not path.is_file():
        if required:
            raise ModelInvalid(
                f"The folder has no {path.name}: it is not that of a Hugging Face model.",
                hint="Pass the folder that holds config.json, model.safetensors and tokenizer.json or vocab.txt.",
            )
        return {}
    raw = path.read_bytes()
    if raw.startswith(LFS_MARK):
        raise ModelInvalid(f"{path.name} is a Git LFS pointer, not the file.", hint="Run `git lfs pull` in the folder.")
    if not raw.strip():
        raise ModelInvalid(f"{path.name} is empty.", hint="Download the folder again.")
    try:
        found = json.loads(raw)
    except ValueError as error:
        raise ModelInvalid(f"{path.name} is not valid JSON.", hint="Download the folder again.") from error
    if not isinstance(found, dict):
        raise ModelInvalid(f"{path.name} does not hold a JSON object.", hint="Download the folder again.")
    return found


def _shape(config: dict[str, Any]) -> BertShape:
    kind = config.get("model_type")
    if kind != "bert":
        raise ModelInvalid(f"config.json says model_type {kind!r}; only 'bert' can be built.", hint=_USE_BERT)
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise ModelInvalid(
            f"config.json says position_embedding_type {config['position_embedding_type']!r}; only 'absolute' can be "
            "built.",
            hint=_USE_BERT,
        )
    if config.get("is_decoder") or config.get("embedding_size", config.get("hidden_size")) != config.get("hidden_size"):
        raise ModelInvalid("config.json describes a decoder or factorised embeddings.", hint=_USE_BERT)
    numbers: dict[str, int] = {}
    for name in (
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
    ):
        value = config.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ModelInvalid(f"{name} in config.json must be a whole number above 0.", hint="Download it again.")
        numbers[name] = value
    if numbers["hidden_size"] % numbers["num_attention_heads"]:
        raise ModelInvalid("hidden_size in config.json is not a multiple of num_attention_heads.", hint=_USE_BERT)
    return BertShape(
        vocabulary=numbers["vocab_size"],
        hidden=numbers["hidden_size"],
        layers=numbers["num_hidden_layers"],
        heads=numbers["num_attention_heads"],
        intermediate=numbers["intermediate_size"],
        positions=numbers["max_position_embeddings"],
        types=int(config.get("type_vocab_size", 2)),
        epsilon=float(config.get("layer_norm_eps", 1e-12)),
        activation=str(config.get("hidden_act", "gelu")),
    )


def _sentencepiece(folder: Path) -> SentencePiece | None:
    """Give the tokenizer of a BERT encoder that reads XLM-R's tokens, such as multilingual-e5-small; else None."""
    for name in ("spiece.model", "tokenizer.model"):
        if (folder / name).exists():
            raise ModelInvalid(
                f"The folder has {name}: a SentencePiece tokenizer other than XLM-R's cannot be built in.",
                hint=_USE_BERT,
            )
    path = folder / "sentencepiece.bpe.model"
    if not path.is_file():
        return None
    kind = _json(folder / "tokenizer_config.json").get("tokenizer_class")
    if kind not in ("XLMRobertaTokenizer", "XLMRobertaTokenizerFast"):
        raise ModelInvalid(
            f"The folder has sentencepiece.bpe.model and names the tokenizer {kind!r}: of the SentencePiece tokenizers "
            f"only XLMRobertaTokenizer can be built in.",
            hint=_USE_BERT,
        )
    return SentencePiece(path.read_bytes())


def _limit(sentence: dict[str, Any], truncation: int | None, shape: BertShape) -> tuple[int, str]:
    stated = sentence.get("max_seq_length")
    if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 3:
        return min(stated, shape.positions), "sentence_bert_config.json"
    if truncation is not None and truncation >= 3:
        return min(truncation, shape.positions), "tokenizer.json"
    return shape.positions, "config.json"


def _pooling(folder: Path) -> str:
    modules = folder / "modules.json"
    if modules.is_file():
        try:
            kinds = [str(entry["type"]).rpartition(".")[2] for entry in json.loads(modules.read_bytes())]
        except (ValueError, TypeError, KeyError) as error:
            raise ModelInvalid("modules.json cannot be read.", hint="Download the folder again.") from error
        for kind in kinds:
            if kind not in _MODULES:
                raise ModelInvalid(
                    f"modules.json names a module {kind!r}; {', '.join(_MODULES)} can be built.", hint=_USE_BERT
                )
    pooling = _json(folder / "1_Pooling" / "config.json")
    if not pooling:
        return "mean"  # the default of sentence-transformers for a plain encoder
    if "pooling_mode" in pooling:
        modes = [str(pooling["pooling_mode"])]
    else:
        modes = [
            name.removeprefix("pooling_mode_")
            for name, on in pooling.items()
            if name.startswith("pooling_mode_") and on
        ]
    names = {"mean_tokens": "mean", "mean": "mean", "cls_token": "cls", "cls": "cls"}
    if len(modes) != 1 or modes[0] not in names:
        raise ModelInvalid(
            f"1_Pooling/config.json asks for {' and '.join(modes) or 'no pooling'}; mean or cls pooling can be built.",
            hint=_USE_BERT,
        )
    return names[modes[0]]


def _weights(folder: Path) -> Path:
    path = folder / "model.safetensors"
    if path.is_file():
        with path.open("rb") as file:
            start = file.read(len(LFS_MARK))
        if start == LFS_MARK:
            raise ModelInvalid(
                "model.safetensors is a Git LFS pointer, not the weights.", hint="Run `git lfs pull` in the folder."
            )
        if not start:
            raise ModelInvalid("model.safetensors is empty.", hint="Download it again.")
        return path
    if (folder / "model.safetensors.index.json").exists():
        raise ModelInvalid(
            "The weights are split into several files; such models are larger than Oracle Database loads.",
            hint=_USE_BERT,
        )
    if (folder / "pytorch_model.bin").exists():
        raise ModelInvalid(
            "The folder has its weights as pytorch_model.bin, which only PyTorch can read.",
            hint="Take model.safetensors of the same model.",
        )
    raise ModelInvalid(
        "The folder has no model.safetensors.", hint="Download the weights; a folder with only ONNX files does not do."
    )


def _prompt(prompts: Any, *names: str) -> str:
    found = next((prompts[name] for name in names if isinstance(prompts, dict) and name in prompts), "")
    return found if isinstance(found, str) else ""
