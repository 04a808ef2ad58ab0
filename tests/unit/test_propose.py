"""A source proposed for a table that is only described: what is guessed, what is said of it, what is refused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oraclerag.config import SourceSettings, parse_source
from oraclerag.errors import ConfigurationError, InputError
from oraclerag.propose import add, block
from oraclerag.propose.columns import withheld
from oraclerag.propose.described import Column, Reference, Surroundings, Table
from oraclerag.propose.names import label, sql_name
from oraclerag.propose.proposal import Proposal, propose
from oraclerag.source.reads import reads
from oraclerag.source.template import Template

ID = Column("ID", "NUMBER", 22, required=True)


def text(name: str, length: int = 100, *, required: bool = False, comment: str | None = None) -> Column:
    return Column(name, "VARCHAR2", length, required, comment)


def number(name: str) -> Column:
    return Column(name, "NUMBER", 22)


def table(name: str, *columns: Column, key: Iterable[str] = ("ID",), kind: str = "TABLE", **more: Any) -> Table:
    return Table(("APP", name), kind, columns=columns, primary_key=tuple(key), **more)


def refers(child: Table, column: str, parent: Table, rule: str | None = None, to: str = "ID") -> Reference:
    return Reference(f"{child.name}_{column}_FK", child.id, (column,), parent.id, (to,), rule)


def around(
    of: Table, *related: Table, parents: Iterable[Reference] = (), children: Iterable[Reference] = ()
) -> Surroundings:
    return Surroundings(of, "APP", tuple(parents), tuple(children), MappingProxyType({one.id: one for one in related}))


def read(proposal: Proposal, **more: Any) -> SourceSettings:
    """Read what was proposed as the configuration does."""
    tree = tomllib.loads(block(proposal))["source"][proposal.name]
    return parse_source(proposal.name, tree | {"template": proposal.template} | more, Path(), "here")


TASK = table("TASK", ID, text("TITLE", required=True), number("OWNER_ID"))


def test_a_missing_decision_is_valid_toml_and_a_clear_sentence() -> None:
    proposal = propose(around(TASK))
    assert proposal.open == ("visibility",)
    with pytest.raises(ConfigurationError, match=r'must say visibility = "shared" .* or "owner"'):
        read(proposal)
    assert read(proposal, visibility="owner").owner == "owner_id"
    assert read(propose(around(TASK), visibility="shared")).visibility == "shared"


def test_every_guess_stands_in_the_block_with_its_reason() -> None:
    proposal = propose(around(TASK))
    assert {guess.setting for guess in proposal.guesses} == {"key", "title", "owner"}
    words = " ".join(line.lstrip("# ") for line in block(proposal).splitlines())
    for guess in proposal.guesses:
        assert guess.reason in words


def test_what_looks_like_a_secret_is_left_out_everywhere_and_said() -> None:
    people = table("STAFF", ID, text("SECRET_NAME", required=True), text("NAME"))
    task = table(
        "TASK",
        ID,
        text("TITLE"),
        text("API_KEY"),
        text("passwordHash"),
        text("note", comment="IBAN of the payer"),
        number("STAFF_ID"),
        number("SALARY"),
    )
    comment = table("TASK_COMMENT", ID, number("TASK_ID"), text("BODY"), text("SESSION_TOKEN"))
    proposal = propose(
        around(
            task,
            people,
            comment,
            parents=[refers(task, "STAFF_ID", people)],
            children=[refers(comment, "TASK_ID", task)],
        )
    )
    shown = block(proposal).partition("# Left out")[0] + proposal.template + str(proposal.settings)
    for name in ("api_key", "passwordHash", "note", "salary", "session_token", "secret_name"):
        assert name.lower() not in shown.lower()
    assert set(proposal.left_out) >= {"API_KEY", "passwordHash", "note", "SALARY"}
    assert "looks like a secret" in proposal.left_out["API_KEY"]


def test_a_reference_by_a_secret_is_not_joined() -> None:
    card = table("PAYMENT", ID, text("NAME", required=True))
    task = table("TASK", ID, text("TITLE"), number("CARD_NUMBER"))
    proposal = propose(around(task, card, parents=[refers(task, "CARD_NUMBER", card)]))
    assert "join" not in proposal.settings["select"]
    assert proposal.left_out["PAYMENT (by CARD_NUMBER)"] == "the column that refers to it looks like a secret"


def test_the_day_of_a_child_is_not_one_that_is_nobodys_business() -> None:
    member = table("TASK_MEMBER", ID, number("TASK_ID"), text("REMARK"), Column("BIRTH_DATE", "DATE"))
    task = table("TASK", ID, text("TITLE"))
    proposal = propose(around(task, member, children=[refers(member, "TASK_ID", task)]))
    assert "remark" in proposal.settings["children"]["members"]["select"]
    assert "birth_date" not in (proposal.template + str(proposal.settings)).lower()


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("PASSWORD", True), ("USER_PASSWD", True), ("USERPASSWORD", True), ("accessToken", True), ("SSN", True), ("IBAN", True),
        ("CREDIT_CARD", True), ("TAX_ID", True), ("PIN", True), ("SALARY", True), ("BIRTH_DATE", True),
        ("TITLE", False), ("SHIPPING", False), ("TOKENIZER", False), ("KEY", False), ("COMPASS", False), ("CARD", False),
        ("OPINION", False), ("PASSENGER", False),
    ],
)  # fmt: skip
def test_names_of_secrets(name: str, secret: bool) -> None:
    assert (withheld(text(name)) is not None) == secret


def test_parents_say_what_they_are_and_announce_themselves() -> None:
    people = table(
        "EMPLOYEES", Column("EMPLOYEE_ID", "NUMBER"), text("FIRST_NAME"), text("LAST_NAME"), key=["EMPLOYEE_ID"]
    )
    task = table("TASK", ID, text("TITLE"), number("ASSIGNEE_ID"), number("REVIEWED_BY"), number("PARENT_ID"))
    proposal = propose(
        around(
            task, people,
            parents=[
                refers(task, "ASSIGNEE_ID", people, to="EMPLOYEE_ID"), refers(task, "REVIEWED_BY", people, to="EMPLOYEE_ID"),
                refers(task, "PARENT_ID", task),
            ],
        )
    )  # fmt: skip
    source = read(proposal, visibility="owner")
    assert "left join employees p1 on p1.employee_id = t.assignee_id" in source.select
    assert source.owner == "assignee_id"
    assert [guess.value for guess in proposal.others("owner")] == ["reviewed_by"]
    assert source.tables == {
        "task": "id",
        "employees": (
            "select id from task where assignee_id = :employee_id",
            "select id from task where reviewed_by = :employee_id",
        ),
    }
    assert "ORA-04091" in proposal.left_out["TASK (by PARENT_ID)"]
    assert "Reviewed by: {{ reviewed_by_first_name }} {{ reviewed_by_last_name }}" in proposal.template


def test_the_employees_of_oracles_own_sample_schema() -> None:
    day = [Column(name, "DATE") for name in ("HIRE_DATE", "START_DATE")]
    jobs = Table(("HR", "JOBS"), columns=(text("JOB_ID"), text("JOB_TITLE")), primary_key=("JOB_ID",))
    employees = Table(
        ("HR", "EMPLOYEES"),
        columns=(
            number("EMPLOYEE_ID"),
            text("FIRST_NAME"),
            text("LAST_NAME"),
            text("EMAIL"),
            day[0],
            text("JOB_ID"),
            number("SALARY"),
        ),
        primary_key=("EMPLOYEE_ID",),
    )
    history = Table(
        ("HR", "JOB_HISTORY"),
        columns=(number("EMPLOYEE_ID"), day[1], text("JOB_ID")),
        primary_key=("EMPLOYEE_ID", "START_DATE"),
    )
    found = Surroundings(
        employees, "APP", (refers(employees, "JOB_ID", jobs, to="JOB_ID"),),
        (refers(history, "EMPLOYEE_ID", employees, to="EMPLOYEE_ID"),), {jobs.id: jobs, history.id: history},
    )  # fmt: skip
    source = read(propose(found, visibility="owner"))
    assert source.select.splitlines() == [
        "select t.employee_id as source_id, t.email, t.hire_date,",
        "  trim(t.first_name || ' ' || t.last_name) as full_name, p1.job_title as job",
        "from HR.EMPLOYEES t",
        "left join HR.JOBS p1 on p1.job_id = t.job_id",
    ]
    assert (source.title, source.owner, source.occurred_at) == ("full_name", "source_id", "hire_date")
    assert source.children["job_histories"].order_by == "START_DATE"
    assert source.tables == {
        "HR.EMPLOYEES": "employee_id",
        "HR.JOBS": "select employee_id from HR.EMPLOYEES where job_id = :job_id",
        "HR.JOB_HISTORY": "employee_id",
    }


def test_children_are_parts_in_a_unique_order_and_others_are_said() -> None:
    comment = table("TASK_COMMENT", ID, number("TASK_ID"), text("BODY"), Column("CREATED_AT", "TIMESTAMP(6)"))
    step = table("STEP", number("TASK_ID"), number("NO"), text("WHAT"), key=["TASK_ID", "NO"])
    link = table("LINK", ID, number("TASK_ID"), text("URL"))
    loose = table("TASK_NOTE", number("TASK_ID"), text("NOTE"), key=())
    children = [refers(one, "TASK_ID", TASK) for one in (comment, step, link, loose)]
    proposal = propose(around(TASK, comment, step, link, loose, children=children), visibility="shared")
    source = read(proposal)
    assert {name: child.order_by for name, child in source.children.items()} == {
        "comments": "CREATED_AT, ID",
        "steps": "NO",
    }
    assert source.children["comments"].select.startswith("select c.id, c.task_id as source_id, c.body, c.created_at")
    assert source.tables == {"task": "id", "task_comment": "task_id", "step": "task_id"}
    assert "source of its own" in proposal.left_out["LINK (by TASK_ID)"]
    assert "no certain order" in proposal.left_out["TASK_NOTE (by TASK_ID)"]


def test_a_tenant_is_in_every_entry() -> None:
    sprint = table("SPRINT", ID, text("NAME"))
    task = table("TASK", ID, text("ORG_ID"), text("TITLE"), number("SPRINT_ID"))
    comment = table("TASK_COMMENT", ID, number("TASK_ID"), text("BODY"))
    note = table("TASK_NOTE", ID, number("TASK_ID"), text("BODY"), text("ORG_ID"))
    proposal = propose(
        around(
            task, sprint, comment, note,
            parents=[refers(task, "SPRINT_ID", sprint)],
            children=[refers(comment, "TASK_ID", task, "CASCADE"), refers(note, "TASK_ID", task, "CASCADE")],
        ),
        visibility="shared",
    )  # fmt: skip
    source = read(proposal)
    assert (source.tenant, source.sprint) == ("org_id", "sprint_id")
    assert source.tables == {
        "task": "id",
        "sprint": "select id, org_id from task where sprint_id = :id",
        "task_comment": "select id, org_id from task where id = :task_id",
        "task_note": "task_id",
    }
    assert any("several tenants" in note for note in proposal.notes)
    assert "org_id" not in proposal.template


def test_composite_keys_are_named_as_they_are() -> None:
    item = table("ITEM", number("ORDER_NO"), number("LINE_NO"), text("WHAT"), key=["ORDER_NO", "LINE_NO"])
    note = table("ITEM_NOTE", ID, number("O_NO"), number("L_NO"), text("BODY"))
    reference = Reference("FK", note.id, ("L_NO", "O_NO"), item.id, ("LINE_NO", "ORDER_NO"))
    source = read(propose(around(item, note, children=[reference]), visibility="shared"))
    assert source.key == ("order_no", "line_no")
    assert source.tables == {"item": "order_no, line_no", "item_note": "o_no, l_no"}
    assert "c.o_no as order_no, c.l_no as line_no" in source.children["notes"].select


def test_a_column_called_source_id_that_is_no_key_is_not_taken_for_it() -> None:
    source = read(propose(around(table("EVENT", ID, text("SOURCE_ID"), text("NAME"))), visibility="shared"))
    assert source.key == ("id",)
    assert "as source_id" not in source.select


def test_names_that_need_quotes() -> None:
    odd = table(
        "order", text("Größe (cm)"), text("LEVEL"), text("for"), text("N" * 128), text("a-b"), key=["Größe (cm)"]
    )
    proposal = propose(around(odd), name="odd", visibility="shared")
    source = read(proposal)
    assert 't."Größe (cm)" as source_id' in source.select
    assert 't."LEVEL" as level_' in source.select
    assert 't."for" as for_' in source.select
    assert f"t.{'n' * 128}" in source.select
    assert source.tables == {'"order"': '"Größe (cm)"'}
    assert reads(source.select).tables.keys() == reads('select 1 from "order"').tables.keys()


def test_another_owner_is_named() -> None:
    foreign = Table(("HR", "JOB"), columns=(ID, text("TITLE")), primary_key=("ID",))
    proposal = propose(Surroundings(foreign, "APP"), visibility="shared")
    assert "from HR.JOB t" in proposal.settings["select"]
    assert read(proposal).tables == {"HR.JOB": "id"}


@pytest.mark.parametrize(
    ("described", "sentence", "remedy"),
    [
        (table("LOG", text("WHAT"), key=()), "no primary key", "--key"),
        (table("V", ID, text("WHAT"), key=(), kind="VIEW"), "is a view", "--key"),
        (table("B", Column("ID", "CLOB"), text("WHAT")), "cannot be an id", None),
        (table("N", ID, number("OTHER_ID")), "no column that makes a text", "view"),
    ],
)
def test_what_cannot_be_one_is_refused(described: Table, sentence: str, remedy: str | None) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        propose(around(described))
    assert remedy is None or remedy in (caught.value.hint or "")


def test_a_view_takes_the_key_that_is_said_and_has_no_entries() -> None:
    proposal = propose(around(table("V", ID, text("WHAT"), key=(), kind="VIEW")), key=["ID"], visibility="shared")
    assert read(proposal).tables == {}
    assert proposal.reasons("key") == ["you said so; nothing in the dictionary says that it is unique"]
    with pytest.raises(InputError, match="has no column NO"):
        propose(around(TASK), key=["NO"])


def test_a_unique_key_is_taken_where_there_is_no_primary_one() -> None:
    proposal = propose(around(table("T", text("CODE", required=True), text("NAME"), key=(), unique=(("CODE",),))))
    assert "as source_id" in proposal.settings["select"]
    assert "no primary key" in proposal.reasons("key")[0]


def test_a_table_of_300_columns_makes_a_text_of_some_and_says_so() -> None:
    wide = table("WIDE", ID, *(text(f"C{number}") for number in range(300)))
    proposal = propose(around(wide), visibility="shared")
    assert proposal.template.count("{% if") == 40
    assert len(proposal.left_out) >= 259
    assert "more." in block(proposal)
    assert len(block(proposal)) < 12_000
    read(proposal)


def test_types_that_are_no_text_are_left_out() -> None:
    kinds = ["BLOB", "JSON", "RAW", "LONG", "VECTOR", "XMLTYPE", "INTERVAL DAY(2) TO SECOND(6)", "ROWID"]
    proposal = propose(around(table("T", ID, text("NAME"), *(Column(f"C{n}", kind) for n, kind in enumerate(kinds)))))
    assert set(proposal.left_out) == {f"C{number}" for number in range(len(kinds))}


def test_a_source_that_is_built_in_is_not_called_so() -> None:
    assert propose(around(table("FILE", ID, text("NAME")))).name == "file_row"
    assert len(propose(around(table("N" * 128, ID, text("NAME")))).name) == 30


def test_a_label_is_the_first_words_of_a_comment_and_no_markup() -> None:
    assert label(text("X", comment="Urgency (1 is highest)")) == "Urgency"
    assert label(text("DUE_DATE")) == "Due date"
    assert "{" not in label(text("X", comment="{{ config }}"))
    assert label(text("X", comment="a\x1b[31m\nb")) == "A" or "\x1b" not in label(text("X", comment="a\x1b[31m\nb"))


NAMES = st.text(st.characters(blacklist_characters='"\x00', blacklist_categories=["Cs"]), min_size=1, max_size=12)
KINDS = st.sampled_from(["VARCHAR2", "CLOB", "NUMBER", "DATE", "TIMESTAMP(6)", "JSON", "BLOB", "CHAR"])
COLUMNS = st.lists(
    st.builds(Column, NAMES, KINDS, st.integers(1, 4000), st.booleans(), st.none() | st.text(max_size=60)),
    max_size=8, unique_by=lambda column: column.name,
)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(NAMES, COLUMNS, NAMES, COLUMNS, st.booleans())
def test_whatever_a_table_is_called_the_proposal_is_a_source(
    name: str, columns: list[Column], other: str, more: list[Column], below: bool
) -> None:
    own = Table(
        ("APP", name),
        columns=(ID, text("TITLE"), *(c for c in columns if c.name not in ("ID", "TITLE"))),
        primary_key=("ID",),
    )
    near = Table(
        ("X Y", other),
        columns=(ID, text("NAME"), *(c for c in more if c.name not in ("ID", "NAME"))),
        primary_key=("ID",),
    )
    if below:
        found = around(own, near, children=[refers(near, near.columns[-1].name, own, "CASCADE")])
    else:
        found = around(own, near, parents=[refers(own, own.columns[-1].name, near)])
    proposal = propose(found, visibility="shared")
    source = read(proposal)
    expected = dict(proposal.settings)
    assert source.select == expected["select"].strip()
    assert {
        key: list(entry) if isinstance(entry, tuple) else entry for key, entry in source.tables.items()
    } == expected["tables"]
    assert not reads(source.select).unclear
    given_columns = {mention.feeds.lower() for mention in reads(source.select).mentions}
    assert Template(proposal.template, "it").names <= given_columns | set(source.children)
    for child in source.children.values():
        assert not reads(child.select).unclear


@pytest.mark.parametrize(
    ("name", "shown"), [("TITLE", "title"), ("title", '"title"'), ("DATE", '"DATE"'), ("A B", '"A B"')]
)
def test_names_in_sql(name: str, shown: str) -> None:
    assert sql_name(name) == shown


# -- adding it to the file --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before", ["", "# mine", 'tenant = "x"\r\n', '[source.other]\nselect = "select 1"\nvisibility = "shared"\n\n']
)
def test_what_is_in_the_file_stays_as_it_is(tmp_path: Path, before: str) -> None:
    file = tmp_path / "oraclerag.toml"
    file.write_bytes(before.encode())
    file.chmod(0o640)
    path = add(file, propose(around(TASK)))
    assert file.read_bytes().startswith(before.encode())
    assert file.stat().st_mode & 0o777 == 0o640
    assert path == tmp_path / "templates" / "task.j2"
    assert tomllib.loads(file.read_bytes().decode())["source"]["task"]["template"] == "templates/task.j2"
    assert [one.name for one in tmp_path.iterdir()].count("templates") == 1
    assert not [one for one in tmp_path.iterdir() if one.name.startswith(".")]


@pytest.mark.parametrize(
    ("before", "sentence"),
    [
        ('[source.task]\nselect = "x"\n', "has a source 'task' already"),
        ("source = {}\n", "cannot take another"),
        ("[source\n", "is not valid TOML"),
    ],
)
def test_nothing_is_written_where_it_does_not_fit(tmp_path: Path, before: str, sentence: str) -> None:
    file = tmp_path / "oraclerag.toml"
    file.write_text(before)
    with pytest.raises((InputError, ConfigurationError), match=sentence):
        add(file, propose(around(TASK)))
    assert file.read_text() == before
    assert [one.name for one in tmp_path.iterdir()] == ["oraclerag.toml"]


def test_a_template_that_is_there_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "oraclerag.toml"
    file.write_text("")
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "task.j2").write_text("mine")
    with pytest.raises(InputError, match="There is a template"):
        add(file, propose(around(TASK)))
    assert file.read_text() == ""
    assert (tmp_path / "templates" / "task.j2").read_text() == "mine"


def test_without_a_file_there_is_nothing_to_add_to(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no configuration file") as caught:
        add(tmp_path / "oraclerag.toml", propose(around(TASK)))
    assert "oraclerag init" in (caught.value.hint or "")


def test_a_file_that_cannot_be_replaced_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oraclerag.propose import write

    file = tmp_path / "oraclerag.toml"
    file.write_text("# mine\n")

    def refuse(*_: object) -> None:
        raise ConfigurationError("no")

    monkeypatch.setattr(write, "parse_source", refuse)
    with pytest.raises(ConfigurationError):
        add(file, propose(around(TASK)))
    assert file.read_text() == "# mine\n"
    assert not (tmp_path / "templates" / "task.j2").exists()
