"""RAG_API, a package for programs that are PL/SQL: the statements that Python sends, word for word, behind two calls.

Each statement stands in the package as the text that ``search.compose`` makes, and is opened with its binds in order:
there is one builder, and what it makes for Python it makes for PL/SQL.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from oraclerag import __version__
from oraclerag.database import Database, translated
from oraclerag.enqueue import insertion
from oraclerag.errors import ConfigurationError, StatementFailed
from oraclerag.model.active import ActiveModel, active_model
from oraclerag.scope import Scope
from oraclerag.search import compose, request
from oraclerag.statements import quoted

__all__ = ["BINDS", "GROUPS", "install_sql_api", "sql_api", "texts"]

GROUPS = 7
"""How many teams a call may name beside the person who asks."""

_PRINCIPALS = ("p_owner", *(f"p_group{number}" for number in range(1, GROUPS + 1)))
BINDS: Mapping[str, str] = {
    "question0": "v_question",
    "scope_tenant": "p_tenant",
    "model_in_force": "c_model",
    **{f"scope_principal{number}": name for number, name in enumerate(_PRINCIPALS)},
    "lane": "p_lane",
    "tenant_id": "p_tenant",
    "source_type": "p_source_type",
    "source_id": "p_source_id",
    "action": "p_action",
}
"""What a bind of a statement is given in the package."""

_BIND = re.compile(r":([a-z_]+[0-9]*)\b")


def texts(model: ActiveModel, *, k: int, target_accuracy: int = 90) -> dict[str, str]:
    """Give the statements of the package by the names of their constants: three kinds of scopes, searched two ways."""
    if model.provider is not None:
        raise ConfigurationError(
            f"{model.name} is a model of a provider: SQL cannot embed a question with it.",
            hint="RAG_API needs a model in the database; else programs call a service, see docs/apex.md.",
        )
    someone = tuple(str(number) for number in range(len(_PRINCIPALS)))
    scopes = {
        "manager": Scope(tenant="x", manager=True),
        "someone": Scope(tenant="x", owner=someone[0], groups=someone[1:]),
        "anyone": Scope(tenant="x"),
    }
    kinds: tuple[Literal["EXACT", "APPROX"], ...] = ("EXACT", "APPROX")
    found = {}
    for name, scope in scopes.items():
        asked = request("x", scope, {"codes": False}, k=k, max_k=k)
        for kind in kinds:
            statement = compose(model, asked, "x", kind=kind, target_accuracy=target_accuracy)
            found[f"c_{name}_{kind.lower()}"] = statement.text
    found["c_enqueue"] = insertion(model.schema)
    return found


def sql_api(model: ActiveModel, *, k: int, target_accuracy: int = 90) -> str:
    """Give the script, for SQL*Plus or SQLcl, that makes the package for the model in force; it may be run again.

    ``k`` is how many hits a call gives. Raises ConfigurationError where a provider embeds.
    """
    specification, body = _statements(model, k, target_accuracy)
    return _HEAD.format(version=__version__, model=model.physical_name) + f"{specification}\n/\n\n{body}\n/\n"


def install_sql_api(database: Database) -> ActiveModel:
    """Make the package, or make it anew for the model in force. Commits, as all DDL does.

    Raises ModelNotActive, ConfigurationError where a provider embeds, PrivilegeMissing, and StatementFailed where the
    package does not compile, or the database knows no cursor variables.
    """
    settings = database.settings
    with database.connect() as connection:
        model = active_model(connection, database.schema)
        for statement in _statements(model, settings.k, settings.target_accuracy):
            with connection.cursor() as cursor, translated():
                cursor.execute(statement)
                if cursor.warning is not None:
                    raise StatementFailed(
                        f"RAG_API did not compile in {model.schema}.",
                        hint="SHOW ERRORS PACKAGE BODY RAG_API, in SQL*Plus as the owner, says where.",
                    )
    return model


def _statements(model: ActiveModel, k: int, target_accuracy: int) -> tuple[str, str]:
    schema = quoted(model.schema, "schema")
    found = texts(model, k=k, target_accuracy=target_accuracy)
    constants = "\n".join(f"  {name} CONSTANT VARCHAR2(32767) := q'[{text}]';" for name, text in found.items())
    groups = "".join(f",\n    {name} IN VARCHAR2 DEFAULT NULL" for name in _PRINCIPALS)

    def opened(name: str) -> str:
        exact, approx = f"c_{name}_exact", f"c_{name}_approx"
        return (
            f"      IF p_approximate THEN\n        OPEN v_hits FOR {approx}\n          USING {_using(found[approx])};\n"
            f"      ELSE\n        OPEN v_hits FOR {exact}\n          USING {_using(found[exact])};\n      END IF;"
        )

    prefix = model.query_prefix.replace("'", "''")
    return (
        _SPECIFICATION.format(schema=schema, groups=groups, k=k, most=GROUPS),
        _BODY.format(
            schema=schema,
            groups=groups,
            model=model.physical_name,
            prefix=f"'{prefix}' || " if prefix else "",
            constants=constants,
            manager=opened("manager"),
            someone=opened("someone"),
            anyone=opened("anyone"),
            principals=", ".join(_PRINCIPALS),
            enqueue=_using(found["c_enqueue"]),
        ),
    )


def _using(text: str) -> str:
    """Give what is bound, in the order of the text: a bind that stands twice is given twice."""
    return ", ".join(BINDS[name] for name in _BIND.findall(text))


_HEAD = """\
-- oraclerag {version}: RAG_API, search and announce from PL/SQL, for the model {model}
-- For SQL*Plus or SQLcl, as the owner of the tables. Make it anew after another model was taken into use, and after an
-- upgrade. Then, to the schemas that call it: GRANT EXECUTE ON RAG_API TO ...
WHENEVER OSERROR EXIT FAILURE
WHENEVER SQLERROR EXIT FAILURE
SET DEFINE OFF

"""

_SPECIFICATION = """\
CREATE OR REPLACE PACKAGE {schema}.RAG_API AUTHID DEFINER AS
  -- Gives up to {k} hits, the nearest first; the caller closes the cursor. The arguments decide who sees what, so
  -- EXECUTE is for trusted programs alone: p_manager sees all of the tenant; else it is what is shared, and what
  -- p_owner or one of up to {most} groups owns. Where row security is installed, RAG_SCOPE.SET_SCOPE comes before.
  -- With p_approximate the vector index may be used. Nothing is found when another model is in force: make the
  -- package anew.
  FUNCTION SEARCH (
    p_question IN VARCHAR2,
    p_tenant IN VARCHAR2{groups},
    p_manager IN BOOLEAN DEFAULT FALSE,
    p_approximate IN BOOLEAN DEFAULT FALSE
  ) RETURN SYS_REFCURSOR;

  -- Announces a change in the caller's transaction. p_lane 1 is for bulk work, behind changes.
  PROCEDURE ENQUEUE (
    p_source_type IN VARCHAR2,
    p_source_id IN VARCHAR2,
    p_tenant IN VARCHAR2 DEFAULT NULL,
    p_action IN VARCHAR2 DEFAULT 'UPSERT',
    p_lane IN NUMBER DEFAULT 0
  );
END RAG_API;"""

_BODY = """\
CREATE OR REPLACE PACKAGE BODY {schema}.RAG_API AS
  c_model CONSTANT VARCHAR2(128) := '{model}';
{constants}

  FUNCTION SEARCH (
    p_question IN VARCHAR2,
    p_tenant IN VARCHAR2{groups},
    p_manager IN BOOLEAN DEFAULT FALSE,
    p_approximate IN BOOLEAN DEFAULT FALSE
  ) RETURN SYS_REFCURSOR IS
    v_hits SYS_REFCURSOR;
    v_question VARCHAR2(4000);
  BEGIN
    IF TRIM(p_question) IS NULL THEN
      RAISE_APPLICATION_ERROR(-20000, 'The question is empty.');
    END IF;
    IF p_tenant IS NULL THEN
      RAISE_APPLICATION_ERROR(-20000, 'The scope names no tenant.');
    END IF;
    v_question := {prefix}p_question;
    IF p_manager THEN
{manager}
    ELSIF COALESCE({principals}) IS NOT NULL THEN
{someone}
    ELSE
{anyone}
    END IF;
    RETURN v_hits;
  END SEARCH;

  PROCEDURE ENQUEUE (
    p_source_type IN VARCHAR2,
    p_source_id IN VARCHAR2,
    p_tenant IN VARCHAR2 DEFAULT NULL,
    p_action IN VARCHAR2 DEFAULT 'UPSERT',
    p_lane IN NUMBER DEFAULT 0
  ) IS
  BEGIN
    EXECUTE IMMEDIATE c_enqueue USING {enqueue};
  END ENQUEUE;
END RAG_API;"""
