"""compose.dev.yml and docker/Dockerfile: no container engine is at hand, so what they name is held against what there is:
files, variables, commands, the services of one another."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from oraclerag.config import Settings
from tests.unit.test_documents import follow

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.dev.yml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DATABASES = {name for name in SERVICES if name.startswith("oracle")}
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text("utf-8").replace("\\\n", "")
OF_THE_IMAGE = {"ORACLE_RANDOM_PASSWORD", "APP_USER", "APP_USER_PASSWORD"}  # gvenzl/oracle-free, README.md
OF_THE_USER = {"models"}  # folders that are made where they are missing, and are under no version control


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", DOCKERFILE, re.MULTILINE)


def binds(service: dict[str, Any]) -> dict[str, str]:
    """Path in the container → path here."""
    found = {}
    for entry in service.get("volumes", []):
        source, target, *mode = entry.split(":")
        if source.startswith("."):
            assert mode == ["ro"], f"{entry} can be written"
            found[target] = source
    return found


def test_what_is_started_without_a_word_is_one_database() -> None:
    assert [name for name, service in SERVICES.items() if "profiles" not in service] == ["oracle"]
    assert SERVICES["oracle"]["image"] == "gvenzl/oracle-free:23-slim-faststart"
    assert SERVICES["oracle-full"]["image"] == "gvenzl/oracle-free:23-full-faststart"
    assert {profile for service in SERVICES.values() for profile in service.get("profiles", [])} == {"full", "worker"}


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_names_is_there(name: str) -> None:
    service = SERVICES[name]
    for target, source in binds(service).items():
        place = ROOT / source
        assert place.exists() or place.name in OF_THE_USER, source
        assert target.startswith("/")
    for entry in service.get("volumes", []):
        source = entry.split(":")[0]
        assert source.startswith(".") or source in COMPOSE["volumes"]
    assert ("build" in service) != (name in DATABASES)
    if "build" in service:
        assert (ROOT / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    for other, needs in service.get("depends_on", {}).items():
        assert set(SERVICES[other].get("profiles", [])) <= set(service.get("profiles", []))
        if needs["condition"] == "service_healthy":
            assert SERVICES[other]["healthcheck"]["test"] == ["CMD", "healthcheck.sh"]
        else:
            assert needs["condition"] == "service_completed_successfully"
            assert SERVICES[other]["restart"] == "no"


def test_every_port_is_for_this_machine_alone() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(ports) == len(DATABASES)
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert len({port.split(":")[1] for port in ports}) == len(ports)


@pytest.mark.parametrize("name", SERVICES)
def test_variables_are_settings_and_hold_no_secret(name: str) -> None:
    variables = SERVICES[name]["environment"]
    settings = {item.metadata["env"] for item in dataclasses.fields(Settings) if item.metadata}
    assert set(variables) <= (OF_THE_IMAGE if name in DATABASES else settings)
    for variable, value in variables.items():
        if "PASSWORD" in variable and value != "yes":
            assert value.startswith("${ORACLE_PASSWORD:?"), "taken from outside, and missed if it is not there"
    if name not in DATABASES:
        host, _, service = variables["ORACLE_DSN"].partition(":")
        assert (host in SERVICES[name]["depends_on"], service) == (True, "1521/FREEPDB1")
        assert variables["ORACLE_USER"] == SERVICES[host]["environment"]["APP_USER"]


def test_the_model_is_read_where_it_is_mounted() -> None:
    script = (ROOT / "sql" / "setup" / "container.sql").read_text("utf-8")
    made = re.search(r"DIRECTORY (\w+) AS '(.+)'", script)
    assert made is not None
    for name in DATABASES:
        mounted = binds(SERVICES[name])
        assert mounted[made[2]] == "./models"
        assert mounted["/container-entrypoint-initdb.d/10_oraclerag.sql"] == "./sql/setup/container.sql"
    for name in ("provision", "provision-full"):
        command = SERVICES[name]["command"]
        assert command[command.index("--directory") + 1] == made[1]
        file = re.sub(r"\$\{MODEL_FILE:-(.+)\}", r"\1", command[command.index("--model") + 1])
        assert binds(SERVICES[name])[str(Path(file).parent)] == "./models"
        parsed(command)
    assert "/models/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


def parsed(words: list[str]) -> Any:
    """Take a command line as the toolkit would, without running it."""
    command, rest = follow(words)
    return command.make_context(command.name, list(rest))


def test_the_image_runs_a_worker_that_says_how_it_is() -> None:
    (command,), (check,), (entry,) = instructions("CMD"), instructions("HEALTHCHECK"), instructions("ENTRYPOINT")
    assert json.loads(entry) == ["oraclerag"]
    worker = parsed(json.loads(command))
    asked = json.loads(check[check.index("[") :])
    assert asked[0] == "oraclerag"
    assert parsed(asked[1:]).params["check"] == worker.params["heartbeat"]
    folder = Path(worker.params["heartbeat"]).parent.as_posix()
    for name in ("worker", "worker-full"):
        service = SERVICES[name]
        assert "command" not in service
        assert "healthcheck" not in service, "they are the image's"
        assert folder in [entry.split(":")[0] for entry in service["tmpfs"]]
        assert service["read_only"] is True
        assert binds(service)[instructions("WORKDIR")[-1]] == ".", "where oraclerag.toml is looked for"


def test_the_image_is_nobodys_in_particular() -> None:
    user = instructions("USER")[-1]
    assert re.fullmatch(r"[1-9]\d{3,}:[1-9]\d{3,}", user)
    uid = user.split(":")[0]
    assert f"--uid {uid} " in DOCKERFILE
    assert [entry for entry in SERVICES["worker"]["tmpfs"] if f"uid={uid}" in entry]
    assert not re.search(r"PASSWORD|SECRET|TOKEN|ORACLE_USER", DOCKERFILE)


def test_the_image_gets_what_the_wheel_is_built_of_and_nothing_else() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    built = wheel["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*built["packages"], *built["force-include"], "pyproject.toml", wheel["project"]["readme"]}
    needed |= set(wheel["project"]["license-files"])
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)
    copied = {word for line in re.findall(r"^COPY (.+)$", stages[1], re.MULTILINE) for word in line.split()[:-1]}
    assert copied == needed
    first, *kept = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert first == "*"
    assert {line[1:] for line in kept if line.startswith("!")} == needed
    assert not [name for name in needed if any(fnmatch.fnmatch(name, line) for line in kept if line[0] != "!")]
