#!/bin/sh
# Makes the image of docs/image/Dockerfile as a tar of a root file system, without a container engine, and executes a run in
# two shards in it, as `kumite manifest` has a cluster do. Needs root, debootstrap, and what `cargo xtask dist` made.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$here/../../target/dist
home=$(mktemp -d)
root=$home/debian
ended() {
  debian_end "$root"
  debian_end "$home/image"
  rm -rf --one-file-system "$home"
}
trap ended EXIT
. "$here/debian.sh"

debian_begin "$root"
mkdir "$home/context"
cp "$dist"/kumite_*_"$(dpkg --print-architecture)".deb "$home/context"
debian_dockerfile "$here/../../docs/image/Dockerfile" "$home/context" "$root"
debian_end "$root"
tar -C "$root" --exclude=./var/cache/apt/archives/*.deb -cf "$home/image.tar" .
echo "image.tar: $(du -h "$home/image.tar" | cut -f1)"

mkdir "$home/image"
tar -C "$home/image" -xf "$home/image.tar"
mount -t proc proc "$home/image/proc"
mkdir -m 777 "$home/image/results"
# As the manifest has it: the user, the home, the volume, and the variables of an Indexed Job.
kumite() {
  chroot --userspec="$user:$user" "$home/image" env -i PATH=/usr/bin:/bin HOME="$workdir" "$@"
}
for index in 0 1; do
  kumite JOB_COMPLETION_INDEX=$index NODE_NAME=node-$index sh -c \
    "cd $workdir && exec kumite run compress --profile quick --blocks 4 --shard=auto/2 --db /results/\$JOB_COMPLETION_INDEX.db"
done
kumite sh -c "cd $workdir && exec kumite merge /results/[0-9]*.db --db /results/merged.db --json /results/run.json"
python3 - "$home/image/results/run.json" <<'EOF'
import json, sys
run = json.load(open(sys.argv[1]))
nodes = {trial["node"] for trial in run["trials"]}
assert nodes == {"node-0", "node-1"} and run["run"]["merged"]["of"] == 2 and run["claims"], nodes
EOF
echo "an image made, and two shards executed in it and merged"
