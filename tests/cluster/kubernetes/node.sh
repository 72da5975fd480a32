# A node of a cluster: what it writes to the usual places is in folders of its own. plane.sh starts it in network, mount and
# UTS namespaces of its own.

own=$CLUSTER/$node
mkdir "$own"
for usual in lib log; do
    mkdir "$own/$usual"
    mount --bind "$own/$usual" /var/$usual
done
mount -t tmpfs tmpfs /run
# A kubelet sets these for the whole machine, and lets alone what is right: here it sees them as it wants them.
for wanted in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
    kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
    seen=$own/$(basename ${wanted%=*})
    echo ${wanted#*=} > "$seen"
    mount --bind "$seen" /proc/sys/${wanted%=*}
done
# A volume that a pod mounts the kubelet has to see.
mount --make-rshared /
hostname $node
ip link set lo up
ip addr add $address/24 dev eth0
ip link set eth0 up
ip route add default via $plane

mkdir "$own/net"
cat > "$own/net/pods.conflist" <<END
{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [
    {"type": "bridge", "isGateway": true, "ipam": {"type": "host-local", "ranges": [[{"subnet": "$pods"}]]}}
  ]
}
END
# Where root may not make a process less likely to be killed for memory, runc fails unless it is told not to.
cat > "$own/containerd.toml" <<END
version = 2
[plugins."io.containerd.internal.v1.opt"]
path = "$own/opt"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/kumite:1"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "$PACKAGES/usr/lib/cni"
conf_dir = "$own/net"
END
containerd --config "$own/containerd.toml" > $node-containerd.log 2>&1 &
tries=0
until ctr --namespace=k8s.io images import image.tar > $node-image.log 2>&1; do
    tries=$((tries + 1))
    test $tries -lt 100
    sleep 0.2
done

cat > "$own/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: /kumite-test-$node
failCgroupV1: false
failSwapOn: false
protectKernelDefaults: true
makeIPTablesUtilChains: false
resolvConf: ''
cpuManagerPolicy: static
reservedSystemCPUs: '$own_cpu'
volumePluginDir: $own/plugins
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 200Mi, imagefs.available: 200Mi}
END
exec "$PROGRAM" kubelet --config="$own/kubelet.yaml" --kubeconfig=config --node-ip=$address --hostname-override=$node
