# A Kubernetes of two nodes on one machine, each with a kubelet, a containerd, a network and folders of its own, and no
# container engine of the machine's. To be sourced after made.sh, as root. `cluster_begin` starts it, `cluster_end` ends it;
# `kubectl` is then one that knows it, and $CLUSTER its folder.
#
# All of it is in a PID, a mount, a network and a UTS namespace of its own, which end with their first process: that is
# plane.sh, and node.sh is each node's. On the machine itself there are the folder, and a control group of each node.

NODES='n1 n2'
cluster= CLUSTER=

# Says what this machine lacks, if it does.
cluster_can_be() {
    test "$(id -u)" = 0 || not_made "not root"
    test "$(nproc)" -ge 2 || not_made "one CPU, and a node keeps one for itself"
    case $MADE in
        /run/* | /var/lib/* | /var/log/*) not_made "a node does not see $MADE; say MADE=FOLDER" ;;
    esac
    for program in apt-get dpkg-deb flock git go ip nsenter openssl python3 setpriv tar unshare; do
        command -v $program > /dev/null || not_made "no $program"
    done
    for controller in cpu cpuset memory pids; do
        group_of $controller > /dev/null || not_made "no control groups v1 with $controller"
    done
    unshare --mount --net --uts --pid --fork --mount-proc true 2> /dev/null || not_made "no namespaces"
}

# The folder of a controller's control groups.
group_of() {
    findmnt --noheadings --output TARGET --types cgroup --options "$1" | head -n 1 | grep .
}

hierarchies() {
    findmnt --noheadings --output TARGET --types cgroup,cgroup2
}

# The node's own groups, with those below it, deepest first.
groups_of() {
    for all in $(hierarchies); do
        test ! -d "$all/kumite-test-$1" || find "$all/kumite-test-$1" -depth -type d
    done
}

groups_begin() {
    for all in $(hierarchies); do
        mkdir "$all/kumite-test-$1"
    done
    for own in cpus mems; do
        cat "$(group_of cpuset)/cpuset.$own" > "$(group_of cpuset)/kumite-test-$1/cpuset.$own"
    done
}

groups_end() {
    tries=0
    for node in $NODES; do
        until groups_of $node | xargs --no-run-if-empty rmdir 2> /dev/null; do
            tries=$((tries + 1))
            test $tries -lt 100 || { echo "FAILED control groups of $node are in use:"; groups_of $node; return 1; }
            sleep 0.1
        done
    done
}

cluster_begin() {
    # What a run that was killed has left: the lock says that there is no other.
    groups_end
    CLUSTER=$MADE/cluster
    rm -rf --one-file-system "$CLUSTER"
    mkdir "$CLUSTER"
    for node in $NODES; do
        groups_begin $node
    done
    image_made "$CLUSTER/image.tar"
    mkdir "$CLUSTER/bin"
    # Whatever becomes of this script, the cluster ends with it.
    MADE=$MADE PROGRAM=$PROGRAM PACKAGES=$PACKAGES CLUSTER=$CLUSTER NODES=$NODES \
        setpriv --pdeathsig KILL unshare --mount --net --uts --pid --fork --kill-child --mount-proc \
        sh -eu "$HERE/plane.sh" > "$CLUSTER/plane.log" 2>&1 < /dev/null 9>&- &
    cluster=$!
    bounded 100 "the cluster's first process" first_process
    cat > "$CLUSTER/bin/kubectl" <<END
#!/bin/sh
export HOME=$CLUSTER
exec timeout 600 nsenter --target ${first% } --net $PROGRAM kubectl --kubeconfig $CLUSTER/config "\$@"
END
    chmod 755 "$CLUSTER/bin/kubectl"
    PATH=$CLUSTER/bin:$PATH
    bounded 1800 "the nodes" nodes_are_ready
    rm "$CLUSTER/image.tar"
}

first_process() {
    first=$(cat /proc/$cluster/task/$cluster/children 2> /dev/null)
    # Until then it is still unshare itself.
    test -n "$first" && test "$(cat "/proc/${first% }/comm")" = sh
}

nodes_are_ready() {
    test "$(kubectl get nodes --no-headers 2>> "$CLUSTER/ready.log" | grep -c ' Ready ')" = 2
}

# bounded TENTHS WHAT COMMAND…: waits until it is so.
bounded() {
    tries=0 most=$1 what=$2
    shift 2
    until "$@"; do
        tries=$((tries + 1))
        if [ $tries -gt "$most" ] || ! kill -0 $cluster; then
            echo "FAILED ${name:-begin}: $what: not after $tries tries"
            cluster_says
            exit 1
        fi
        sleep 0.1
    done
}

# What each part said last.
cluster_says() {
    for log in "$CLUSTER"/*.log; do
        echo "== $(basename "$log")"
        tail -n 5 "$log"
    done
    kubectl get pods,jobs,pv,pvc,events 2>&1 || true
}

# All processes of the cluster, each with the time of its start: a number alone can be another's soon.
cluster_processes() {
    of() {
        echo "$1 $(started $1)"
        for child in $(cat /proc/$1/task/*/children 2> /dev/null); do
            of $child
        done
    }
    of $cluster
}

started() {
    sed 's/^.*) //' /proc/$1/stat 2> /dev/null | cut -d' ' -f20
}

cluster_end() {
    if [ "$cluster" ]; then
        kill -9 $cluster 2> /dev/null || true
        wait $cluster 2> /dev/null || true
    fi
    groups_end
    rm -rf --one-file-system "$CLUSTER"
}
