#!/usr/bin/env bash
# From nothing to a database that can index: terraform apply, oraclerag provision, oraclerag doctor. Stops at the first
# failure; where all is done already it changes nothing. Options are those of terraform apply: -auto-approve, -var …
#
# The connection is that of every command (ORACLE_DSN, ORACLE_USER, ORACLE_PASSWORD, or oraclerag.toml in the working
# directory). Where Terraform made the database and ORACLE_DSN is not set, its service and its wallet are used.
# The URL of the model goes by the environment alone: arguments are seen by everybody on the machine.
{ set +x; } 2>/dev/null # a trace would print secrets
set -euo pipefail
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
step() { printf '== %s\n' "$1" >&2; }
fail() {
  printf 'bootstrap.sh: %s\n' "$1" >&2
  exit 1
}
terraform_here() { terraform -chdir="$here" "$@"; }
output() { terraform_here output -raw "$1" 2>/dev/null || true; } # nothing where it is null

for tool in terraform oraclerag; do
  command -v "$tool" >/dev/null || fail "$tool is not on the PATH."
done

step "terraform apply"
[[ -d $here/.terraform ]] || terraform_here init -input=false >&2
terraform_here apply "$@" >&2

MINILM_ONNX_PAR_URL=$(output minilm_onnx_par_url)
model=$(output minilm_onnx_path)
[[ $MINILM_ONNX_PAR_URL == https://* ]] || fail "terraform gives no URL of the model (minilm_onnx_par_url)."
[[ -f $model ]] || fail "the model file that terraform names (minilm_onnx_path) is not there."
ORACLERAG_PAR_EXPIRES_AT=$(output minilm_onnx_par_expires_at)
export MINILM_ONNX_PAR_URL ORACLERAG_PAR_EXPIRES_AT

wallet=$(output wallet_file)
if [[ -z ${ORACLE_DSN:-} && -n $wallet ]]; then
  folder=$here/.cache/wallet
  mkdir -p "$folder"
  (cd "$here" && unzip -o -q "$wallet" -d "$folder") || fail "the wallet cannot be unpacked."
  ORACLE_DSN=$(output database_service)
  export ORACLE_DSN ORACLE_CONFIG_DIR="$folder" ORACLE_WALLET_LOCATION="$folder"
  export ORACLE_WALLET_PASSWORD="${ORACLE_WALLET_PASSWORD:-${TF_VAR_wallet_password:-}}"
fi

step "oraclerag provision"
oraclerag provision --model "$model"

step "oraclerag doctor"
oraclerag doctor
