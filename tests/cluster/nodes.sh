# Nodes of one machine, for tests: each has a network namespace with an address, a host name, a process list, a cache and
# an sshd of its own. To be sourced, as root. `nodes_begin N` starts n1 to nN, `nodes_end` ends them; $NODES is their
# folder. `ssh` is then one that knows them. What $ALSO says runs on each beside its sshd, with its name in $node.

PREFIX=kumite-test
NET=10.213.77
ALSO=:

# Whether this machine may have them.
nodes_can_be() {
    network_ends
    ip netns add $PREFIX-probe 2>/dev/null && ip netns del $PREFIX-probe \
        && ip link add $PREFIX type bridge 2>/dev/null && ip link del $PREFIX \
        && unshare --uts --pid --mount --fork --mount-proc true 2>/dev/null
}

nodes_begin() {
    count=$1
    network_ends
    NODES=$(mktemp -d /tmp/kumite-nodes.XXXXXX)
    chmod 711 "$NODES"
    mkdir -p /run/sshd "$NODES/bin"
    ssh-keygen -q -t ed25519 -N '' -f "$NODES/key"
    ssh-keygen -q -t ed25519 -N '' -f "$NODES/hostkey"
    ip link add $PREFIX type bridge
    ip addr add $NET.1/24 dev $PREFIX
    ip link set $PREFIX up
    : > "$NODES/ssh_config"
    nth=1
    while [ "$nth" -le "$count" ]; do
        node_begin $nth
        nth=$((nth + 1))
    done
    # It reads the configuration of its user's home, wherever HOME is.
    printf '#!/bin/sh\nexec /usr/bin/ssh -F %s "$@"\n' "$NODES/ssh_config" > "$NODES/bin/ssh"
    chmod 755 "$NODES/bin/ssh"
    PATH=$NODES/bin:$PATH
    nth=1
    while [ "$nth" -le "$count" ]; do
        node_is_up $nth
        nth=$((nth + 1))
    done
}

node_begin() {
    node=n$1
    address=$NET.$((10 + $1))
    ip netns add $PREFIX-$node
    ip link add $PREFIX-$1 type veth peer name eth0 netns $PREFIX-$node
    ip link set $PREFIX-$1 master $PREFIX up
    nsenter --net=/run/netns/$PREFIX-$node sh -c "ip addr add $address/24 dev eth0; ip link set eth0 up; ip link set lo up"
    cat > "$NODES/$node.sshd" <<EOF
ListenAddress 0.0.0.0
HostKey $NODES/hostkey
AuthorizedKeysFile $NODES/key.pub
PidFile none
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
EOF
    cat >> "$NODES/ssh_config" <<EOF
Host $node
  HostName $address
  User root
  IdentityFile $NODES/key
  IdentitiesOnly yes
  StrictHostKeyChecking accept-new
  UserKnownHostsFile $NODES/known
  LogLevel ERROR
EOF
    # The caches and the lock are the node's own; all else is this machine's.
    nsenter --net=/run/netns/$PREFIX-$node unshare --uts --pid --mount --fork --kill-child --mount-proc sh -c "
        hostname $node
        mkdir -p /root/.cache
        mount -t tmpfs -o size=2g tmpfs /root/.cache
        mount -t tmpfs tmpfs /run/lock
        node=$node
        $ALSO
        exec /usr/sbin/sshd -D -e -f $NODES/$node.sshd" 2> "$NODES/$node.log" &
    echo $! > "$NODES/$node.pid"
}

node_is_up() {
    tries=0
    until ssh n$1 true 2>> "$NODES/up.log"; do
        tries=$((tries + 1))
        if [ $tries -gt 50 ]; then
            echo "n$1 is not up:"
            cat "$NODES/up.log" "$NODES/n$1.log"
            exit 1
        fi
        sleep 0.1
    done
}

# What dies with its machine: all processes of a node, at once.
node_dies() {
    kill -9 "$(cat "$NODES/n$1.pid")"
}

# Nothing goes to a node or comes from it, and nobody is told.
network_cut() {
    ip link set $PREFIX-$1 down
}

network_back() {
    ip link set $PREFIX-$1 up
}

# login_shell N SHELL: what sshd of a node gives a command to.
login_shell() {
    cat > "$NODES/login-shell" <<'EOF'
umount /etc/passwd 2> /dev/null
sed "s#^\(root:.*:\)[^:]*\$#\1$1#" /etc/passwd > /run/lock/passwd
mount --bind /run/lock/passwd /etc/passwd
EOF
    ssh n$1 "sh $NODES/login-shell $2"
}

# The agent of a node alone.
agent_dies() {
    ssh n$1 'for p in /proc/[0-9]*; do
        case "$(tr "\0" " " < $p/cmdline 2>/dev/null)" in
            */kumite/agents/*" agent ") kill -9 "${p#/proc/}" ;;
        esac
    done 2> /dev/null; true'
}

# How many processes of kumite's a node has.
node_runs() {
    ssh n$1 'for p in /proc/[0-9]*/cmdline; do tr "\0" " " < $p 2>/dev/null; echo; done' | grep -c 'kumite/agents/' || true
}

nodes_end() {
    for pid in "$NODES"/*.pid; do
        kill -9 "$(cat "$pid")" 2>/dev/null || true
    done
    network_ends
    rm -rf "$NODES"
}

# That of a run that was killed, too.
network_ends() {
    for net in $(ip netns list | cut -d' ' -f1 | grep "^$PREFIX-n"); do
        ip netns del "$net"
    done
    for link in $(ip -o link show | grep -o "$PREFIX[-0-9]*"); do
        ip link del "$link" 2>/dev/null || true
    done
}
