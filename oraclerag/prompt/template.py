"""The template of prompts: Jinja2 with two blocks, ``instructions`` and ``message``.

Ours is ``prompt.j2``. Another one has both blocks too, or starts with ``{% extends "prompt.j2" %}`` and replaces one.
Its variables: ``question``, ``sources`` (each with ``anchor``, ``title``, ``section``, ``date``, ``type``, ``id`` and
``text``, all harmless, texts with ``>`` before each line), ``anchors`` ("hash" or "bracket"), ``example`` (what an
anchor looks like) and ``together`` (how two are written).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
import jinja2.exceptions
import jinja2.nodes
import jinja2.sandbox

from oraclerag.errors import TemplateError

__all__ = ["BLOCKS", "OURS", "Template", "compiled"]

OURS = "prompt.j2"
BLOCKS = ("instructions", "message")
_HINT = f'A template of prompts has the blocks {" and ".join(BLOCKS)}, or starts with {{% extends "{OURS}" %}}.'


@cache
def _environment() -> jinja2.Environment:
    loader = jinja2.DictLoader({OURS: (Path(__file__).parent / OURS).read_text("utf-8")})
    # The sandbox keeps a template to what a text needs: it reads values and changes nothing.
    return jinja2.sandbox.ImmutableSandboxedEnvironment(
        loader=loader, undefined=jinja2.StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )


class Template:
    """A template that was compiled; None is ours. Raises TemplateError, which names the line, where it is not valid."""

    def __init__(self, text: str | None = None) -> None:
        environment = _environment()
        try:
            if text is None:
                text = f'{{% extends "{OURS}" %}}'
            extends = environment.parse(text).find(jinja2.nodes.Extends) is not None
            self._template = environment.from_string(text)
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(
                f"The template of prompts is not valid in line {error.lineno}: {error.message}.", hint=_HINT
            ) from None
        except jinja2.TemplateError as error:
            raise TemplateError(f"The template of prompts is not valid: {error.message}.", hint=_HINT) from None
        missing = [name for name in BLOCKS if name not in self._template.blocks]
        if missing and not extends:
            raise TemplateError(f"The template of prompts has no block {missing[0]!r}.", hint=_HINT)

    def render(self, variables: Mapping[str, Any]) -> tuple[str, str]:
        """Give the instructions and the message, without blank lines around them.

        Raises TemplateError. Its message holds no values.
        """
        try:
            context = self._template.new_context(dict(variables))
            # Running the template once makes the blocks of the one that it extends known to the context.
            for _ in self._template.root_render_func(context):
                pass
            instructions, message = ("".join(context.blocks[name][0](context)).strip() for name in BLOCKS)
        except jinja2.UndefinedError as error:
            raise TemplateError(
                f"The template of prompts uses a name that is not there: {error.message}.", hint=_HINT
            ) from None
        except jinja2.exceptions.SecurityError as error:
            raise TemplateError(f"The template of prompts does what templates may not: {error.message}.") from None
        except jinja2.TemplateNotFound as error:
            raise TemplateError(
                f"The template of prompts extends {error.name!r}, which is not there.", hint=_HINT
            ) from None
        except Exception as error:  # noqa: BLE001
            # Jinja2 passes on whatever the values raise; the text of such an error may repeat them
            raise TemplateError(f"The template of prompts cannot be rendered ({type(error).__name__}).") from None
        return instructions, message


@lru_cache(16)
def compiled(text: str | None) -> Template:
    """Compile a template once."""
    return Template(text)
