# A Slurm cluster on one machine: nodes as in nodes.sh, each with a slurmd of its own, and the controller here. To be
# sourced after nodes.sh, as root, with slurmctld, slurmd, slurm-client and munge installed. `slurm_begin N` starts it,
# `slurm_end` ends it. Nothing of a Slurm or a munge that this machine has is used or changed.

slurm_begin() {
    SLURM=$(mktemp -d /tmp/kumite-slurm.XXXXXX)
    # munged wants it so.
    chmod 755 "$SLURM"
    export SLURM_CONF=$SLURM/slurm.conf
    head -c 1024 /dev/urandom > "$SLURM/munge.key"
    chmod 400 "$SLURM/munge.key"
    mkdir "$SLURM/state" "$SLURM/munge"
    munged --foreground --force --key-file="$SLURM/munge.key" --socket="$SLURM/munge/socket" --pid-file="$SLURM/munge/pid" \
        --seed-file="$SLURM/munge/seed" --log-file="$SLURM/munge/log" 2> "$SLURM/munge.err" &
    munge=$!
    cat > "$SLURM_CONF" <<EOF
ClusterName=kumite-test
SlurmctldHost=$(hostname)($NET.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
SlurmctldPidFile=$SLURM/slurmctld.pid
SlurmdPidFile=$SLURM/slurmd-%n.pid
SlurmdSpoolDir=$SLURM/spool-%n
StateSaveLocation=$SLURM/state
SlurmctldLogFile=$SLURM/slurmctld.log
SlurmdLogFile=$SLURM/slurmd-%n.log
AuthType=auth/munge
AuthInfo=socket=$SLURM/munge/socket,cred_expire=10
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=6
InactiveLimit=0
MinJobAge=300
KillWait=3
SchedulerParameters=sched_interval=2,bf_interval=2
EOF
    # A slurmd wants cgroups, whatever it is told to do with them.
    echo 'CgroupPlugin=cgroup/v1' > "$SLURM/cgroup.conf"
    nth=1
    while [ "$nth" -le "$1" ]; do
        echo "NodeName=n$nth NodeHostname=n$nth NodeAddr=$NET.$((10 + nth)) CPUs=$(nproc) RealMemory=2000" >> "$SLURM_CONF"
        mkdir "$SLURM/spool-n$nth"
        nth=$((nth + 1))
    done
    echo "PartitionName=bench Nodes=n[1-$1] Default=YES MaxTime=INFINITE State=UP" >> "$SLURM_CONF"
    ALSO="slurmd -D -N \$node -f $SLURM_CONF > $SLURM/slurmd-\$node.out 2>&1 &"
    nodes_begin "$1"
    slurmctld_begin
    tries=0
    until [ "$(sinfo --noheader --Node --states=idle --format=%N 2> /dev/null | sort -u | wc -l)" = "$1" ]; do
        tries=$((tries + 1))
        if [ $tries -gt 100 ]; then
            echo "the nodes do not become idle:"
            sinfo || true
            tail -5 "$SLURM"/*.log "$SLURM"/*.out "$SLURM/munge.err"
            exit 1
        fi
        sleep 0.2
    done
}

slurmctld_begin() {
    slurmctld -D -f "$SLURM_CONF" > "$SLURM/slurmctld.out" 2>&1 &
    slurmctld=$!
}

slurmctld_dies() {
    kill -9 $slurmctld
    wait $slurmctld 2> /dev/null || true
}

# Until Slurm has no job that waits or runs.
no_jobs() {
    tries=0
    until [ -z "$(squeue --noheader)" ]; do
        tries=$((tries + 1))
        test $tries -lt 150 || { echo "FAILED $name: there is a job:"; squeue; exit 1; }
        sleep 0.2
    done
}

slurm_end() {
    scancel --state=PENDING --state=RUNNING --user=root 2> /dev/null || true
    kill $slurmctld $munge 2> /dev/null || true
    nodes_end
    wait $slurmctld $munge 2> /dev/null || true
    rm -rf "$SLURM"
}
