#!/bin/sh
# Prints what each of the two runs of four sittings says of each claim, one beside the other.
#
#     bench/again/table.sh KUMITE
#
# KUMITE is the release binary. Needs all that sitting.sh makes.
set -eu
kumite=$(realpath "$1")
cd "$(dirname "$0")"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for experiment in handover straight; do
    for run in 1 2; do
        "$kumite" merge "$experiment-$run"-[1-4].json.gz --db "$place/$run.db" --json "$place/$run.json"
    done
    "$kumite" report "$place/1.json" "$place/2.json"
done
