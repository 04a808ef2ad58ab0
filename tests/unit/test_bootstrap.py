"""terraform/bootstrap.sh, with a terraform and an oraclerag that write down how they were called: in order, to the first
failure, again without harm, and without a secret in an argument or on the screen."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "terraform" / "bootstrap.sh"
SHELLCHECK = shutil.which("shellcheck")
SECRETS = ("par-secret", "pass-word", "wallet-pass")

TERRAFORM = """#!/usr/bin/env bash
echo "terraform $*" >>"$LOG"
[[ " $* " == *" $FAILS "* ]] && { echo "terraform failed" >&2; exit 7; }
case "$*" in
  *" output -raw minilm_onnx_par_url") printf %s "$URL" ;;
  *" output -raw minilm_onnx_path") printf %s "$MODEL" ;;
  *" output -raw minilm_onnx_par_expires_at") printf 2027-11-30T00:00:00Z ;;
  *" output -raw wallet_file") [[ -n $WALLET ]] && printf %s "$WALLET" || exit 1 ;;
  *" output -raw database_service") printf oraclerag_tp ;;
  *) echo "No changes." ;;
esac
"""
ORACLERAG = """#!/usr/bin/env bash
echo "oraclerag $*" >>"$LOG"
[[ $1 == "$FAILS" ]] && { echo "oraclerag failed" >&2; exit 3; }
{ echo "url ${MINILM_ONNX_PAR_URL:-}"; echo "ends ${ORACLERAG_PAR_EXPIRES_AT:-}"; echo "dsn ${ORACLE_DSN:-}"
  echo "wallet ${ORACLE_WALLET_LOCATION:-} ${ORACLE_WALLET_PASSWORD:-}"; } >"$SEEN"
"""


@dataclass
class Shell:
    folder: Path

    def run(self, *arguments: str, trace: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "log").unlink(missing_ok=True)
        environment = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LOG": str(self.folder / "log"),
            "SEEN": str(self.folder / "seen"),
            "URL": "https://host/p/par-secret/o/model.onnx",
            "MODEL": str(self.folder / "model.onnx"),
            "WALLET": "",
            "FAILS": "nothing",
            "ORACLE_PASSWORD": "pass-word",
        }
        command = ["bash", *(["-x"] if trace else []), str(self.folder / "terraform" / "bootstrap.sh"), *arguments]
        return subprocess.run(
            command,
            env=environment | variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )

    @property
    def calls(self) -> list[str]:
        here = str(self.folder / "terraform")
        text = (self.folder / "log").read_text("utf-8") if (self.folder / "log").exists() else ""
        return [line.replace(f"-chdir={here} ", "") for line in text.splitlines() if " output " not in line]

    @property
    def seen(self) -> dict[str, str]:
        lines = (self.folder / "seen").read_text("utf-8").splitlines()
        return {name: value.strip() for name, _, value in (line.partition(" ") for line in lines)}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    for place in ("bin", "terraform"):
        (tmp_path / place).mkdir()
    shutil.copy(SCRIPT, tmp_path / "terraform")
    for name, text in (("terraform", TERRAFORM), ("oraclerag", ORACLERAG)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "model.onnx").write_bytes(b"weights")
    return Shell(tmp_path)


def test_it_applies_provisions_and_checks_and_again(shell: Shell) -> None:
    model = shell.folder / "model.onnx"
    done = shell.run("-auto-approve", trace=True)
    assert done.returncode == 0, done.stderr
    last = [f"oraclerag provision --model {model}", "oraclerag doctor"]
    assert shell.calls == ["terraform init -input=false", "terraform apply -auto-approve", *last]
    assert shell.seen["url"] == "https://host/p/par-secret/o/model.onnx"
    assert shell.seen["ends"] == "2027-11-30T00:00:00Z"
    assert not [secret for secret in SECRETS if secret in done.stdout + done.stderr + " ".join(shell.calls)]
    (shell.folder / "terraform" / ".terraform").mkdir()
    assert shell.run().returncode == 0
    assert shell.calls == ["terraform apply", *last], "the second run asks and changes nothing by itself"


@pytest.mark.parametrize(
    ("fails", "code", "calls"),
    [("init", 7, 1), ("apply", 7, 2), ("provision", 3, 3), ("doctor", 3, 4)],
)
def test_it_stops_at_the_first_failure(shell: Shell, fails: str, code: int, calls: int) -> None:
    done = shell.run(FAILS=fails)
    assert (done.returncode, len(shell.calls)) == (code, calls)
    assert "failed" in done.stderr
    assert not [secret for secret in SECRETS if secret in done.stdout + done.stderr]


def test_what_terraform_does_not_give_is_named(shell: Shell) -> None:
    assert "minilm_onnx_par_url" in shell.run(URL="").stderr
    assert "minilm_onnx_path" in shell.run(MODEL="/nowhere").stderr
    assert [call for call in shell.calls if call.startswith("oraclerag")] == []
    (shell.folder / "bin" / "oraclerag").unlink()
    assert "oraclerag is not on the PATH" in shell.run(PATH=f"{shell.folder / 'bin'}:/usr/bin:/bin").stderr


@pytest.mark.skipif(shutil.which("unzip") is None, reason="unzip is not installed")
def test_the_database_that_was_made_is_used_unless_another_is_named(shell: Shell) -> None:
    with zipfile.ZipFile(shell.folder / "terraform" / "wallet.zip", "w") as writing:
        writing.writestr("tnsnames.ora", "oraclerag_tp = (…)")
    done = shell.run(WALLET="./wallet.zip", TF_VAR_wallet_password="wallet-pass")
    assert done.returncode == 0, done.stderr
    folder = shell.folder / "terraform" / ".cache" / "wallet"
    assert (shell.seen["dsn"], shell.seen["wallet"]) == ("oraclerag_tp", f"{folder} wallet-pass")
    assert (folder / "tnsnames.ora").stat().st_mode & 0o077 == 0
    assert "wallet-pass" not in done.stdout + done.stderr
    shell.run(WALLET="./wallet.zip", ORACLE_DSN="other:1521/x")
    assert (shell.seen["dsn"], shell.seen["wallet"]) == ("other:1521/x", "")


@pytest.mark.skipif(SHELLCHECK is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("script", sorted(SCRIPT.parent.glob("*.sh")), ids=lambda path: path.name)
def test_the_scripts_have_nothing_that_shellcheck_knows(script: Path) -> None:
    done = subprocess.run([str(SHELLCHECK), str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
