"""How well an installation answers: questions with known answers are asked, and what comes is measured.

``questions`` and ``collections`` read what to ask; ``run`` asks and scores, by ``matching``, ``measures``, ``contexts``
and, where a language model judges, ``judge``; ``summary`` and ``intervals`` sum up; ``compare`` tells two settings
apart; ``thresholds`` hold an evaluation against bounds. ``report`` has the records.
"""

from __future__ import annotations

from oraclerag.evaluate.collections import load
from oraclerag.evaluate.judge import Judge
from oraclerag.evaluate.questions import Question, QuestionSet, Relevant
from oraclerag.evaluate.report import Comparison, Evaluation, MatchRate
from oraclerag.evaluate.run import evaluate

__all__ = ["Comparison", "Evaluation", "Judge", "MatchRate", "Question", "QuestionSet", "Relevant", "evaluate", "load"]
