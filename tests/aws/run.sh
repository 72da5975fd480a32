#!/usr/bin/env bash
# The function host as boto3, AWS's command line and AWS's runtime clients for Python and Go see it: what
# docs/function-host.md says. By hand and in CI's `--all`:
#
#     tests/aws/run.sh [CHECK]…
#
# KUMITE is the program (target/debug/kumite). What else it needs comes from PyPI and from Go's proxy, into CLIENTS, a folder
# that may be kept (a temporary one). Needs python3 and go. 77: this machine cannot make it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
kumite=$(realpath "${KUMITE:-$here/../../target/debug/kumite}")
[ -x "$kumite" ] || { echo "no program $kumite: build it, or say KUMITE=…" >&2; exit 2; }
for program in python3 go; do
    type -P $program > /dev/null || { echo "no $program here"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/kumite-aws.XXXXXX")
trap 'rm -rf "$work"' EXIT
clients=${CLIENTS:-$work/clients}
[ -x "$clients/bin/aws" ] || python3 -m venv "$clients"
"$clients/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
cp "$here"/*.py "$work"
cp -r "$here/go" "$work/go"
go build -C "$work/go" -buildvcs=false -o ../function .
cd "$work"
"$clients/bin/python" -B checks.py "$kumite" "$clients/bin" "$@"
