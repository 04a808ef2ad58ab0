"""How well an installation answers: questions with known answers are asked, and what comes is measured.

``questions`` and ``collections`` read what to ask; ``run`` is the flow: ``asking``, then ``scoring`` by ``matching``,
``measures``, ``contexts`` and, where a language model judges, ``judge``; ``summary`` and ``intervals`` sum up;
``compare`` tells two settings apart, which ``variants`` name; ``thresholds`` hold an evaluation against bounds.
``search_log`` makes questions of what people said of answers, and the ``match_rate``. ``report`` has the records,
``tables`` shows them.
"""

from __future__ import annotations

from oraclerag.evaluate.collections import load
from oraclerag.evaluate.judge import Judge
from oraclerag.evaluate.questions import Question, QuestionSet, Relevant
from oraclerag.evaluate.report import Comparison, Evaluation, MatchRate
from oraclerag.evaluate.run import evaluate
from oraclerag.evaluate.search_log import logged_match_rate, questions_with_feedback

__all__ = [
    "Comparison",
    "Evaluation",
    "Judge",
    "MatchRate",
    "Question",
    "QuestionSet",
    "Relevant",
    "evaluate",
    "load",
    "logged_match_rate",
    "questions_with_feedback",
]
