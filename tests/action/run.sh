#!/usr/bin/env bash
# The GitHub action (.github/actions/kumite): its steps, as they stand in action.yml, against an API that is made here. By hand,
# and in CI where the action or `kumite compare` changes:
#
#     tests/action/run.sh [CHECK]…
#
# KUMITE is the program (target/debug/kumite). It needs python3, git, curl, jq and unzip, as GitHub's own runners have them, and
# PyYAML: that of python3, or from PyPI. 77: this machine cannot make it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kumite=$(realpath "${KUMITE:-$here/../../target/debug/kumite}")
[ -x "$kumite" ] || { echo "no program $kumite: build it, or say KUMITE=…" >&2; exit 2; }
for program in python3 git curl jq unzip; do
  type -P $program > /dev/null || { echo "no $program here"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/kumite-action-checks.XXXXXX")
trap 'rm -rf "$work"' EXIT
python=python3
if ! python3 -c 'import yaml' 2> /dev/null; then
  python3 -m venv "$work/venv"
  python=$work/venv/bin/python
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
fi
export TMPDIR=$work
"$python" -B "$here/checks.py" "$here/../../.github/actions/kumite" "$kumite" "$@"
