#!/bin/sh
# Runs on the nodes of a Slurm cluster, and what becomes of them when something fails. As root, with sshd, ip, slurmctld,
# slurmd, slurm-client and munge installed: tests/cluster/slurm.sh [KUMITE]
set -eu
cd "$(dirname "$0")/../.."
KUMITE=$(realpath "${1:-target/debug/kumite}")
. tests/cluster/nodes.sh
. tests/cluster/slurm-nodes.sh
. tests/cluster/checks.sh

if ! nodes_can_be; then
    echo "no network namespaces here: tests/cluster/slurm.sh is not made"
    exit 77
fi
WORK=$(mktemp -d /tmp/kumite-cluster.XXXXXX)
end() {
    slurm_end
    rm -rf "$WORK"
}
trap end EXIT
slurm_begin 4

cd "$WORK"
export XDG_DATA_HOME=$WORK XDG_CACHE_HOME=$WORK/cache KUMITE_LOCK=$WORK/lock
# On a node the cache is its own, as a home that is not shared.
export SRUN_EXPORT_ENV=HOME,PATH,SLURM_CONF
"$KUMITE" init mine > /dev/null 2>&1
run() {
    "$KUMITE" run mine --db all.db --json run.json --on slurm "$@"
}

try "a job of four nodes, each with a share" 0 run --blocks 24 --seed 1 --slurm '--nodes=4'
has '" ".join(sorted({t["node"] for t in d["trials"]}))' 'n1 n2 n3 n4'
has 'cells(d), d["run"]["merged"]["of"], d["run"]["cut_short"]' '96 4 None'
says err "submitted job"
no_jobs
ok

try "nodes are shown beside each other" 0 "$KUMITE" doctor --on slurm --slurm '--nodes=2'
says out "THE SAME ON ALL"
no_jobs
ok

try "an array of eight shares, each as soon as it has a node" 0 run --blocks 24 --seed 2 --shards 8
has 'cells(d), d["run"]["merged"]["of"], d["run"]["cut_short"]' '96 8 None'
cp run.json array.json
no_jobs
try "$name" 0 "$KUMITE" merge all.db --seed 2 --db one.db --json run.json
python3 - <<EOF
import json
array, one = (json.load(open(name)) for name in ("array.json", "run.json"))
verdicts = [[(c["verdict"], c.get("tests")) for c in d["claims"]] for d in (array, one)]
assert verdicts[0] == verdicts[1] and array["claims"], verdicts
EOF
"$KUMITE" run mine --db local.db --json run.json --blocks 24 --seed 2 > out 2> err
python3 - <<EOF
import json
array, local = (json.load(open(name)) for name in ("array.json", "run.json"))
made = lambda d: {(t["block"], t["contender"], str(t["point"])) for t in d["trials"]}
assert made(local) <= made(array), "not the blocks of the same run"
EOF
ok

"$KUMITE" init serves --kind http > /dev/null 2>&1
sed -i 's/^warm_up_s = .*/warm_up_s = 0.2/; s/^duration_s = .*/duration_s = 0.4/' serves/experiment.toml
try "a server and the engine have a node each" 0 "$KUMITE" run serves --db all.db --json run.json --blocks 6 --on slurm --role server --role engine
has '[r["role"] for r in d["run"]["roles"]], len(d["trials"]) > 0, len(d["claims"])' "['server'] True 1"
no_jobs
try "nodes of roles are named" 0 "$KUMITE" run serves --db all.db --json run.json --blocks 6 --on slurm --role server=n3 --role engine=n4
has '[r["node"]["name"] for r in d["run"]["roles"]]' "['n3']"
no_jobs
try "each role's node has options of its own" 0 "$KUMITE" run serves --db all.db --json run.json --blocks 6 --on slurm --role server --role engine --slurm '--nodelist=n2 : --nodelist=n1'
has '[r["node"]["name"] for r in d["run"]["roles"]]' "['n2']"
no_jobs
ok

try "inside of a job its nodes are used" 0 salloc --quiet --exclusive --nodes=2 "$KUMITE" run mine --db all.db --json run.json --on slurm --blocks 8 --seed 3
has '" ".join(sorted({t["node"] for t in d["trials"]})), cells(d)' 'n1 n2 32'
no_jobs
cat > job.sh <<EOF
#!/bin/sh
#SBATCH --exclusive --nodes=2 --output=$WORK/job.out
unset XDG_CACHE_HOME KUMITE_LOCK; export XDG_DATA_HOME=$WORK/job
cd $WORK
$KUMITE run serves --blocks 6 --json job.json --on slurm --role server
EOF
try "a job script that has kumite in it, and its server on the job's other node" 0 sbatch job.sh
no_jobs
cp job.json run.json
has '[r["node"]["name"] for r in d["run"]["roles"]]' "['n2']"
cat > job.sh <<EOF
#!/bin/sh
#SBATCH --exclusive --nodes=1 --output=$WORK/job.out
unset XDG_CACHE_HOME KUMITE_LOCK; export XDG_DATA_HOME=$WORK/job
cd $WORK
$KUMITE run mine --blocks 8 --json job.json
EOF
rm job.json
try "a job script of five lines" 0 sbatch job.sh
no_jobs
cp job.json run.json
has 'len(d["trials"]) > 0, len(d["claims"])' 'True 1'
ok

"$KUMITE" run mine --db two.db --json two.json --on slurm --blocks 9 --seed 4 --slurm '--nodes=3' > two.out 2> two.err &
second=$!
try "two jobs at once do not share a node" 0 run --blocks 9 --seed 5 --slurm '--nodes=3'
wait $second
python3 - <<EOF
import json
from collections import defaultdict
spans = []
for name in ("run.json", "two.json"):
    of = defaultdict(list)
    for trial in json.load(open(name))["trials"]:
        of[trial["node"]].append(trial["started"])
    spans.append({node: (min(at), max(at)) for node, at in of.items()})
both = spans[0].keys() & spans[1].keys()
assert both, "they had no node in common at all"
for node in both:
    (a, b), (c, d) = spans[0][node], spans[1][node]
    assert b < c or d < a, (node, spans)
EOF
no_jobs
ok

sbatch --quiet --exclusive --nodes=4 --output=/dev/null --wrap 'sleep 600'
try "who has waited too long gives up, and says for what" 3 run --blocks 8 --queue-timeout 4s
says err "has not begun after 4 s: PENDING (\(Resources\|Priority\)); --queue-timeout"
test "$(squeue --noheader --states=PENDING | wc -l)" = 0
try "and so do all of an array" 3 run --blocks 8 --shards 3 --queue-timeout 4s
says err "share 3 has not begun after 4 s: PENDING"
scancel --user=root
no_jobs
ok

try "what Slurm refuses is said in its words" 3 run --blocks 8 --slurm '--partition=none'
says err "sbatch: .*[Ii]nvalid partition"
ok

scontrol update NodeName=n4 State=DRAIN Reason=test
try "a node that is drained is waited for, and named" 3 run --blocks 8 --slurm '--nodelist=n4' --queue-timeout 4s
says err "has not begun after 4 s: PENDING (.*\(ReqNodeNotAvail\|Resources\|DOWN\|DRAINED\)"
scontrol update NodeName=n4 State=RESUME
no_jobs
ok

# Long enough to be hit.
sed -i 's/20_000/100_000/g; s/numbers=20000/numbers=100000/g' mine/experiment.toml
blocks=60
begin() {
    beside "$KUMITE" run mine --db all.db --json run.json --on slurm --blocks $blocks "$@"
    until_said '^n1: [0-9]*/' '^n2: [0-9]*/'
}
both='--nodes=2 --nodelist=n1,n2'

name="a job that is cancelled is named as that, and the same command goes on"
begin --seed 8 --slurm "$both"
scancel "$(squeue --noheader --format=%A)"
ends 3
says err "is CANCELLED"
nothing_runs 1
nothing_runs 2
try "$name" 0 run --blocks 60 --seed 8 --slurm "$both"
has 'len({(t["block"], t["contender"], str(t["point"])) for t in d["trials"]}), d["run"]["cut_short"], len(d["run"]["resumed"])' '240 None 2'
no_jobs
ok

name="Ctrl-C cancels the job, and nothing is left"
begin --seed 9 --slurm "$both"
kill -INT $driver
ends 3
no_jobs
nothing_runs 1
nothing_runs 2
ok

name="a driver that is killed leaves no process but the job's own, which ends by itself"
begin --seed 10 --slurm "$both"
kill -9 $driver; wait $driver || true
nothing_runs 1
nothing_runs 2
test "$(squeue --noheader --states=RUNNING | wc -l)" = 1
scancel --user=root
no_jobs
ok

name="a controller that dies and comes back does not touch a run"
# It keeps what has changed within five seconds, and forgets the rest: the run has to be longer.
blocks=180
begin --seed 11 --slurm "$both"
sleep 6
kill -0 $driver || { echo "FAILED $name: the run was too short for it"; exit 1; }
slurmctld_dies
sleep 3
slurmctld_begin
ends 0
has 'cells(d), d["run"]["cut_short"], d["run"].get("resumed")' '720 None None'
blocks=60
no_jobs
ok

name="a run whose server's agent dies is resumed on the same node, by another job"
beside salloc --quiet --exclusive --nodelist=n1 "$KUMITE" run serves --db all.db --json run.json --on slurm --blocks 20 --role server --seed 14
until_said '[0-9]/[0-9]* at most'
agent_dies 1
ends 3
says err "n1: the agent \(ended\|broke off\).*; the run ends here"
no_jobs
try "$name" 0 salloc --quiet --exclusive --nodelist=n1 "$KUMITE" resume --db all.db --json run.json --on slurm --role server=n1
has 'd["run"].get("cut_short"), len(d["run"]["resumed"]), len(d["claims"])' 'None 1 1'
no_jobs
ok

name="a time limit is seen coming: no block begins that would end behind it"
try "$name" 3 run --blocks 2000 --seed 12 --slurm "$both --time=1"
says err "ends in .* at the latest"
says err "continues where the nodes stopped"
has 'len(d["trials"]) > 0, d["run"]["cut_short"] is not None' 'True True'
no_jobs
ok

name="a node that dies is lost, and its share is submitted again, once"
beside "$KUMITE" run mine --db all.db --json run.json --on slurm --blocks 60 --seed 13 --shards 3
until_said '^n2: [0-9]*/'
node_dies 2
ends 0
says err "is lost, and is submitted again: n2: "
has 'cells(d), d["run"]["cut_short"]' '240 None'
no_jobs
ok

echo "$passed tests passed, 0 failed"
