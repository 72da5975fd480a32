#!/bin/sh
# A run that nodes share by ssh, and what becomes of it when something fails. As root, with sshd and ip installed:
# tests/cluster/ssh.sh [KUMITE]
set -eu
cd "$(dirname "$0")/../.."
KUMITE=$(realpath "${1:-target/debug/kumite}")
. tests/cluster/nodes.sh
. tests/cluster/checks.sh

if ! nodes_can_be; then
    echo "no network namespaces here: tests/cluster/ssh.sh is not made"
    exit 77
fi
WORK=$(mktemp -d /tmp/kumite-cluster.XXXXXX)
end() {
    nodes_end
    rm -rf "$WORK"
}
trap end EXIT
nodes_begin 4

cd "$WORK"
export XDG_DATA_HOME=$WORK XDG_CACHE_HOME=$WORK/cache KUMITE_LOCK=$WORK/lock
"$KUMITE" init mine > /dev/null 2>&1
run() {
    "$KUMITE" run mine --db all.db --json run.json "$@"
}

try "four nodes have a share each, and all are judged" 0 run --on ssh:n1,n2,n3,n4 --blocks 24 --seed 1
has '" ".join(sorted({t["node"] for t in d["trials"]}))' 'n1 n2 n3 n4'
has 'cells(d), d["run"]["merged"]["of"], d["run"]["cut_short"]' '96 4 None'
says err "n1: connected in"
ok

try "nodes that have kumite are not sent it again" 0 run --on ssh:n1,n2,n3,n4 --blocks 24 --seed 2
grep 'connected in' err
ok

try "nodes are shown beside each other" 0 "$KUMITE" doctor --on ssh:n1,n2
says out "THE SAME ON ALL"
ok

try "a host that is not there is named, and the others are kept" 3 run --on ssh:n1,nowhere.invalid --blocks 8 --seed 3
says err "nowhere.invalid: the agent ended: .*nowhere.invalid"
says err "shard 2 of 2 is missing; the same command with --seed 3"
ok

printf 'Host locked\n  HostName %s.11\n  User root\n  IdentityFile /dev/null\n  IdentitiesOnly yes\n  StrictHostKeyChecking accept-new\n  UserKnownHostsFile %s/known\n' "$NET" "$NODES" >> "$NODES/ssh_config"
try "a host that would ask for a password is refused at once" 3 run --on ssh:locked --blocks 8 --seed 4
says err "locked: the agent ended: .*Permission denied"
ok

mkdir -p "$WORK/noisy"
printf 'ForceCommand echo "Welcome to a host that talks"; exec sh -c "$SSH_ORIGINAL_COMMAND"\n' >> "$NODES/n2.sshd"
ssh n2 'kill -HUP 1'; sleep 0.5; node_is_up 2
try "what a login prints before the first frame is skipped" 0 run --on ssh:n2 --blocks 8 --seed 5
ok

for shell in /usr/bin/fish /usr/bin/tcsh /usr/bin/zsh /usr/bin/dash; do
    if ! test -x $shell; then
        echo "no $shell here: it is not tried as a login shell"
        continue
    fi
    login_shell 1 $shell
    try "a host whose login shell is $(basename $shell) is reached as any other" 0 "$KUMITE" doctor --on ssh:n1
    says out "THE SAME ON ALL"
    ok
done
login_shell 1 /bin/bash

ssh n3 'mount -t tmpfs -o size=64k tmpfs /root/.cache/kumite/nodes'
try "a full disk on a node is said, and the other node's share is kept" 3 run --on ssh:n1,n3 --blocks 8 --seed 6
says err "n3: .*\(No space left on device\|full\)"
ssh n3 'umount /root/.cache/kumite/nodes'
try "and once there is room the run goes on" 0 run --on ssh:n1,n3 --blocks 8 --seed 6
has 'd["run"]["cut_short"]' 'None'
ok

ssh n1 'exec 9> /run/lock/kumite-measuring.lock; flock 9; exec sleep 20' &
sleep 1
try "a second kumite on a node is refused there" 3 run --on ssh:n1,n2 --blocks 8 --seed 7
says err "n1: .*is measuring on this machine"
wait $!
ok

# Long enough to be hit.
sed -i 's/20_000/100_000/g; s/numbers=20000/numbers=100000/g' mine/experiment.toml
begin() {
    beside "$KUMITE" run mine --db all.db --json run.json --on ssh:n1,n2 --blocks 60 --seed "$1"
    until_said '^n1: [0-9]*/' '^n2: [0-9]*/'
}
name="an agent that is killed in a trial loses nothing that was made"
begin 8
agent_dies 2
ends 3
says err "n2: the agent ended"
nothing_runs 2
try "$name" 0 run --on ssh:n1,n2 --blocks 60 --seed 8
has 'cells(d), d["run"]["cut_short"], len(d["run"]["resumed"])' '240 None 1'
ok

name="a driver that is killed leaves no process on any node"
begin 9
kill -9 $driver; wait $driver || true
nothing_runs 1
nothing_runs 2
try "$name" 0 run --on ssh:n1,n2 --blocks 60 --seed 9
has 'cells(d), len(d["run"]["resumed"])' '240 2'
ok

name="a node that dies in a trial is named, and the others are kept"
begin 10
node_dies 2
ends 3
says err "n2: the agent ended"
says err "shard 2 of 2 is missing"
ok

echo "test result: ok. $passed passed; 0 failed"
