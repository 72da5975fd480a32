# What the scripts of this folder check with: a command's output goes to out and err, and a run's record is in run.json.
# To be sourced after nodes.sh.

passed=0
# NAME EXPECTED-STATUS COMMAND…: its output is in out and err.
try() {
    name=$1 expected=$2
    shift 2
    status=0
    "$@" > out 2> err || status=$?
    if [ $status != "$expected" ]; then
        echo "FAILED $name: status $status, not $expected"
        cat out err
        exit 1
    fi
}
# A program, and no function, beside the script: $driver is its process.
beside() {
    # What the one before has said is not to be taken for this one's.
    : > err
    "$@" > out 2> err &
    driver=$!
}
# Waits until the driver has said each of these.
until_said() {
    for pattern; do
        until grep -q -e "$pattern" err; do
            sleep 0.1
            kill -0 $driver || { echo "FAILED $name: it ended before it said '$pattern'"; cat out err; exit 1; }
        done
    done
}
# Waits for the driver's end, with that status.
ends() {
    status=0
    wait $driver || status=$?
    test $status = "$1" || { echo "FAILED $name: status $status, not $1"; cat out err; exit 1; }
}
says() {
    grep -q -e "$2" "$1" || { echo "FAILED $name: $1 does not say '$2':"; cat out err; exit 1; }
}
ok() {
    passed=$((passed + 1))
    echo "ok $name"
}
# What the run's record has is this. cells(d) is how many trials its plan has made, each counted once however often it was void.
has() {
    found=$(python3 -c "
import json
def cells(d):
    made = [(t['contender'], json.dumps(t['point']), t['block'], t.get('attempt', 0)) for t in d['trials']]
    assert len(set(made)) == len(made), 'a trial is there twice'
    return len({trial[:3] for trial in made})
d = json.load(open('run.json'))
print($1)")
    test "$found" = "$2" || { echo "FAILED $name: $1 is $found, not $2"; cat out err; exit 1; }
}
# Waits until a node has no process of kumite's.
nothing_runs() {
    tries=0
    until [ "$(node_runs $1)" = 0 ]; do
        tries=$((tries + 1))
        test $tries -lt 100 || { echo "FAILED $name: something runs on n$1"; exit 1; }
        sleep 0.2
    done
}
