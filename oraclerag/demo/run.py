"""The demo, step by step: provision, index, change, search. Every number and every hit is computed while it runs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oraclerag.database import translated
from oraclerag.demo import application, incident
from oraclerag.errors import OracleRagError
from oraclerag.records import Hit, SearchResult
from oraclerag.scope import Scope
from oraclerag.search import MAX_K

if TYPE_CHECKING:
    from oraclerag.console import Output
    from oraclerag.rag import Rag

__all__ = ["Demo"]

_MANAGER = Scope(manager=True)


@dataclass
class Demo:
    """One run over a fresh schema.

    ``data`` is the folder with the rows; ``model`` an ONNX file and ``weights`` a path to build from, both instead of
    fetching. ``record`` collects what was found, for ``--json``.
    """

    rag: Rag
    screen: Output
    configuration: Path
    data: Path = application.DATA
    model: Path | None = None
    weights: Path | None = None
    record: dict[str, Any] = field(default_factory=dict)
    _developer: int | None = None

    def run(self) -> None:
        """Run all steps. Raises where a step fails, or where the index does not follow the rows."""
        story = application.Story.read(self.data)
        self._provision()
        self._application()
        self._index()
        self._vector_index()
        task = self._search(story)
        self._rolled_back(task, story)
        self._renamed(task, story)
        self._deleted(task, story)
        self._sprint_renamed(story)
        self._roles(story)
        self._cited_answer(story)
        self.record["incident"] = incident.met(self.rag, self.screen, self._step)
        self._how_to_go_on(story)

    # -- steps --------------------------------------------------------------------------------------------------------

    def _provision(self) -> None:
        self._step("Tables and embedding model", "oraclerag provision")
        report = self.rag.provision(model_file=self.model, weights=self.weights, said=self._say)
        model = report.model
        origin = (
            f"from {self.model}"
            if self.model is not None
            else "sentence-transformers/all-MiniLM-L6-v2, built from its weights"
        )
        self._facts(
            {
                "schema": f"{report.schema}, revision {report.revision}",
                "model": f"{model.physical_name} ({origin})",
                "vectors": f"{model.dimensions} dimensions; the model reads {model.max_tokens} tokens",
            }
        )
        self.record["provision"] = {"revision": report.revision, "model": model.physical_name}

    def _application(self) -> None:
        self._step("A task tracker, with triggers that announce its changes", "oraclerag source triggers --apply")
        with self.rag.database.transaction() as connection:
            application.create(connection)
            rows = application.load(connection, self.data)
        triggers = self.rag.triggers(apply=True).triggers
        read = ", ".join(f"{count} {table}" for table, count in rows.items())
        self._facts({"rows": read, "triggers": len(triggers)})
        self.record["application"] = {"rows": dict(rows), "triggers": len(triggers)}

    def _index(self) -> None:
        self._step("Index it through the queue", "oraclerag reindex")
        enqueued = sum(report.enqueued for report in self.rag.backfill())
        started = time.perf_counter()
        with self.screen.progress("indexing", enqueued) as update:
            report = self.rag.work(once=True, on_batch=lambda batch: update(batch.claimed))
        seconds = time.perf_counter() - started
        self.rag.finish()
        self._facts(
            {
                "enqueued": f"{enqueued} entities",
                "indexed": f"{report.indexed} entities, {report.embedded} chunks embedded",
                "speed": f"{report.indexed / seconds:,.0f} entities/s",
            }
        )
        self.record["index"] = {"enqueued": enqueued, "indexed": report.indexed, "chunks": report.embedded}
        self._must(report.indexed == enqueued, f"{enqueued} entities were enqueued, {report.indexed} indexed.")

    def _vector_index(self) -> None:
        self._step("Build the vector index (below 1,000 chunks only to show it)", "oraclerag index build --force")
        found = self.rag.build_index(force=True)
        self._facts({"index": f"{found.name}: {found.organization}, {found.state}, {found.chunks} chunks"})
        self.record["vector_index"] = {"state": found.state, "chunks": found.chunks}

    def _search(self, story: application.Story) -> Hit:
        self._step("Ask as a manager", f'oraclerag search "{story.question}" --manager -k 5')
        result = self.rag.search(story.question, scope=_MANAGER, k=5)
        self._hits(result)
        self.record["search"] = self._ids(result)
        tasks = self.rag.search(story.question, scope=_MANAGER, k=1, source=["task"])
        self._must(len(tasks) == 1, "No task was found at all.")
        return tasks[0]

    def _rolled_back(self, task: Hit, story: application.Story) -> None:
        self._step(f"Rename task {task.source.id} and roll back", "oraclerag queue status")
        with self.rag.database.connect() as connection:
            self._execute(connection, "UPDATE TASK SET TITLE = :title WHERE ID = :id", story.new_title, task.source.id)
            inside = self._queued(connection)
            connection.rollback()
            after = self._queued(connection)
        self._facts({"queue rows": f"{inside} inside the transaction, {after} after the rollback"})
        self.record["rolled_back"] = {"inside": inside, "after": after}
        self._must(inside > 0 and after == 0, "The queue did not follow the transaction.")

    def _renamed(self, task: Hit, story: application.Story) -> None:
        self._step(
            f"Rename task {task.source.id} and commit: “{task.title}” becomes “{story.new_title}”",
            "oraclerag worker --once",
        )
        with self.rag.database.transaction() as connection:
            self._execute(connection, "UPDATE TASK SET TITLE = :title WHERE ID = :id", story.new_title, task.source.id)
        seconds = self._drain()
        result = self.rag.search(story.new_title, scope=_MANAGER, k=5)
        rank = self._rank(result, task)
        self._facts({"found": f"at rank {rank} under its new name, {seconds:.2f} s after the commit"})
        self.record["renamed"] = {"task": task.source.id, "rank": rank}
        self._must(rank is not None and story.new_title in result[rank - 1].content, "The renamed task was not found.")

    def _deleted(self, task: Hit, story: application.Story) -> None:
        self._step(f"Delete task {task.source.id}", "oraclerag worker --once")
        with self.rag.database.transaction() as connection:
            self._execute(connection, "DELETE FROM TASK WHERE ID = :id", task.source.id)
        self._drain()
        everything = self.rag.search(story.new_title, scope=_MANAGER, k=MAX_K)
        rank = self._rank(everything, task)
        self._facts({"found": "no more" if rank is None else f"still, at rank {rank}"})
        self.record["deleted"] = {"task": task.source.id, "rank": rank}
        self._must(rank is None, "The deleted task is still found.")

    def _sprint_renamed(self, story: application.Story) -> None:
        with self.rag.database.connect() as connection:
            sprint, name, tasks = self._one(
                connection,
                "SELECT s.ID, s.NAME, COUNT(*) FROM SPRINT s JOIN TASK t ON t.SPRINT_ID = s.ID "
                "GROUP BY s.ID, s.NAME ORDER BY COUNT(*) DESC, s.ID FETCH FIRST 1 ROWS ONLY",
            )
        self._step(
            f"Rename a sprint of {tasks} tasks: “{name}” becomes “{story.new_sprint_name}”", "oraclerag worker --once"
        )
        with self.rag.database.transaction() as connection:
            self._execute(connection, "UPDATE SPRINT SET NAME = :name WHERE ID = :id", story.new_sprint_name, sprint)
            queued = self._queued(connection)
        self._drain()
        result = self.rag.search(f"Sprint: {story.new_sprint_name}", scope=_MANAGER, k=3, source=["task"])
        self._hits(result)
        everything = self.rag.search(story.new_sprint_name, scope=_MANAGER, k=MAX_K, source=["task"])
        following = {hit.source.id for hit in everything if story.new_sprint_name in hit.content}
        first = result.hits[0].source.id if result.hits else None
        self._facts(
            {
                "queue rows": f"{queued} by the trigger: the sprint and its tasks",
                "texts": f"{len(following)} of {tasks} tasks name the new sprint",
                "first": f"task {first}, which {'is' if first in following else 'is not'} of that sprint",
            }
        )
        self.record["sprint_renamed"] = {"queued": queued, "tasks": tasks, "following": len(following)}
        self._must(len(following) == tasks, "Not every task of the sprint followed its new name.")
        self._must(first in following, "The task found first is not of the renamed sprint.")

    def _roles(self, story: application.Story) -> None:
        with self.rag.database.connect() as connection:
            person, first, last, own = self._one(
                connection,
                "SELECT e.ID, e.FIRST_NAME, e.LAST_NAME, COUNT(*) FROM EMPLOYEE e JOIN TASK t ON t.ASSIGNEE_ID = e.ID "
                "WHERE e.IS_MANAGER = 0 GROUP BY e.ID, e.FIRST_NAME, e.LAST_NAME "
                "ORDER BY COUNT(*) DESC, e.ID FETCH FIRST 1 ROWS ONLY",
            )
            total, unassigned = self._one(connection, "SELECT COUNT(*), COUNT(*) - COUNT(ASSIGNEE_ID) FROM TASK")
            mine = {str(row[0]) for row in self._all(connection, "SELECT ID FROM TASK WHERE ASSIGNEE_ID = :id", person)}
        developer = Scope(owner=str(person))
        self._developer = person
        question = story.developer_question
        self._step("The same question as a manager …", f'oraclerag search "{question}" --manager -k 5')
        self._hits(self.rag.search(question, scope=_MANAGER, k=5))
        self._step(f"… and as {first} {last}", f'oraclerag search "{question}" --owner {person} -k 5')
        self._hits(self.rag.search(question, scope=developer, k=5))
        seen_by_manager = self._tasks(question, _MANAGER)
        seen = self._tasks(question, developer)
        self._facts(
            {
                "tracker": f"{total} tasks, {unassigned} of them unassigned",
                "a manager sees": f"{len(seen_by_manager)} tasks",
                f"{first} {last} sees": f"{len(seen)} tasks: {len(seen & mine)} of {own} that are {first}'s, "
                f"{len(seen - mine)} of other people or unassigned",
            }
        )
        self.record["roles"] = {
            "tasks": total,
            "unassigned": unassigned,
            "manager": len(seen_by_manager),
            "developer": len(seen),
            "foreign": len(seen - mine),
        }
        self._must(len(seen_by_manager) == total, "The manager does not see every task.")
        self._must(seen == mine, "The developer does not see exactly the own tasks.")

    def _cited_answer(self, story: application.Story) -> None:
        self._step("Ask for an answer, without a language model", f'oraclerag ask "{story.question}" --manager')
        answer = self.rag.ask(story.question, scope=_MANAGER, k=5)
        if not self.screen.json:
            self.screen.write(f"{answer.text}\n\n{answer.references}")
        self.record["answer"] = [str(citation.source) for citation in answer.citations]
        self._must(bool(answer.citations), "The answer cites nothing.")
        self._step("Every answer is in the log of searches", "oraclerag searches list --manager")
        logged = self.rag.searches.list(scope=_MANAGER, limit=1)[0]
        self._must(logged.search_id == answer.search_id, "The answer is not in the log.")
        what = f"{logged.found} hits, {logged.cited} sentences that cite one, by {logged.generator}"
        self._facts({f"{logged.kind} {logged.search_id}": f"{logged.outcome}: {what}, {logged.seconds or 0:.2f} s"})

    def _how_to_go_on(self, story: application.Story) -> None:
        self._step("How to go on", None)
        self.screen.write(
            f"""\
The local database goes on running. In this shell:

  export ORACLERAG_CONFIG={self.configuration}
  oraclerag search "{story.question}" --owner {self._developer} --show-sql
  oraclerag status
  oraclerag worker        # keeps the index up to date; Ctrl-C ends it
  oraclerag local stop

That file and the templates beside it are an example for your own tables."""
            if not self.screen.json
            else ""
        )
        self.record["configuration"] = str(self.configuration)

    # -- doing --------------------------------------------------------------------------------------------------------

    def _drain(self) -> float:
        started = time.perf_counter()
        self.rag.work(once=True)
        return time.perf_counter() - started

    def _tasks(self, question: str, scope: Scope) -> set[str]:
        return {hit.source.id for hit in self.rag.search(question, scope=scope, k=MAX_K, source=["task"])}

    def _queued(self, connection: Any) -> int:
        count: int = self._one(connection, "SELECT COUNT(*) FROM RAG_DIRTY")[0]
        return count

    @staticmethod
    def _execute(connection: Any, statement: str, *binds: Any) -> None:
        with connection.cursor() as cursor, translated():
            cursor.execute(statement, list(binds))

    @staticmethod
    def _all(connection: Any, statement: str, *binds: Any) -> Sequence[tuple[Any, ...]]:
        with connection.cursor() as cursor, translated():
            cursor.execute(statement, list(binds))
            rows: list[tuple[Any, ...]] = cursor.fetchall()
            return rows

    def _one(self, connection: Any, statement: str) -> tuple[Any, ...]:
        rows = self._all(connection, statement)
        self._must(len(rows) == 1, "The data of the demo need a sprint with tasks and a developer with tasks.")
        return rows[0]

    @staticmethod
    def _rank(result: SearchResult, task: Hit) -> int | None:
        return next((hit.rank for hit in result if hit.source == task.source), None)

    @staticmethod
    def _ids(result: SearchResult) -> list[str]:
        return [str(hit.source) for hit in result]

    # -- showing ------------------------------------------------------------------------------------------------------

    def _step(self, title: str, command: str | None) -> None:
        if not self.screen.json:
            self.screen.write(f"\n== {title}" + (f"\n   $ {command}" if command else ""))

    def _facts(self, facts: Mapping[str, Any]) -> None:
        if not self.screen.json:
            self.screen.facts(facts)

    def _hits(self, result: SearchResult) -> None:
        if not self.screen.json:
            self.screen.hits(result)

    def _say(self, text: str) -> None:
        self.screen.say(f"   {text}")

    @staticmethod
    def _must(holds: bool, otherwise: str) -> None:
        if not holds:
            raise OracleRagError(otherwise, hint="With data of your own the demo may ask for what is not there.")
