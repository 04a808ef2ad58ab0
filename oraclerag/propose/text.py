"""The proposed template: title, prose, facts with their labels, children."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Line", "template"]


@dataclass(frozen=True, slots=True)
class Line:
    """A value in a text: the variable, what it is called, and the variables that stand behind it on the same line.

    ``prose`` stands below its label, ``day`` is a time shown by its day.
    """

    name: str
    label: str
    prose: bool = False
    day: bool = False
    more: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The value as a template shows it."""
        first = f"{{{{ {self.name} | date }}}}" if self.day else f"{{{{ {self.name} }}}}"
        return " ".join([first, *(f"{{{{ {name} }}}}" for name in self.more)])


def template(title: str | None, lines: Sequence[Line], children: Sequence[tuple[str, str, Sequence[Line]]]) -> str:
    """Write the template. A line is shown where it has a value; prose comes before facts."""
    text = [f"{{{{ {title} }}}}"] if title is not None else []
    for line in sorted(lines, key=lambda line: not line.prose):  # stable
        there = " or ".join(f"{name} is not none" for name in (line.name, *line.more))
        text += [f"{{% if {there} %}}"]
        text += [f"{line.label}:", line.shown] if line.prose else [f"{line.label}: {line.shown}"]
        text += ["{% endif %}"]
    for name, heading, parts in children:
        facts = [line for line in parts if not line.prose]
        prose = [line for line in parts if line.prose]
        text += [f"{{% for row in {name} %}}", "{% if loop.first %}", f"{heading}:", "{% endif %}"]
        shown = []
        if facts:
            shown.append(", ".join(_of_row(line) for line in facts))
        shown += [_of_row(line) for line in prose]
        text += [f"- {': '.join(shown)}", "{% endfor %}"]
    return "\n".join(text) + "\n"


def _of_row(line: Line) -> str:
    value = f"row.{line.name}"
    return f"{{{{ {value} | date }}}}" if line.day else f"{{{{ {value} }}}}"
