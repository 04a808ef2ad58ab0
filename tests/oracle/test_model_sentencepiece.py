"""The tests of test_model_sentencepiece.py, on a real database: does it take the graph's SentencepieceTokenizer?"""

from __future__ import annotations

import pytest

from tests.local.test_model_sentencepiece import *  # noqa: F403

pytestmark = pytest.mark.oracle
