#!/bin/sh
# Makes the next sitting of both experiments: one of each, for the run that has fewer. A run has four sittings, and there
# are two runs. Leave half an hour until the next turn, so that the sittings of one run are an hour apart.
#
#     bench/again/sitting.sh KUMITE
#
# KUMITE is the release binary. It keeps what was measured beside itself, as EXPERIMENT-RUN-SITTING.json.gz.
set -eu
kumite=$(realpath "$1")
cd "$(dirname "$0")"
for sitting in 1 2 3 4; do
    for run in 1 2; do
        [ -e "handover-$run-$sitting.json.gz" ] && [ -e "straight-$run-$sitting.json.gz" ] && continue
        for experiment in handover straight; do
            file=$experiment-$run-$sitting.json.gz
            [ -e "$file" ] || "$kumite" run "$experiment" --sittings 1 --json "$file"
        done
        exit
    done
done
echo "all sittings are there"
