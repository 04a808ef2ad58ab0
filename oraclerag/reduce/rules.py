"""What of a question is worth searching for, by rules, in English and Spanish: no language model is asked.

"Explain APEX Template Components to me." is searched for as "APEX Template Components", "¿Puedes explicarme cómo se
crea un índice?" as "crea un índice". Only what stands around the matter is taken away, from both ends; the question
itself is what is answered.
"""

from __future__ import annotations

import re

from oraclerag import error_codes

__all__ = ["lost", "named", "terms"]

_MOST = 60
"""Rounds: each takes something away, and nobody writes more politeness than that around a question."""

_EDGES = " \t\r\n\u00a0"
_END = _EDGES + "?!.,;:…。？！"
_START = _EDGES + "¿¡,;:-–—"

_WE = r"(?:i|you|we|one|people|someone|users?)"
_KNOW = r"(?:know|learn|understand|see|find out|hear)"
_EXPLAIN = r"(?:explain(?! plan\b)|describe|clarify|summari[sz]e|outline|elaborate on)"
_TELL = r"(?:explain|describe|tell|show|give|teach|clarify|summari[sz]e|outline)"
_AN_ACCOUNT = (
    r"(?:an?|the|some|your)?\s*(?:short|brief|quick|detailed|good|general|full|simple)?\s*"
    r"(?:overview|explanation|description|summary|introduction|definition|information|details?|examples?)\s+"
    r"(?:of|about|on|for|to)"
)
_DIME = (
    r"(?:(?:di|da|d[eé]|cuenta|cu[eé]nta|muestra|mu[eé]stra|ens[eé][ñn]a|indica|ind[ií]ca|ayuda|ay[uú]da|resume|res[uú]me"
    r"|d[ií]ga|mu[eé]stre|expl[ií]que|expl[ií]ca|descr[ií]be|acl[aá]ra)(?:me|nos)"
    r"|explica|explique|describe|describa|aclara|aclare|resuma|resume(?= (?:el|la|los|las|lo|un|una)\b))"
)
_EXPLICAR = r"(?:explicar|decir|contar|mostrar|ense[ñn]ar|describir|resumir|aclarar|indicar|dar|ayudar)(?:me|nos|le)?"
_SABER = r"(?:saber|conocer|entender|aprender|ver|averiguar)"
_UN_RESUMEN = (
    r"(?:una?|el|la|alg[uú]n|alguna)?\s*(?:breve|corta?|buen[ao]?|general)?\s*(?:resumen|explicaci[oó]n|descripci[oó]n"
    r"|introducci[oó]n|definici[oó]n|informaci[oó]n|ejemplos?|idea|visi[oó]n)(?:\s+general)?"
    r"\s+(?:de|sobre|acerca de|para)"
)

# What may stand before the matter; each is followed by a blank or the end.
_LEADS = (
    r"hi|hello|hey|dear all|good (?:morning|afternoon|evening|day)|hi there|thanks|thank you(?: in advance)?",
    r"please|kindly|so|well|ok(?:ay)?|also|and|just|sorry|excuse me",
    rf"(?:can|could|would|will) you (?:please )?(?:help me(?: to)?(?: {_KNOW})?|{_TELL}(?: to)? (?:me|us)|{_EXPLAIN})",
    r"(?:can|could|would|will) you (?:please )?let me know",
    rf"{_TELL}(?: to)? (?:me|us)(?: with)?|{_EXPLAIN}",
    r"(?:do|did) you (?:know|happen to know)(?: if| whether)?|what do you know about",
    rf"i(?:'d| would| want|'m| am)?(?: like| need| trying| interested)?(?: to| in)? {_KNOW}(?:ing)?(?: more)?",
    r"i (?:need|want|would like)(?: help| some help)?(?: with| to)|i have (?:a|some) questions? (?:about|on)",
    r"i am looking for|i'm looking for|i wonder(?: if| whether)?|i was wondering(?: if| whether)?",
    r"let me know|help me(?: to| with)?(?: understand)?",
    _AN_ACCOUNT,
    r"about|regarding|concerning",
    rf"how (?:do|does|did|can|could|should|would|might|must) {_WE}(?: go about| best)?|how to",
    rf"(?:can|could|may|should) {_WE}",
    r"is it possible to|is there (?:a|any|some) (?:way|possibility|means) (?:to|of)|are there (?:any )?ways to",
    r"what(?:'s|’s| is| are| was| were)(?: the (?:best|right|correct|easiest) way to)?(?: meant by)?|what does|what do",
    r"the (?:best|right|correct|easiest) way to",
    r"hola|buen[oa]s(?: d[ií]as| tardes| noches)?|gracias|estimad[oa]s?|oye|disculp[ae]|perd[oó]n|por favor",
    rf"(?:me |nos )?(?:puedes?|podr[ií]as?|puede usted|podr[ií]a usted) (?:por favor )?{_EXPLICAR}(?: a)?",
    rf"{_DIME}(?: por favor)?(?: a (?!la\b|el\b|los\b|las\b))?",
    rf"(?:quiero|quisiera|querr[ií]a|necesito|deseo|me gustar[ií]a|me interesa) {_SABER}(?: m[aá]s)?",
    r"(?:sabes?|conoces?)(?: si)?|qu[eé] sabes (?:de|sobre|acerca de)",
    _UN_RESUMEN,
    r"sobre|acerca de|respecto a",
    r"(?:de )?c[oó]mo (?:se )?(?:puedo|puede|puedes|podemos|pueden|debo|debe|debemos|hago para|hacemos para|hace para)",
    r"(?:de )?c[oó]mo se|(?:de )?c[oó]mo",
    r"es posible|se puede|existe alguna (?:manera|forma) de|hay alguna (?:manera|forma) de|hay (?:manera|forma) de",
    r"(?:de )?qu[eé] (?:es|son|era|eran|significan?|quiere decir)|cu[aá]l(?:es)? (?:es|son)",
    r"(?:la|el) (?:mejor|correcta) (?:manera|forma|modo) de",
)  # fmt: skip
_LEAD = re.compile("(?:" + "|".join(f"(?:{lead})" for lead in _LEADS) + r")(?=[\s,:;!.¿?¡]|$)", re.IGNORECASE)

_TAILS = (
    r"(?:to|for) (?:me|us)|please|kindly|thanks(?: a lot)?|thank you(?: very much| in advance)?|in (?:more )?detail",
    r"in (?:simple|plain) (?:terms|words|english)|if (?:possible|you can)",
    r"por favor|(?:muchas )?gracias(?: de antemano)?|a m[ií]|para m[ií]|en detalle|con detalle|detalladamente",
    r"en (?:palabras|t[eé]rminos) (?:simples|sencill[ao]s)|si es posible|si puedes",
)
_TAIL = re.compile(r"[\s,;.!]+(?:" + "|".join(_TAILS) + r")$", re.IGNORECASE)
_LONGEST_TAIL = 60

# "Can APEX be used to extend Fusion?" asks for two things; both are kept.
_NAME = r"(?P<what>(?:(?!\b(?:not|no|be|ser)\b)[^?,;]){1,60}?)"
_USES = tuple(
    (re.compile(rf"{use} (?P<aim>.+)", re.IGNORECASE | re.DOTALL), word)
    for use, word in (
        (rf"(?:can|could|may) {_NAME} be used (?:to|for)", "with"),
        (rf"(?:is|are) {_NAME} (?:able|suitable|meant|used) (?:to|for)", "with"),
        (rf"(?:se )?puede (?:usar|utilizar|emplear)(?:se)? {_NAME} para", "con"),
        (rf"(?:se usa|se utiliza|sirve) {_NAME} para", "con"),
    )
)
_MEANS = re.compile(r"(?P<what>.{1,200}?) (?:mean|stand for)$", re.IGNORECASE | re.DOTALL)
_MEANING = re.compile(r"what (?:do|does) ", re.IGNORECASE)

_QUOTED = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|`[^`\n]{1,400}`|(?<!\w)'[^'\n]{1,400}'(?!\w)")
_TOKEN = re.compile(r"[\w$#./:@-]+")
# What is written like a name: with a digit, a sign within, or capitals behind the first letter.
_NAMED = re.compile(r"[0-9_$#@]|\w[./:]\w")
_CAPITALS = re.compile(r"\w[A-Z]")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")


def terms(question: str) -> str:
    """Give what of a question to search for: never empty, never longer, and the question itself in case of doubt.

    Error codes, quoted texts and identifiers are always kept as they stand.
    """
    reduced = question
    for _ in range(_MOST):
        shorter = _once(reduced)
        if shorter == reduced:
            break
        reduced = shorter
    if not reduced or len(reduced) > len(question) or not _LETTER_OR_DIGIT.search(reduced) or lost(question, reduced):
        return question
    return reduced


def _once(text: str) -> str:
    text = text.rstrip(_END).lstrip(_START)
    for use, word in _USES:
        found = use.fullmatch(text)
        if found:
            return f"{found['aim'].strip()} {word} {found['what'].strip()}"
    if _MEANING.match(text):
        found = _MEANS.fullmatch(_MEANING.sub("", text, count=1))
        if found:
            return found["what"]
    found = _LEAD.match(text)
    if found and found.end() < len(text):
        text = text[found.end() :].lstrip(_START + ".!?")
    cut = max(len(text) - _LONGEST_TAIL, 0)
    return text[:cut] + _TAIL.sub("", text[cut:])


def lost(question: str, made: str) -> bool:
    """Whether a code, a quoted text or an identifier of the question is not in what was made of it."""
    kept = {code.code for code in error_codes.find(made, any_case=True)}
    if any(code.code not in kept for code in error_codes.find(question, any_case=True)):
        return True
    if any(found[0] not in made for found in _QUOTED.finditer(question)):
        return True
    return any(token not in made for token in named(question))


def named(text: str) -> list[str]:
    """Give what is written like a name: ``TASK_ID``, ``v$session``, ``a.b``, ``C42``, ``RMAN`` among small letters."""
    shouted = text == text.upper()
    return [
        token.strip("-./:@")
        for token in _TOKEN.findall(text)
        if _NAMED.search(token) or (not shouted and _CAPITALS.search(token))
    ]
