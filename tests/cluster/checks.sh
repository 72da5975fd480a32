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
says() {
    grep -q -e "$2" "$1" || { echo "FAILED $name: $1 does not say '$2':"; cat out err; exit 1; }
}
ok() {
    passed=$((passed + 1))
    echo "ok $name"
}
# What the run's record has is this.
has() {
    found=$(python3 -c "import json; d = json.load(open('run.json')); print($1)")
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
