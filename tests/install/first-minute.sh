#!/bin/sh
# The first things that people do with kumite, and how many seconds each takes.
set -eu
place=$(mktemp -d)
cd "$place"
try() {
  printf '\n$ %s\n' "$*"
  begun=$(date +%s)
  "$@"
  echo "($(($(date +%s) - begun)) s)"
}

try kumite --version
try kumite compare 'sleep 0.1' 'sleep 0.102'
kumite stub >stub.log &
stub=$!
until grep -q http stub.log; do sleep 0.1; done
try kumite load -z 2s "$(grep -o 'http://[0-9.:]*' stub.log)"
kill "$stub"
wait "$stub" || true
try kumite init mine
try kumite run mine
try kumite run compress --install
try kumite list --runs
rm -rf "$place"
