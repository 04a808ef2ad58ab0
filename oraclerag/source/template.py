"""Jinja2 templates: one row of a source, with its children, becomes the text that is indexed.

Every column is a variable in lower case, every kind of children a list of rows. A name that is not there is an error,
never an empty text; a column without a value shows as nothing, for '' and NULL are one in Oracle. Beside Jinja2's own
filters there is ``date``, which shows a time by its day (2026-03-31) and leaves no value as it is, so that
``{{ due | date or "-" }}`` does what it says.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

import jinja2
import jinja2.exceptions
import jinja2.meta
import jinja2.sandbox

from oraclerag.errors import EntityError, TemplateError

__all__ = ["Row", "Template"]


class Row:
    """A row of a SELECT: values by lower-case column name, ``row.title`` in a template."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def variables(self) -> dict[str, Any]:
        """Give the columns as the variables of a template."""
        return dict(self._values)


class _NameMissing(jinja2.UndefinedError):
    """A variable or a column that does not exist, whatever the data: every entity would fail."""


class _Undefined(jinja2.StrictUndefined):
    """Tells a name that is nowhere from an attribute that one value lacks."""

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = jinja2.utils.missing,
        name: str | None = None,
        exc: type[jinja2.TemplateRuntimeError] = jinja2.UndefinedError,
    ) -> None:
        if obj is jinja2.utils.missing or isinstance(obj, Row):
            exc = _NameMissing
            if isinstance(obj, Row):
                hint = f"{name!r} is no column of the children"
        super().__init__(hint, obj, name, exc)


def _day(value: Any) -> Any:
    if isinstance(value, jinja2.Undefined) or value is None:
        return value
    if isinstance(value, dt.datetime):
        return value.date().isoformat()
    if isinstance(value, dt.date):
        return value.isoformat()
    raise jinja2.TemplateRuntimeError(f"date needs a time, not a {type(value).__name__}")


def _shown(value: Any) -> Any:
    return "" if value is None else value


# The sandbox keeps a template to what a text needs: it reads values and changes nothing.
_ENVIRONMENT = jinja2.sandbox.ImmutableSandboxedEnvironment(
    undefined=_Undefined, finalize=_shown, autoescape=False, trim_blocks=True, lstrip_blocks=True
)
_ENVIRONMENT.filters["date"] = _day


class Template:
    """A template that was compiled; ``names`` are the variables it uses.

    Raises TemplateError, which names the line, where the text is no Jinja2.
    """

    def __init__(self, text: str, place: str) -> None:
        self._what = f"The template of {place}"
        try:
            tree = _ENVIRONMENT.parse(text)
            self._template = _ENVIRONMENT.from_string(text)
        except jinja2.TemplateSyntaxError as error:
            raise TemplateError(f"{self._what} is not valid in line {error.lineno}: {error.message}.") from None
        except jinja2.TemplateError as error:
            raise TemplateError(f"{self._what} is not valid: {error.message}.") from None
        self.names = frozenset(jinja2.meta.find_undeclared_variables(tree))

    def render(self, variables: Mapping[str, Any]) -> str:
        """Give the text for one entity, without line ends behind it.

        Raises TemplateError for a name that does not exist (it would fail for every entity) and EntityError for
        anything else. The messages hold no values.
        """
        try:
            return self._template.render(variables).rstrip("\n")
        except _NameMissing as error:
            raise TemplateError(f"{self._what} uses a name that is not there: {error.message}.") from None
        except jinja2.exceptions.SecurityError as error:
            raise TemplateError(f"{self._what} does what templates may not: {error.message}.") from None
        except Exception as error:  # noqa: BLE001
            # Jinja2 passes on whatever the values raise; the text of such an error may repeat them
            raise EntityError(f"{self._what} cannot be rendered for this row ({type(error).__name__}).") from None
