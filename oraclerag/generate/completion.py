"""The JSON of a chat completion → text and how it ended; whole, or assembled from the events of a stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from oraclerag.errors import ProviderAnswerInvalid
from oraclerag.records import Generation

__all__ = ["Assembly", "joined", "whole"]


def whole(tree: Any, model: str) -> Generation:
    """Read an answer; null content is an empty text. Raises ProviderAnswerInvalid where there is none."""
    if not isinstance(tree, dict):
        raise ProviderAnswerInvalid("The endpoint answered 200, but no JSON object.")
    choice = _choice(tree)
    if choice is None:
        raise ProviderAnswerInvalid("The endpoint answered 200 without choices.")
    message = choice.get("message")
    if not isinstance(message, dict):
        raise ProviderAnswerInvalid("The endpoint answered 200 with a choice that has no message.")
    prompt_tokens, answer_tokens = _usage(tree)
    return Generation(
        text=joined(_text(message.get("content"))),
        model=_word(tree.get("model")) or model,
        finish=_finish(choice, message),
        prompt_tokens=prompt_tokens,
        answer_tokens=answer_tokens,
    )


@dataclass(slots=True)
class Assembly:
    """An answer that comes in events: what is there of it so far."""

    model: str
    finish: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    parts: list[str] = field(default_factory=list, repr=False)
    begun: bool = False
    half: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        """What has come."""
        return "".join(self.parts)

    def take(self, tree: Any) -> str:
        """Take in an event and give the text that it brings. Raises ProviderAnswerInvalid."""
        if not isinstance(tree, dict):
            raise ProviderAnswerInvalid("The endpoint sent an event that is no JSON object.")
        self.model = _word(tree.get("model")) or self.model
        prompt_tokens, answer_tokens = _usage(tree)
        self.prompt_tokens = self.prompt_tokens if prompt_tokens is None else prompt_tokens
        self.answer_tokens = self.answer_tokens if answer_tokens is None else answer_tokens
        choice = _choice(tree)
        if choice is None:  # the last event may bring the usage alone
            return ""
        self.begun = True
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self.finish = _finish(choice, delta) or self.finish
        piece = self.half + _text(delta.get("content"))
        # A character beyond U+FFFF may be cut in two, written as the escapes of a surrogate pair.
        rest = piece[:-1] if "\ud800" <= piece[-1:] <= "\udbff" else piece
        self.half = piece[len(rest) :]
        if rest:
            self.parts.append(joined(rest))
        return self.parts[-1] if rest else ""

    def generation(self) -> Generation:
        """Give the answer when the stream has ended. Raises ProviderAnswerInvalid where none came."""
        if not self.begun:
            raise ProviderAnswerInvalid("The endpoint sent a stream without choices.")
        if self.half:
            self.parts.append(joined(self.half))
            self.half = ""
        return Generation(self.text, self.model, self.finish, self.prompt_tokens, self.answer_tokens)


def joined(text: str) -> str:
    """Give a text with the halves of surrogate pairs joined; one without the other becomes U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _choice(tree: dict[str, Any]) -> dict[str, Any] | None:
    choices = tree.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return None


def _text(content: Any) -> str:
    """Read content: a text, null, or a list of parts of which some are texts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _finish(choice: dict[str, Any], message: dict[str, Any]) -> str | None:
    if _word(message.get("refusal")):
        return "refusal"
    return _word(choice.get("finish_reason"))


def _usage(tree: dict[str, Any]) -> tuple[int | None, int | None]:
    usage = tree.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _word(value: Any) -> str | None:
    """Give a short text that a database column holds; None for anything else."""
    return value[:200] if isinstance(value, str) and value else None
