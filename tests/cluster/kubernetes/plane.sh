# The first process of a cluster: its bridge, the control plane, and then its nodes. cluster.sh starts it in namespaces of its
# own.

PATH=$PACKAGES/usr/sbin:$PACKAGES/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin
NET=10.213.78
mount --make-rprivate /
# What ip, containerd and the control plane keep there is the cluster's.
mount -t tmpfs tmpfs /run
hostname plane
ip link set lo up
ip link add nodes type bridge
ip addr add $NET.1/24 dev nodes
ip link set nodes up

cd "$CLUSTER"
openssl genrsa -out accounts.key 2048 2> openssl.log
# All parts have all rights: what they may is not what is tested. Nobody else reaches this network.
echo 'anyone,everyone,1,system:masters' > tokens
cat > config <<END
apiVersion: v1
kind: Config
current-context: only
contexts: [{name: only, context: {cluster: only, user: only}}]
clusters: [{name: only, cluster: {server: 'https://$NET.1:6443', insecure-skip-tls-verify: true}}]
users: [{name: only, user: {token: anyone}}]
END
part() {
    part=$1
    shift
    "$PROGRAM" "$part" "$@" > "$part.log" 2>&1 &
}
etcd --data-dir store --unsafe-no-fsync > etcd.log 2>&1 &
part kube-apiserver --etcd-servers=http://127.0.0.1:2379 --advertise-address=$NET.1 --token-auth-file=tokens \
    --authorization-mode=RBAC --service-cluster-ip-range=10.213.79.0/24 --service-account-issuer=https://plane \
    --service-account-key-file=accounts.key --service-account-signing-key-file=accounts.key \
    --kubelet-preferred-address-types=InternalIP
tries=0
until "$PROGRAM" kubectl --kubeconfig config get --raw /readyz > readyz.log 2>&1; do
    tries=$((tries + 1))
    test $tries -lt 600
    sleep 0.2
done
part kube-controller-manager --kubeconfig=config --leader-elect=false --service-account-private-key-file=accounts.key
part kube-scheduler --kubeconfig=config --leader-elect=false

nth=0
for node in $NODES; do
    nth=$((nth + 1))
    ip netns add $node
    ip link add $node type veth peer name eth0 netns $node
    ip link set $node master nodes up
    # The CPU that a node keeps for itself: another one on each, as long as there are.
    node=$node address=$NET.$((10 + nth)) pods=10.213.$((100 + nth)).0/24 plane=$NET.1 own_cpu=$((nth % $(nproc))) \
        nsenter --net=/run/netns/$node unshare --mount --uts sh -eu "$(dirname "$0")/node.sh" > $node.log 2>&1 &
done
wait
