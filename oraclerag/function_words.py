"""Words that say nothing of what a text is about, in the two languages that are measured: English and Spanish."""

from __future__ import annotations

__all__ = ["FUNCTION_WORDS"]

FUNCTION_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being both but by can could did do does doing
    each for from had has have having he her here his how i if in into is it its itself just me more most my no not of
    on or other our ours out over own same she should so some such than that the their theirs them then there these
    they this those through to too under until up very was we were what when where which while who whom why will with
    would you your yours
    al algo como con cual cuando cuándo cuál cómo de del desde donde dónde e el ella ellas ellos en entre era es esa ese
    eso esta está están estas este esto estos fue ha han hasta hay la las le les lo los me mi más muy ni no nos o os
    para pero por porque qué que quien quién se sea ser si sin sobre son su sus también te tiene tu u un una uno unos y
    ya yo
    """.split()  # noqa: SIM905
)
