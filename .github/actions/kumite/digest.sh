#!/usr/bin/env bash
# The key of a kumite that is built: the sources of this action's repository, and the compiler.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
sources=$(find . \( -path ./.git -o -path ./target \) -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
digest=$(printf '%s\n%s\n' "$sources" "$(rustc --version --verbose)" | sha256sum | cut -c 1-32)
echo "digest=$digest" >> "$GITHUB_OUTPUT"
