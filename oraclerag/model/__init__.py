"""The embedding model: fetch, build, load, verify, use, list, drop; and counting its tokens.

Nothing here imports onnx or numpy before a model is built: loading needs the database alone.
"""

from __future__ import annotations

from oraclerag.model.active import ActiveModel, active_model
from oraclerag.model.build import BuiltModel, build
from oraclerag.model.fetch import fetch
from oraclerag.model.installed import (
    LoadedModel,
    drop_model,
    find_model,
    list_models,
)
from oraclerag.model.known import KNOWN_MODELS, KnownModel, known_model
from oraclerag.model.load import load_model, physical_name
from oraclerag.model.onnx_file import ModelFile, inspect_file
from oraclerag.model.tokens import TokenBound, TokenCounter, Tokens, token_counter
from oraclerag.model.use import use_model
from oraclerag.model.verify import VerifiedModel, verify_model

__all__ = [
    "KNOWN_MODELS",
    "ActiveModel",
    "BuiltModel",
    "KnownModel",
    "LoadedModel",
    "ModelFile",
    "TokenBound",
    "TokenCounter",
    "Tokens",
    "VerifiedModel",
    "active_model",
    "build",
    "drop_model",
    "fetch",
    "find_model",
    "inspect_file",
    "known_model",
    "list_models",
    "load_model",
    "physical_name",
    "token_counter",
    "use_model",
    "verify_model",
]
