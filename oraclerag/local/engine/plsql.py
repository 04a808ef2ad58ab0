"""Anonymous PL/SQL blocks: read, compiled, and run once per bind row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oraclerag.local.engine.host import Host
from oraclerag.local.engine.plsql_compile import Compiler, Program
from oraclerag.local.engine.plsql_parser import PlsqlParser
from oraclerag.local.engine.plsql_run import Interpreter
from oraclerag.local.engine.plsql_values import out_value
from oraclerag.local.engine.reader import Reader, unsupported
from oraclerag.local.interface import BindType, BlockResult, Direction, OraError

__all__ = ["compile_block", "run_block"]


def compile_block(sql: str, host: Host) -> Program:
    """Read and check a block; ORA-06550 when it does not compile."""
    reader = Reader(sql)
    block = PlsqlParser(reader).program()
    return Compiler(reader, block, host).compile()


def run_block(sql: str, rows: Sequence[Sequence[Any]], types: Sequence[BindType], host: Host) -> BlockResult:
    """Run an anonymous block or CALL once per bind row.

    ``rows`` and ``types`` follow the distinct bind names of the block. What a failing execution did is taken back;
    executions before it stay done.
    """
    names = host.shape(sql).binds
    for kind in types:
        if kind.elements:
            raise unsupported("arrays as binds of a PL/SQL block")
    if len(types) < len(names):
        raise OraError(1008, "not all variables bound")
    program = compile_block(sql, host)
    directions = tuple(_direction(program, name) for name in names)
    outs: list[list[Any]] = []
    by_name = dict(zip(names, types, strict=False))
    for row in rows or [()]:
        binds: dict[str, Any] = dict.fromkeys(names)
        binds.update(zip(names, row, strict=False))
        for name, direction in zip(names, directions, strict=True):
            if direction is Direction.OUT:
                binds[name] = None
        _run_once(program, host, binds, by_name)
        outs.append(
            [
                out_value(binds[name], by_name[name], host)
                for name, direction in zip(names, directions, strict=True)
                if direction is not Direction.IN
            ]
        )
    return BlockResult(directions, outs)


def _direction(program: Program, name: str) -> Direction:
    if name not in program.written:
        return Direction.IN
    return Direction.IN_OUT if name in program.read else Direction.OUT


def _run_once(program: Program, host: Host, binds: dict[str, Any], types: dict[str, BindType]) -> None:
    """Run a block; when it fails, take back what it did since it began, or since its last commit."""
    savepoint = host.in_transaction
    if savepoint:
        host.savepoint("block")
    interpreter = Interpreter(program, host, binds, types, 0)
    try:
        interpreter.run()
    except OraError as error:
        if savepoint and not interpreter.committed:
            host.rollback_to("block")
            host.release("block")
        else:
            host.rollback()
        raise OraError(
            error.number, f"{error.message}\nORA-06512: at line {interpreter.line}", error.position
        ) from error
    if savepoint and not interpreter.committed:
        host.release("block")
