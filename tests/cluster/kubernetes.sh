#!/bin/sh
# What `kumite manifest` prints, on a Kubernetes of two nodes that this makes. As root, on a machine of two CPUs with Debian's
# packages, Go and control groups v1, and a way to Debian's mirror and to Go's proxy: tests/cluster/kubernetes.sh [KUMITE]
#
# What takes long to make is kept, 0.6 GB in MADE (~/.cache/kumite-test/kubernetes).
set -eu
cd "$(dirname "$0")/../.."
KUMITE=$(realpath "${1:-target/debug/kumite}")
ROOT=$PWD
. tests/cluster/kubernetes/made.sh
. tests/cluster/kubernetes/cluster.sh
. tests/cluster/checks.sh

cluster_can_be
mkdir -p "$MADE"
exec 9> "$MADE/lock"
flock --wait 3600 9 || { echo "FAILED another run has $MADE/lock for an hour"; exit 1; }
program_made
packages_made
base_made
trap cluster_end EXIT
trap 'exit 1' INT TERM
cluster_begin
WORK=$CLUSTER/work
mkdir "$WORK"
cd "$WORK"
# What is to be gone in the end, as it is now.
processes=
see() {
    processes=$(printf '%s\n' "$processes" "$(cluster_processes)" | sort -u | grep .)
}

# manifest SEED OWNER CPUS OPTION…: its objects are in SEED.yaml, their name is $job, their volume
# is the folder SEED, and the stores come to $stores.
manifest() {
    seed=$1 owner=$2 cpus=$3
    shift 3
    (cd "$ROOT" && "$KUMITE" manifest compress --profile quick --only gzip-6,zstd-3 --shards 2 --image localhost/kumite:1 \
        --seed "$seed" --cpus "$cpus" --memory 512Mi "$@") > "$seed.yaml"
    job=kumite-compress-$seed
    stores=$seed/$job
    install -d -m 755 -o "$owner" -g "$owner" "$seed"
    cat > volume.yaml <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: $job}
spec:
  accessModes: [ReadWriteMany]
  capacity: {storage: 1Gi}
  claimRef: {namespace: default, name: $job}
  hostPath: {path: $WORK/$seed, type: Directory}
END
    try "$name" 0 kubectl apply -f volume.yaml -f "$seed.yaml"
}
# The commands of its first lines wait and merge. This is one of them, `ended JOB`, as it is printed.
ended() {
    sed -n 's/^# \(ended() .*\)$/\1/p' "$seed.yaml" > ended.sh
    test -s ended.sh || { echo "FAILED $name: the manifest says no more how to wait"; exit 1; }
    echo "ended $1" >> ended.sh
    timeout 600 sh ended.sh || { echo "FAILED $name: $1 has not ended"; cluster_says; exit 1; }
}
merged() {
    try "$name" 0 kubectl patch "job/$job-merge" --patch '{"spec": {"suspend": false}}'
    ended $job-merge
    is_so "job/$job-merge" Complete
    cp "$stores/run.json" run.json
}
# Whether the job has ended like that.
is_so() {
    found=$(kubectl get "$1" --output 'jsonpath={.status.conditions[?(@.status=="True")].type}')
    case " $found " in
        *" $2 "*) ;;
        *) echo "FAILED $name: $1 is '$found', not $2"; said; cluster_says; exit 1 ;;
    esac
}
said() {
    kubectl logs --selector "kumite-run=$job" --prefix --tail=100 2>&1
}
# Each trial of the plan was made, once, and is right.
is_whole() {
    python3 - "$1" <<'END'
import collections, json, sys
run = json.load(open("run.json"))
wrong = [(t["contender"], t["outcome"], t.get("reason")) for t in run["trials"] if t["outcome"] != "ok"]
assert not wrong, wrong
made = collections.Counter((t["block"], t["contender"], str(t["point"])) for t in run["trials"])
blocks = {block for block, _, _ in made}
assert len(blocks) == int(sys.argv[1]), sorted(blocks)
assert {name for _, name, _ in made} == {"gzip-6", "zstd-3"}, made
points = {point for _, _, point in made}
assert len(points) == 2 and len(made) == len(blocks) * 4 and set(made.values()) == {1}, made
assert run["run"]["merged"]["of"] == 2 and run["run"]["cut_short"] is None and run["claims"], run["run"]
assert {t["node"] for t in run["trials"]} == {"n1", "n2"}
END
}

name="the manifest as it is printed: a node for each shard, stores that arrive, and a run merged of them"
manifest 1 1000 1 --blocks 8
ended $job
is_so job/$job Complete
test "$(ls $stores | grep -c '^[01]-.*\.db$')" = 2 || { echo "FAILED $name: the volume has"; ls -l $stores; exit 1; }
merged
is_whole 8
ok

name="it is the run that one store has without shards"
kubectl run one --image=localhost/kumite:1 --restart=Never -- sh -c \
    'kumite run compress --profile quick --only gzip-6,zstd-3 --blocks 8 --seed 1 --db one.db --json one.json >&2 && cat one.json' > out
bounded 3000 "the pod ends" sh -c 'kubectl get pod one --no-headers | grep -q " \(Completed\|Error\) "'
kubectl logs one > one.log
sed -n '/^{/,$p' one.log > one.json
python3 - <<'END'
import json
merged, one = (json.load(open(name)) for name in ("run.json", "one.json"))
def made(run):
    return sorted((t["block"], t["contender"], str(t["point"]), t["outcome"], t["sample"]["metrics"]["compressed_bytes"]) for t in run["trials"])
assert made(merged) == made(one), (made(merged), made(one))
assert [c["id"] for c in merged["claims"]] == [c["id"] for c in one["claims"]]
END
ok

name="a pod that is deleted in mid-run is made again, and nothing is twice"
manifest 2 1000 1 --blocks 80
in_mid_run() {
    for pod in $(kubectl get pods --selector "kumite-run=$job" --field-selector status.phase=Running --output name); do
        kubectl logs $pod | grep -q '[0-9]/160 at most' && echo $pod
    done > running
    test "$(wc -l < running)" = 2
}
bounded 600 "both shards run at once" in_mid_run
see
index=$(kubectl get "$(head -n 1 running)" --output 'jsonpath={.metadata.annotations.batch\.kubernetes\.io/job-completion-index}')
kubectl delete --wait=false "$(head -n 1 running)" > out
ended $job
is_so job/$job Complete
test "$(ls $stores | grep -c "^$index-.*\.db$")" = 2 || { echo "FAILED $name: shard $index has not two stores"; ls -l $stores; exit 1; }
merged
is_whole 80
has 'sum("was executed 2 times" in str(warning) for warning in d["warnings"])' 1
ok

name="a volume without rights is said, with the remedy, and who waits is told"
manifest 3 0 1 --blocks 8 --deadline 5m
ended $job
is_so job/$job Failed
said > out
says out 'cannot write to /results as user 1000 of group 1000.*give the volume.s folder to group 1000'
kubectl get job/$job --output 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}' > out
if grep -q DeadlineExceeded out; then echo "FAILED $name: only the deadline has ended it"; exit 1; fi
ok

name="pods that no node can take end with the deadline"
manifest 4 1000 9999 --blocks 8 --deadline 10s
ended $job
is_so job/$job Failed
kubectl get job/$job --output 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}' > out
says out DeadlineExceeded
ok

name="nothing is left of the cluster"
see
trap - EXIT
cd /
cluster_end
test "$(echo "$processes" | wc -l)" -gt 15 || { echo "FAILED $name: a cluster has more than this:"; echo "$processes"; exit 1; }
left=$(echo "$processes" | while read -r pid start; do test "$(started $pid)" != "$start" || echo $pid; done)
test -z "$left" || { echo "FAILED $name: processes"; ps -o pid,ppid,stat,args -p "$(echo $left | tr ' ' ,)"; exit 1; }
# Without a process a namespace is only where it is mounted.
if grep -F -e "$CLUSTER" /proc/self/mountinfo; then echo "FAILED $name: these mounts"; exit 1; fi
for node in $NODES; do
    test ! -e /run/netns/$node || { echo "FAILED $name: the network namespace $node"; exit 1; }
done
left=$(for node in $NODES; do groups_of $node; done)
test -z "$left" || { echo "FAILED $name: control groups $left"; exit 1; }
test ! -e "$CLUSTER" || { echo "FAILED $name: $CLUSTER"; exit 1; }
ok

echo "$passed tests passed, 0 failed"
