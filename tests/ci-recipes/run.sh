#!/usr/bin/env bash
# The recipes of docs/ci.md, by the lines that stand there. By hand, and in CI where the document, them, or what they are about
# changes:
#
#     tests/ci-recipes/run.sh [RECIPE]…
#
# KUMITE is the program (target/debug/kumite). A recipe needs its language's tools, and is not made where they are lacking; 77:
# none was made.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kumite=$(realpath "${KUMITE:-$here/../../target/debug/kumite}")
[ -x "$kumite" ] || { echo "no program $kumite: build it, or say KUMITE=…" >&2; exit 2; }
for program in python3 git; do
  type -P $program > /dev/null || { echo "no $program here"; exit 77; }
done
exec python3 -B "$here/recipes.py" "$kumite" "$@"
