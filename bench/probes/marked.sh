#!/bin/sh
# How many trials are marked machine-changed, and how many by anything: calm, beside a neighbour that storms futexes and
# timers, beside one that thrashes the caches, and with the CPU quota halved in the middle of each run.
#
#     bench/probes/marked.sh KUMITE NEIGHBOUR [RUNS]
#
# KUMITE is the release binary, NEIGHBOUR the example of kumite-probe, RUNS how many of each (20). First `kumite selfcheck`
# measures the limits, once, while nobody disturbs. The quota is tried where a cgroup of ours can be made. Needs python3.
set -eu
kumite=$(realpath "$1")
neighbour=$(realpath "$2")
runs=${3:-20}
place=$(mktemp -d)
others=
quota=
ended() {
    [ -z "$others" ] || kill "$others" 2>/dev/null || true
    [ -z "$quota" ] || rmdir "$quota" 2>/dev/null || true
    rm -rf "$place"
}
trap ended EXIT
cd "$place"
mkdir -p marks/contenders/one marks/contenders/other
cat > marks/experiment.toml <<'END'
question = "Which of two that are the same takes longer?"
kind = "command"
blocks = 10
min_blocks = 10
[workload]
runs = 5
[[claim]]
id = "one-takes-longer"
assert = "wall_ms(one) > wall_ms(other)"
END
for name in one other; do
    printf 'version = "echo 1"\n[[variant]]\nname = "%s"\nmodel = "sequential"\nrun = "./spin.sh"\n' "$name" > "marks/contenders/$name/contender.toml"
    printf '#!/bin/sh\ni=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done\n' > "marks/contenders/$name/spin.sh"
    chmod +x "marks/contenders/$name/spin.sh"
done

# In a cgroup of its own, whose quota falls from both CPUs to one in mid-run.
with_quota() {
    for root in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
        quota="$root/kumite-marks-$$"
        mkdir "$quota" 2>/dev/null || continue
        if [ -e "$quota/cpu.max" ]; then limit=cpu.max; full="200000 100000"; half="100000 100000"
        elif [ -e "$quota/cpu.cfs_quota_us" ]; then limit=cpu.cfs_quota_us; full=200000; half=100000
        else rmdir "$quota"; continue; fi
        echo "$full" > "$quota/$limit"
        sh -c 'echo $$ > "$1/cgroup.procs"; shift; exec "$@"' sh "$quota" "$@" &
        run=$!
        sleep 3
        echo "$half" > "$quota/$limit"
        wait "$run" || true
        # What kumite started may take a moment to be gone.
        sleep 1
        rmdir "$quota" && quota=
        return 0
    done
    quota=
    return 1
}

counted() {
    python3 - "$@" <<'END'
import json, sys
what, files = sys.argv[1], sys.argv[2:]
trials = [trial for file in files for trial in json.load(open(file))["trials"]]
changed = [trial for trial in trials if "machine-changed" in trial["marks"]]
probed = sum("probe_loop_ns" in trial["sample"]["metrics"] for trial in trials)
runs = sum(any("machine-changed" in t["marks"] for t in json.load(open(file))["trials"]) for file in files)
marked = sum(bool(trial["marks"]) for trial in trials)
print(f"| {what} | {len(files)} | {runs} | {len(trials)} | {probed} | {len(changed)} | {marked} |", flush=True)
END
}

began=$(date +%s)
# It ends with 1 where something is worse than promised; its limits are kept all the same.
"$kumite" selfcheck --db marks.db --budget 60s --json check.json > log 2>&1 || tail -n 2 log
if [ -e check.json ]; then
    python3 -c 'import json; [print(name, of) for name, of in json.load(open("check.json")).get("probes", {}).items()]'
else
    echo "no limits were measured: a trial is held against twice what was usual before it"
fi
echo "| | runs | with a mark | trials | probed | machine-changed | marked by anything |"
echo "| --- | --- | --- | --- | --- | --- | --- |"
for what in calm storm cache quota; do
    files=
    nth=0
    while [ "$nth" -lt "$runs" ]; do
        nth=$((nth + 1))
        file="$what-$nth.json"
        set -- "$kumite" run marks --db marks.db --json "$file"
        case $what in
        calm) "$@" > log 2>&1 || true ;;
        quota) with_quota "$@" > log 2>&1 || { echo "no cgroup with a CPU quota can be made here"; break; } ;;
        *)
            "$neighbour" "$what" 600 & others=$!
            "$@" > log 2>&1 || true
            kill "$others"; wait "$others" 2>/dev/null || true; others=
            ;;
        esac
        if [ -e "$file" ]; then files="$files $file"; else cat log; fi
    done
    # shellcheck disable=SC2086
    [ -z "$files" ] || counted "$what" $files
done
echo "it took $(($(date +%s) - began)) s"
