"""The files of terraform/: parsed and held against what the documentation of the providers says, for no provider is at
hand. Every argument is one that its resource has, no secret is an output that can be read, and nothing drifts."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hcl2
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "terraform"
FILES = sorted(FOLDER.glob("*.tf"))
TERRAFORM = shutil.which("terraform")
needs_terraform = pytest.mark.skipif(TERRAFORM is None, reason="terraform is not installed")


@dataclass(frozen=True)
class Schema:
    """What may be said of one kind of resource, as its documentation has it; whatever is not listed is refused."""

    source: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    values: tuple[tuple[str, tuple[object, ...]], ...] = ()  # what an argument may be, where that is known here
    one_of: tuple[str, ...] = ()


# Provider oracle/oci 8.28, hashicorp/time 0.14, hashicorp/local 2.9, hashicorp/external 2.3: only what can matter here.
# Deprecated arguments (`object` of a pre-authenticated request, cpu_core_count) are left out, so they are refused.
SCHEMAS = {
    "data.oci_objectstorage_namespace": Schema(
        "website/docs/d/objectstorage_namespace.html.markdown", optional=("compartment_id",), computed=("namespace",)
    ),
    "oci_objectstorage_bucket": Schema(
        "website/docs/r/objectstorage_bucket.html.markdown",
        required=("compartment_id", "name", "namespace"),
        optional=(
            "access_type", "auto_tiering", "defined_tags", "freeform_tags", "kms_key_id", "metadata",
            "object_events_enabled", "retention_rules", "storage_tier", "versioning",
        ),
        computed=("bucket_id", "etag", "id", "time_created"),
        values=(("access_type", ("NoPublicAccess",)),),  # the others are public
    ),
    "oci_objectstorage_object": Schema(
        "website/docs/r/objectstorage_object.html.markdown",
        # The page calls content_length required; the provider computes it.
        required=("bucket", "namespace", "object"),
        optional=(
            "cache_control", "content", "content_disposition", "content_encoding", "content_language", "content_md5",
            "content_type", "delete_all_object_versions", "metadata", "opc_sse_kms_key_id", "source",
            "source_uri_details", "storage_tier",
        ),
        computed=("content_length", "id", "state"),
        one_of=("content", "source", "source_uri_details"),
    ),
    "oci_objectstorage_preauthrequest": Schema(
        "website/docs/r/objectstorage_preauthrequest.html.markdown",
        required=("access_type", "bucket", "name", "namespace", "time_expires"),
        optional=("bucket_listing_action", "object_name"),
        computed=("access_uri", "full_path", "id", "par_id", "time_created"),
        values=(("access_type", ("ObjectRead",)),),  # the others write, or read whatever is in the bucket
    ),
    "oci_database_autonomous_database": Schema(
        "website/docs/r/database_autonomous_database.html.markdown",
        required=("compartment_id",),
        optional=(
            "admin_password", "character_set", "compute_count", "compute_model", "data_storage_size_in_gb",
            "data_storage_size_in_tbs", "db_name", "db_version", "db_workload", "defined_tags", "display_name",
            "freeform_tags", "is_auto_scaling_enabled", "is_free_tier", "is_mtls_connection_required", "kms_key_id",
            "license_model", "nsg_ids", "ocpu_count", "private_endpoint_label", "secret_id", "secret_version_number",
            "subnet_id", "whitelisted_ips",
        ),
        computed=("connection_strings", "connection_urls", "id", "state"),
        values=(
            ("db_workload", ("OLTP", "DW", "AJD", "APEX", "LH")),
            ("license_model", ("LICENSE_INCLUDED", "BRING_YOUR_OWN_LICENSE")),
            ("is_free_tier", (True,)),
            ("is_auto_scaling_enabled", (False,)),  # Always Free has none, and the default is true
        ),
    ),
    "oci_database_autonomous_database_wallet": Schema(
        "website/docs/r/database_autonomous_database_wallet.html.markdown",
        required=("autonomous_database_id", "password"),
        optional=("base64_encode_content", "generate_type", "is_regional"),
        computed=("content", "id"),
        values=(("generate_type", ("SINGLE", "ALL")), ("base64_encode_content", (True,))),
    ),
    "time_offset": Schema(
        "docs/resources/offset.md",
        optional=(
            "base_rfc3339", "offset_days", "offset_hours", "offset_minutes", "offset_months", "offset_seconds",
            "offset_years", "triggers",
        ),
        computed=("id", "rfc3339", "unix"),
        one_of=("offset_days", "offset_hours", "offset_minutes", "offset_months", "offset_seconds", "offset_years"),
    ),
    "local_sensitive_file": Schema(
        "docs/resources/sensitive_file.md",
        required=("filename",),
        optional=("content", "content_base64", "directory_permission", "file_permission", "source"),
        computed=("id", "content_sha256"),
        values=(("file_permission", ("0600",)),),
        one_of=("content", "content_base64", "source"),
    ),
    "data.external": Schema(
        "docs/data-sources/external.md",
        required=("program",),
        optional=("query", "working_dir"),
        computed=("id", "result"),
    ),
}  # fmt: skip
OF_EVERY_RESOURCE = {"count", "for_each", "depends_on", "provider", "lifecycle", "provisioner", "connection"}
SECRETS = re.compile(r"\.(access_uri|full_path|content|admin_password)\b|\bvar\.(?P<variable>\w+)")
REFERENCE = re.compile(r"\b((?:data\.)?(?:oci|time|local|external)(?:_\w+)?)\.(\w+)(?:\[[^\]]*\])?\.(\w+)")


@functools.cache
def tree() -> dict[str, list[dict[str, Any]]]:
    """All files as one."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in FILES:
        for kind, blocks in _plain(hcl2.loads(path.read_text("utf-8"))).items():
            found.setdefault(kind, []).extend(blocks)
    return found


def _plain(value: Any) -> Any:
    """Take the parser's marks off: quotation marks of texts, and what it notes of comments and blocks."""
    if isinstance(value, dict):
        return {
            key.strip('"'): _plain(item)
            for key, item in value.items()
            if key not in ("__comments__", "__inline_comments__", "__is_block__", "__start_line__", "__end_line__")
        }
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value


def resources() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for prefix, kind in (("", "resource"), ("data.", "data")):
        for block in tree()[kind]:
            for type_, named in block.items():
                for name, body in named.items():
                    yield prefix + type_, name, body


def named(kind: str) -> dict[str, dict[str, Any]]:
    return {name: body for block in tree()[kind] for name, body in block.items()}


RESOURCES = list(resources())


def problems(type_: str, body: dict[str, Any]) -> list[str]:
    """What the documentation says against a resource."""
    schema = SCHEMAS.get(type_)
    if schema is None:
        return [f"{type_} has no schema here"]
    given = set(body) - OF_EVERY_RESOURCE
    found = [f"{name} is missing" for name in schema.required if name not in given]
    found += [f"{name} is no argument" for name in sorted(given - {*schema.required, *schema.optional})]
    if schema.one_of and len(given & set(schema.one_of)) != 1:
        found.append(f"one of {schema.one_of} is needed")
    for name, allowed in schema.values:
        if name in body and body[name] not in allowed:
            found.append(f"{name} is {body[name]!r}")
    return found


@pytest.mark.parametrize(("type_", "name", "body"), RESOURCES, ids=[f"{type_}.{name}" for type_, name, _ in RESOURCES])
def test_a_resource_has_the_arguments_that_its_documentation_knows(type_: str, name: str, body: dict[str, Any]) -> None:
    assert problems(type_, body) == []


def test_a_wrong_argument_is_found() -> None:
    [(_, _, request)] = [item for item in RESOURCES if item[0] == "oci_objectstorage_preauthrequest"]
    assert problems("oci_objectstorage_preauthrequest", {**request, "object": "x"}) == ["object is no argument"]
    assert problems("oci_objectstorage_preauthrequest", {**request, "access_type": "AnyObjectRead"})
    assert problems("oci_objectstorage_object", {"bucket": "b", "namespace": "n", "object": "o"})
    assert problems("oci_core_instance", {}) == ["oci_core_instance has no schema here"]


def test_what_is_referred_to_is_there() -> None:
    there = {(type_, name) for type_, name, _ in RESOURCES}
    found = 0
    for path in FILES:
        for type_, name, attribute in REFERENCE.findall(_without_comments(path)):
            found += 1
            assert (type_, name) in there, f"{path.name}: {type_}.{name}"
            schema = SCHEMAS[type_]
            assert attribute in {*schema.required, *schema.optional, *schema.computed}, f"{type_}.{name}.{attribute}"
    assert found > 10


def _without_comments(path: Path) -> str:
    return re.sub(r"(?m)(^|\s)#.*$", "", path.read_text("utf-8"))


def test_every_variable_is_used_described_and_declared() -> None:
    used = {name for path in FILES for name in re.findall(r"\bvar\.(\w+)", _without_comments(path))}
    declared = named("variable")
    assert used == set(declared)
    outside = "".join(_without_comments(path) for path in FILES if path.name != "variables.tf")
    for name, body in declared.items():
        assert body["description"].endswith("."), name
        assert "type" in body, name
        assert re.search(rf"\bvar\.{name}\b", outside), f"{name} is used by nothing but its own check"
        for check in body.get("validation", []):
            assert f"var.{name}" in check["condition"]
            assert check["error_message"].startswith(name)


def test_what_is_secret_is_said_to_be() -> None:
    variables = named("variable")
    secret = {name for name, body in variables.items() if body.get("sensitive")}
    assert secret == {"model_bundle_url", "database_admin_password", "wallet_password"}
    assert all("default" not in variables[name] or variables[name]["default"] is None for name in secret)
    outputs = named("output")
    assert {"minilm_onnx_par_url", "minilm_onnx_par_expires_at"} <= set(outputs)
    for name, body in outputs.items():
        assert body["description"].endswith("."), name
        reads = [
            match
            for match in SECRETS.finditer(str(body["value"]))
            if match["variable"] is None or match["variable"] in secret
        ]
        assert bool(reads) == bool(body.get("sensitive")), name
    assert outputs["minilm_onnx_par_url"]["sensitive"] is True


def test_no_plan_differs_from_the_last_one() -> None:
    """timestamp() and its like change with every plan, and every argument of a request makes a new URL."""
    for path in FILES:
        assert not re.search(r"\b(timestamp|plantimestamp|uuid|bcrypt)\(", _without_comments(path)), path.name
    kinds = {type_: body for type_, _, body in RESOURCES}
    assert kinds["oci_objectstorage_preauthrequest"]["time_expires"] == "${time_offset.par_end.rfc3339}"
    assert kinds["oci_objectstorage_object"]["lifecycle"][0]["ignore_changes"] == ["source"]


def test_a_database_is_made_only_where_that_is_said() -> None:
    assert named("variable")["create_database"]["default"] is False
    for type_, _, body in RESOURCES:
        if type_.startswith(("oci_database", "local_")):
            assert body["count"] == "${var.create_database ? 1 : 0}", type_


def test_the_example_names_variables_that_there_are() -> None:
    text = (FOLDER / "terraform.tfvars.example").read_text("utf-8")
    named_in_it = set(re.findall(r"(?m)^(?:# )?(\w+)\s+=", text))
    assert named_in_it <= set(named("variable"))
    without_default = {name for name, body in named("variable").items() if "default" not in body}
    assert without_default <= named_in_it


def test_the_page_names_every_variable_and_output() -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    for name in [*named("variable"), *named("output")]:
        assert f"`{name}`" in page, name


def test_secrets_stay_out_of_version_control() -> None:
    ignored = (FOLDER / ".gitignore").read_text("utf-8").split()
    assert {".cache/", ".terraform/", "*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfplan"} <= set(ignored)


# -- with Terraform ---------------------------------------------------------------------------------------------------


def terraform(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert TERRAFORM is not None
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "TF_DATA_DIR": str(folder / ".data"), "CHECKPOINT_DISABLE": "1",
    }  # fmt: skip
    return subprocess.run(
        [TERRAFORM, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@needs_terraform
def test_the_files_are_formatted(tmp_path: Path) -> None:
    folder = tmp_path / "terraform"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns(".cache", ".terraform*"))
    done = terraform(folder, "fmt", "-check", "-recursive", "-diff")
    assert done.returncode == 0, done.stdout + done.stderr


GOOD = {
    "region": "eu-frankfurt-1",
    "compartment_ocid": "ocid1.compartment.oc1..a",
    "bucket_name": "models",
    "model_bundle_url": "https://host/b.zip",
    "model_bundle_sha256": "0" * 64,
}
BAD: dict[str, object] = {
    "region": "Frankfurt",
    "compartment_ocid": "ocid1.user.oc1..a",
    "bucket_name": "a b",
    "model_bundle_url": "http://host/b.zip",
    "model_bundle_sha256": "A" * 64,
    "model_file_name": "../model.onnx",
    "object_storage_domain": "https://oraclecloud.com",
    "par_days": 366,
    "database_name": "rag-1",
    "database_version": "19c",
    "database_admin_password": "Admin1234567890",
    "database_allowed_addresses": ["everybody"],
    "wallet_password": "onlyletters",
}


@needs_terraform
def test_what_is_wrong_is_refused_by_its_name(tmp_path: Path) -> None:
    """Variables need no provider; one plan finds all that is wrong."""
    shutil.copy(FOLDER / "variables.tf", tmp_path)
    values = tmp_path / "terraform.tfvars.json"
    values.write_text(json.dumps(GOOD | {"database_admin_password": "Abcdefgh1234", "wallet_password": "letters1"}))
    assert "No changes" in terraform(tmp_path, "plan", "-input=false", "-no-color").stdout
    values.write_text(json.dumps(GOOD | BAD))
    done = terraform(tmp_path, "plan", "-input=false", "-no-color")
    assert done.returncode == 1
    said = " ".join(re.sub(r"[│╷╵]", " ", done.stderr).split())
    for name, body in named("variable").items():
        if name in BAD:
            assert body["validation"][0]["error_message"].replace("\\", "") in said, name
    assert set(BAD) == {name for name, body in named("variable").items() if "validation" in body}


# -- the download -----------------------------------------------------------------------------------------------------


def fetched(folder: Path, **query: str) -> subprocess.CompletedProcess[str]:
    given = {"file": "model.onnx", "folder": str(folder / "cache")} | query
    return subprocess.run(
        ["bash", str(FOLDER / "fetch_model.sh")],
        input=json.dumps(given), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("jq") is None or shutil.which("unzip") is None, reason="jq or unzip is not installed")
def test_a_bundle_is_fetched_once_and_checked(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.zip"
    with zipfile.ZipFile(bundle, "w") as writing:
        writing.writestr("README.txt", "what it is")
        writing.writestr("model.onnx", b"weights")
    url, sha256 = f"file://{bundle}", hashlib.sha256(bundle.read_bytes()).hexdigest()

    refused = fetched(tmp_path, url=f"{url}#token", sha256="0" * 64)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"has the SHA-256 {sha256}, not the one that is configured" in refused.stderr
    assert "token" not in refused.stderr
    assert "holds no other.onnx" in fetched(tmp_path, url=url, sha256=sha256, file="other.onnx").stderr
    assert "no plain file name" in fetched(tmp_path, url=url, sha256=sha256, file="../x").stderr
    assert "neither https:// nor file://" in fetched(tmp_path, url="http://host/x", sha256=sha256).stderr
    assert not list((tmp_path / "cache").rglob("*.onnx"))

    answer = json.loads(fetched(tmp_path, url=url, sha256=sha256).stdout)
    model = Path(answer["path"])
    assert (model.read_bytes(), answer["sha256"]) == (b"weights", hashlib.sha256(b"weights").hexdigest())
    assert model.stat().st_mode & 0o077 == 0
    bundle.unlink()
    assert json.loads(fetched(tmp_path, url=url, sha256=sha256).stdout) == answer, "nothing is fetched again"
    model.write_bytes(b"broken")
    assert "could not be downloaded" in fetched(tmp_path, url=url, sha256=sha256).stderr, "a broken file is not taken"
