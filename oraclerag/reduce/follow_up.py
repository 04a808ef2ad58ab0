"""What a follow-up points back to, by rules, in English and Spanish: no language model is asked.

"and in Spain?", "what about its indexes?", "¿y en producción?" are questions of what was asked before; to what is
searched for, the matter of that is added. What stands by itself, and whatever is in doubt, is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from oraclerag.function_words import FUNCTION_WORDS
from oraclerag.records import Turn
from oraclerag.reduce.rules import named, terms

__all__ = ["joined", "matter", "points_back"]

_MOST_WORDS = 5
"""Words that say something; a question that has more of them stands by itself."""

_LONGEST = 400  # characters of a follow-up
_LONGEST_MATTER = 300

_LEAD = re.compile(
    r"[\s¿¡]*(?:and|or|but|what about|how about|what if|in that case|same (?:for|with|in)|why not|how so|for example"
    r"|(?:what|who|where|when|how) else|the (?:first|second|third|last|other) ones?|[yeou]|pero"
    r"|qu[eé] (?:hay|pasa|ocurre|tal) (?:de|con|en|si)|en ese caso|lo mismo|igual (?:en|para|con)|por qu[eé] no"
    r"|por ejemplo|(?:qu[eé]|qui[eé]n|d[oó]nde) m[aá]s)(?=[\s,;:?!.…]|$)",
    re.IGNORECASE,
)
_PERSONAL = frozenset(
    """it its they them their theirs he she him his her hers ello ella ellos ellas su sus suyo suya suyos
    suyas""".split()  # noqa: SIM905
)
_POINTING = frozenset(
    """this that these those there este esta estos estas ese esa esos esas esto eso aquel aquella aquello aquellos
    aquellas ahí allí allá former latter same mismo misma""".split()  # noqa: SIM905
)
_CLITIC = re.compile(r"\w{3,}[aeiáéí]r(?:se|me|nos)?l[oae]s?|\w{2,}[áéí]r(?:se|me)l[oae]s?", re.IGNORECASE)
_LO = re.compile(
    r"\b(?:c[oó]mo|qui[eé]n|d[oó]nde|cu[aá]ndo|por qu[eé]|no|se|me|te|y) lo (?!que\b|mejor\b|peor\b|m[aá]s\b|mismo\b)",
    re.IGNORECASE,
)
# "it" that stands for what follows, and times of the clock
_EXPLETIVE = re.compile(
    r"\b(?:is|was|would|does|will) it (?:\w+ ){0,3}(?:to|that|if|when|take)\b|\bit(?:'s|’s| is| was) \w+ (?:to|that)\b"
    r"|\bth(?:is|ese|ose) (?:week|month|quarter|year|morning|sprint|release|who|which)\w*"
    r"|\best[ea]s? (?:semana|mes|trimestre|año|mañana|tarde|noche|vez|sprint)\w*|\bthere (?:is|are|was|were)\b"
    r"|\b(?:is|are|was|were) there\b|\bthose (?:who|that|which)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[\s¿¡]*(?:why|when|where|who|how|por qu[eé]|cu[aá]ndo|d[oó]nde|qui[eé]n|c[oó]mo|cu[aá]nt[oa]s?)\b", re.IGNORECASE
)
_WORD = re.compile(r"[\w$#]+(?:[-./:][\w$#]+)*")


def points_back(question: str) -> bool:
    """Whether a question is understood only by who knows the one before it."""
    if len(question) > _LONGEST:
        return False
    words = _WORD.findall(question)
    matter = [word for word in words if _says_something(word)]
    if not words or len(matter) > _MOST_WORDS:
        return False
    if not matter or _LEAD.match(question) or _LO.search(question):
        return True
    if len(matter) == 1 and _ASKS.match(question) and matter[0].islower() and not named(question):
        return True
    return _has_pronoun(_EXPLETIVE.sub(" ", terms(question)))


def matter(turns: Sequence[Turn]) -> str:
    """Give what the turns before (oldest first) were about: the words of the last question that stood by itself."""
    last = turns[-1]
    question = last.standalone or last.question
    asked = last.question.strip()
    if last.standalone is not None and question.startswith(f"{asked} (") and question.endswith(")"):
        return question[len(asked) + 2 : -1]  # as `joined` wrote it
    words = " ".join(terms(question).split())
    return (
        words
        if len(words) <= _LONGEST_MATTER
        else words[:_LONGEST_MATTER].rpartition(" ")[0] or words[:_LONGEST_MATTER]
    )


def joined(question: str, words: str) -> str:
    """Write a follow-up with what it is about."""
    return f"{question.strip()} ({words})"


def _says_something(word: str) -> bool:
    folded = word.casefold()
    return not (folded in FUNCTION_WORDS or folded in _PERSONAL or folded in _POINTING or folded in ("else", "about"))


def _has_pronoun(text: str) -> bool:
    """Whether something is named by a pronoun before anything else is named."""
    words = _WORD.findall(text)
    named_before = 0
    for number, word in enumerate(words):
        folded = word.casefold()
        if folded in _PERSONAL:
            # "rebuild it": the verb alone stands before it; in "invoices and their numbers" there is what it means
            if named_before == 0 or (named_before == 1 and number > 0 and _says_something(words[number - 1])):
                return True
        elif folded in _POINTING:
            if named_before == 0 or (named_before == 1 and number == len(words) - 1):
                return True
        elif _CLITIC.fullmatch(word):
            return named_before == 0
        elif _says_something(word):
            named_before += 1
    return False
