"""Property tests: no clock decides over them, and ``pytest --hypothesis-profile thorough`` tries thirty times as much.

With ``-n`` a module's tests stay with one worker, so that what they share is made once.
"""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

pytest_plugins = ["pytester"]  # for the tests of our own plugin

# A deadline, and the check that generating is fast enough, fail on a machine that is busy.
settings.register_profile("quick", max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=1000)
settings.load_profile("quick")

# Where the environment forbids byte code, every worker rewrites every test, and every process that a test starts compiles
# the package: a sixth of a run. Byte code goes to __pycache__, as it does everywhere else.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A program makes its command line once, of the signatures of all verbs: a tenth of a second. So do the tests, which call
# it hundreds of times in a process.
_command_line = functools.cache(typer.main.get_command)
_patch = pytest.MonkeyPatch()
_patch.setattr(typer.main, "get_command", _command_line)
_patch.setattr(typer.testing, "_get_command", _command_line)

_ALONE = ("tests/local/interleavings/test_runs.py", "tests/local/test_migrate.py")
"""Long tests that share nothing of their module: each goes to whoever has time."""

_SIZE = re.compile(r"\[(standard|extended)[-\]]")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute by module and MAX_STRING_SIZE, in their order: the long ones come first; ``--dist`` overrules it."""
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # by the number of tests would put the long ones last
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = _scope
    return scheduler


def _scope(nodeid: str) -> str:
    module = nodeid.partition("::")[0]
    size = _SIZE.search(nodeid)
    return nodeid if module in _ALONE else f"{module} {size[1] if size else ''}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, and keep what was collected out of its way.

    Modules and thirteen thousand tests live to the end; to look at them again and again is a third of collecting.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests on a real Oracle where the markers do: to collect them is a tenth of a run's beginning."""
    if collection_path == Path(__file__).parent / "oracle" and "not oracle" in str(config.getoption("markexpr")):
        return True
    return None
