#!/usr/bin/env bash
# Downloads a bundle, holds it against its SHA-256 and takes the ONNX file out of it; fetches nothing where that was done.
#
#   echo '{"url": "…", "sha256": "…", "file": "model.onnx", "folder": "/path"}' | fetch_model.sh
#
# For Terraform's data source "external": a JSON object of texts on stdin, and one on stdout with `path` and `sha256` of
# the ONNX file. The URL may carry a token, so it is passed to curl by its standard input and is in no message.
set -euo pipefail
umask 077

fail() {
  printf 'fetch_model.sh: %s\n' "$1" >&2
  exit 1
}

for tool in curl jq unzip; do
  command -v "$tool" >/dev/null || fail "$tool is needed and is not installed."
done
if command -v sha256sum >/dev/null; then
  sha256_of() { sha256sum -- "$1" | cut -d ' ' -f 1; }
else
  sha256_of() { shasum -a 256 -- "$1" | cut -d ' ' -f 1; }
fi

query=$(cat)
value() { jq -er --arg name "$1" '.[$name]' <<<"$query" || fail "the query lacks $1."; }
url=$(value url)
expected=$(value sha256)
file=$(value file)
folder=$(value folder)
[[ $expected =~ ^[0-9a-f]{64}$ ]] || fail "sha256 is not 64 hexadecimal digits in lower case."
[[ $file =~ ^[A-Za-z0-9_][A-Za-z0-9._-]*$ ]] || fail "file is no plain file name."
[[ $url =~ ^(https|file)://[^[:space:]\"\\]+$ ]] || fail "the URL of the bundle begins with neither https:// nor file://."

place=$folder/${expected:0:16}
model=$place/$file
seal=$place/$file.sha256 # written last: what it names was checked
if [[ -f $model && -f $seal ]]; then
  found=$(sha256_of "$model")
  if [[ $found == "$(cat "$seal")" ]]; then
    jq -n --arg path "$model" --arg sha256 "$found" '{path: $path, sha256: $sha256}'
    exit 0
  fi
fi

mkdir -p "$place"
work=$(mktemp -d "$place/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
printf 'url = "%s"\n' "$url" |
  curl --silent --fail --location --proto '=https,file' --proto-redir '=https' --retry 3 --output "$work/bundle.zip" \
    --config - || fail "the bundle could not be downloaded (curl ended with $?)."
found=$(sha256_of "$work/bundle.zip")
[[ $found == "$expected" ]] || fail "the bundle has the SHA-256 $found, not the one that is configured; nothing was kept."
unzip -p "$work/bundle.zip" "$file" >"$work/model" 2>/dev/null || fail "the bundle holds no $file."
[[ -s $work/model ]] || fail "$file in the bundle is empty."
found=$(sha256_of "$work/model")
mv -f "$work/model" "$model"
printf '%s\n' "$found" >"$work/seal"
mv -f "$work/seal" "$seal"
jq -n --arg path "$model" --arg sha256 "$found" '{path: $path, sha256: $sha256}'
