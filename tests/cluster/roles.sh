#!/bin/sh
# Runs whose server, services and engine have nodes of their own, and what becomes of them when something fails or the way
# is slow. As root, with sshd and ip installed: tests/cluster/roles.sh [KUMITE]
set -eu
cd "$(dirname "$0")/../.."
KUMITE=$(realpath "${1:-target/debug/kumite}")
RELAY=$(realpath tests/cluster/relay.py)
. tests/cluster/nodes.sh
. tests/cluster/checks.sh

if ! nodes_can_be || ! test -c /dev/net/tun; then
    echo "no network namespaces here, or no tun: tests/cluster/roles.sh is not made"
    exit 77
fi
WORK=$(mktemp -d /tmp/kumite-cluster.XXXXXX)
end() {
    nodes_end
    rmdir /sys/fs/cgroup/cpu/kumite-test 2> /dev/null || true
    rm -rf "$WORK"
}
trap end EXIT
nodes_begin 3

cd "$WORK"
export XDG_DATA_HOME=$WORK XDG_CACHE_HOME=$WORK/cache KUMITE_LOCK=$WORK/lock
"$KUMITE" init mine --kind http > /dev/null 2>&1
sed -i 's/^warm_up_s = .*/warm_up_s = 0.2/; s/^duration_s = .*/duration_s = 0.4/' mine/experiment.toml
run() {
    "$KUMITE" run "$@" --db all.db --json run.json
}

try "a server has a node of its own" 0 run mine --blocks 6 --role server=n1
has '[(r["role"], r["node"]["name"]) for r in d["run"]["roles"]]' "[('server', 'n1')]"
has 'd["machine"]["cores"]["apart"], len(d["claims"])' 'True 1'
has 'all(0 < t["sample"]["metrics"]["network_round_trip_us"] < 20_000 for t in d["trials"])' True
has 'all("server_others_cpu_cores" in t["sample"]["noise"] for t in d["trials"])' True
nothing_runs 1
ok

try "a server and the engine have a node each" 0 run mine --blocks 6 --role server=n1 --role engine=n2 --seed 1
has '[r["node"]["name"] for r in d["run"]["roles"]], len(d["trials"]) > 0' "['n1'] True"
nothing_runs 1
nothing_runs 2
ok

"$KUMITE" init asks --kind task > /dev/null 2>&1
printf '\n[services.backend]\nkind = "stub"\n' >> asks/experiment.toml
try "services have a node of their own, beside any kind" 0 run asks --blocks 2 --role services=n3
has '[r["role"] for r in d["run"]["roles"]], "backend_cpu_s" in d["trials"][0]["sample"]["metrics"]' "['services'] True"
nothing_runs 3
ok

try "a kind whose pipe is timed has no server elsewhere" 2 run asks --role server=n1
says err "asks is of kind task, whose contenders are talked to by a pipe"
ok

# The same schedule, with a stall of the server in it.
mkdir -p stalls/contenders/stub
cat > stalls/contenders/stub/contender.toml <<EOF
version = "echo 1"
[[variant]]
name = "stub"
model = "event-loop"
run = "exec $KUMITE stub --host \$HOST --port \$PORT --stall 2s:500ms"
EOF
cat > stalls/experiment.toml <<EOF
question = "Are response times those of the schedule?"
kind = "http"
blocks = 1
[workload]
rate_rps = 200
connections = 20
warm_up_s = 0.5
duration_s = 4
timeout_ms = 2000
[answer]
equals = "pong"
EOF
try "a stall is in the response times of all that were due, from a node as from here" 0 run stalls
cp run.json here.json
try "$name" 0 run stalls --role server=n1
python3 - <<EOF
import json
for name in ("here.json", "run.json"):
    metrics = json.load(open(name))["trials"][0]["sample"]["metrics"]
    longest, mean = metrics["response_max_us"] / 1e3, metrics["response_mean_us"] / 1e3
    print(f"{name}: longest {longest:.0f} ms, mean {mean:.1f} ms")
    # 100 of 800 wait, for 250 ms on average.
    assert 480 < longest < 600 and 26 < mean < 40, name
EOF
ok

# Another way to n1, as the host `far`: link_begins DELAY_MS LOSS.
sed '/^Host n2/,$d; s/^Host n1$/Host far/; s/HostName .*/HostName 10.213.78.11/' "$NODES/ssh_config" > "$WORK/far"
cat "$WORK/far" >> "$NODES/ssh_config"
link_begins() {
    mkfifo "$WORK/end-of-link"
    python3 "$RELAY" host 10.213.78.1 kumite-test-n1 10.213.78.11 "$1" "$2" < "$WORK/end-of-link" > "$WORK/link" 2>&1 &
    link=$!
    exec 8> "$WORK/end-of-link"
    until grep -q ready "$WORK/link" 2> /dev/null; do
        sleep 0.1
        kill -0 $link || { cat "$WORK/link"; exit 1; }
    done
}
link_ends() {
    exec 8>&-
    wait $link
    cat "$WORK/link"
    rm "$WORK/end-of-link"
}

link_begins 20 0
try "20 ms of the way are in the latencies" 0 run mine --blocks 6 --role server=far --seed 2
python3 - <<EOF
import json
for trial in json.load(open("run.json"))["trials"]:
    metrics = trial["sample"]["metrics"]
    assert trial["outcome"] == "ok", trial
    # Of one connection a short window has few answers.
    if trial["point"]["connections"] == 1:
        continue
    trip, middle = metrics["network_round_trip_us"] / 1e3, metrics["response_p50_us"] / 1e3
    print(f"{trial['contender']}: there and back {trip:.2f} ms, response p50 {middle:.2f} ms")
    assert trip >= 20 and middle >= 20
EOF
link_ends
ok

sed -i 's/^duration_s = .*/duration_s = 2/' mine/experiment.toml
link_begins 0 0.01
try "1 % of packets lost is in the tail, and hardly in the middle" 0 run mine --blocks 6 --role server=far --seed 3
python3 - <<EOF
import json
for trial in json.load(open("run.json"))["trials"]:
    metrics = trial["sample"]["metrics"]
    assert trial["outcome"] == "ok", trial
    # One connection may wait for the whole window, and have few answers beside what was lost in opening it.
    if trial["point"]["connections"] == 1:
        continue
    # A packet that is lost three times in a row is a time-out.
    assert metrics["failures"] < 0.01 * metrics["finished"], trial
    print(trial["contender"], {name: round(metrics[name]) for name in ("response_p50_us", "response_max_us")})
    # Who sends one small packet and waits learns of its loss by a timer of 200 ms alone.
    assert metrics["response_p50_us"] < 150_000 < metrics["response_max_us"], trial["contender"]
EOF
link_ends
ok

# A fifth of a CPU for all that n3 does.
if mkdir /sys/fs/cgroup/cpu/kumite-test 2> /dev/null; then
    name="a node that a quota slows down is marked as that"
    echo 20000 > /sys/fs/cgroup/cpu/kumite-test/cpu.cfs_quota_us
    pgrep -P "$(cat "$NODES/n3.pid")" > /sys/fs/cgroup/cpu/kumite-test/cgroup.procs
    try "$name" 0 run mine --blocks 2 --role server=n3
    has 'sorted({(mark, role) for t in d["trials"] for role, marks in t["sample"].get("marked", {}).items() for mark in marks if mark == "throttled"})' "[('throttled', 'server')]"
    pgrep -P "$(cat "$NODES/n3.pid")" > /sys/fs/cgroup/cpu/cgroup.procs
    ok
else
    echo "no cpu cgroup here: a node that a quota slows down is not tried"
fi

# Long enough to be hit.
sed -i 's/^duration_s = .*/duration_s = 2/' mine/experiment.toml
begin() {
    beside "$KUMITE" run mine --db all.db --json run.json --blocks 20 "$@"
    until_said '[0-9]/[0-9]* at most'
}
name="an agent that is killed in a trial ends the run, and resume goes on with it"
begin --role server=n1 --seed 4
agent_dies 1
ends 3
says err "n1: the agent \(ended\|broke off\).*; the run ends here"
nothing_runs 1
try "$name" 2 "$KUMITE" resume --db all.db
says err "what --role names (roles of other nodes) has changed from server on n1 to none"
try "$name" 0 "$KUMITE" resume --db all.db --json run.json --role server=n1
has 'd["run"].get("cut_short"), len(d["run"]["resumed"]), len(d["claims"])' 'None 1 1'
has 'len({t["seq"] for t in d["trials"]}) == len(d["trials"])' True
ok

name="a network that is cut for 5 s in a trial voids it, and no contender has failed by it"
begin --role server=n1 --seed 8
# By then the machine is probed, and the load has begun.
sleep 1
network_cut 1
sleep 5
network_back 1
ends 0
says err "is void: the node n1 could not be reached for [0-9.]* s; measured again"
has '[t["contender"] for t in d["trials"] if t["outcome"] != "ok" and not t.get("void")]' '[]'
ok

name="a network that is cut for good ends the run, which says so, and the agent"
begin --role server=n1 --seed 9
network_cut 1
ends 3
says err "n1: the agent has not been heard for [34][0-9] s: the way to it is cut, or its node stands still; the run ends here"
network_back 1
nothing_runs 1
ok

name="Ctrl-C ends all there is on every node"
begin --role server=n1 --role engine=n2 --seed 5
kill -INT $driver
ends 3
nothing_runs 1
nothing_runs 2
try "$name, and the same command goes on" 0 run mine --blocks 20 --role server=n1 --role engine=n2 --seed 5
has 'd["run"].get("cut_short"), len(d["run"]["resumed"])' 'None 1'
ok

name="a server's node that dies in a trial ends the run of an engine elsewhere, which keeps what was made"
begin --role server=n1 --role engine=n2 --seed 6
node_dies 1
ends 3
says err "n1: the agent \(ended\|broke off\).*; the run ends here"
has 'd["run"]["cut_short"].startswith("it was interrupted after"), len(d["trials"]) > 0' 'True True'
nothing_runs 2
ok

echo "$passed tests passed, 0 failed"
