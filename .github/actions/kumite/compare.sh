#!/usr/bin/env bash
# Compares COMMAND at HEAD with COMMAND at BASE, and ends as `kumite compare` does. ARGUMENTS has one a line.
set -euo pipefail
result=$RUNNER_TEMP/kumite/result
rm -rf "$result"
mkdir -p "$result"
options=(--rev "$(git rev-parse --short=12 "$BASE")" --rev "$(git rev-parse --short=12 "$HEAD")")
[ -z "$BUILD" ] || options+=(--build "$BUILD")
[ -z "$GATE" ] || options+=("--gate=$GATE")
while IFS= read -r line; do
  [ -z "$line" ] || options+=("$line")
done <<< "$ARGUMENTS"
options+=(--json "$result/comparison.json" --comment "$result/comment.md" --junit "$result/junit.xml" --github)
status=0
"$RUNNER_TEMP/kumite/bin/kumite" compare "${options[@]}" -- "$COMMAND" || status=$?
{
  echo "status=$status"
  [ ! -s "$result/comparison.json" ] || echo "json=$result/comparison.json"
  [ ! -s "$result/junit.xml" ] || echo "junit=$result/junit.xml"
} >> "$GITHUB_OUTPUT"
exit "$status"
