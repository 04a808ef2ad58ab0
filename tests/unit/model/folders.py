"""Small made-up models on disk, in the form of a Hugging Face folder."""

from __future__ import annotations

import json
from pathlib import Path
from string import ascii_lowercase, digits, punctuation
from typing import Any

import numpy as np
import onnxruntime
import onnxruntime_extensions
from safetensors.numpy import save_file

from oraclerag.model.weights import BertShape, expected

WORDS = "the cat sat on mat invoice paid late el pago llegó tarde niño ##ing ##ed 日 本 語 é ñ ß ☕ ✅".split()  # noqa: SIM905
TOKENS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *WORDS,
    *ascii_lowercase,
    *digits,
    *punctuation,
    *(f"##{letter}" for letter in ascii_lowercase + digits),
]

CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "vocab_size": len(TOKENS),
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 48,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "hidden_act": "gelu",
}


def tokenizer_json(tokens: list[str] = TOKENS, **normalizer: Any) -> dict[str, Any]:
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": tokens.index(token),
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
            if token in tokens
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
            **normalizer,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {
                name: {"id": name, "ids": [tokens.index(name)], "tokens": [name]} for name in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: number for number, token in enumerate(tokens)},
        },
    }


def shape_of(config: dict[str, Any]) -> BertShape:
    return BertShape(
        vocabulary=config["vocab_size"],
        hidden=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        intermediate=config["intermediate_size"],
        positions=config["max_position_embeddings"],
        types=config["type_vocab_size"],
        epsilon=config["layer_norm_eps"],
    )


def write_folder(folder: Path, *, prefix: str = "", dtype: Any = np.float32, seed: int = 1, **changes: Any) -> Path:
    """Write config.json (with ``changes``), tokenizer.json and random weights whose names begin with ``prefix``."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {**CONFIG, **changes}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer_json()))
    random = np.random.default_rng(seed)
    weights = {}
    for name, size in expected(shape_of(config)):
        values = random.standard_normal(size) * 0.3 + (1.0 if name.endswith("LayerNorm.weight") else 0.0)
        weights[prefix + name] = values.astype(dtype)
    save_file(weights, folder / "model.safetensors")
    return folder


def run(model: bytes, text: str) -> Any:
    """Embed one text with a built model, by onnxruntime alone."""
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(["embedding"], {"input": np.array([text], dtype=object)})[0]
