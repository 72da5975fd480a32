#!/usr/bin/env bash
# tests/action/run.sh in a plain Debian 12 that has what the action needs, and nothing else. As root, with debootstrap. 77:
# this machine cannot make it.
#
#     tests/action/chroot.sh [CHECK]…
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "only root can make a Debian here"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
kumite=$(realpath "${KUMITE:-$here/../../target/debug/kumite}")
home=$(mktemp -d)
root=$home/debian
ended() {
  debian_end "$root"
  rm -rf --one-file-system "$home"
}
# shellcheck source=tests/install/debian.sh
. "$here/../install/debian.sh"
trap ended EXIT
debian_begin "$root"
clean=(env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin)
chroot "$root" "${clean[@]}" DEBIAN_FRONTEND=noninteractive sh -c \
  'apt-get update -qq && apt-get install -y -qq --no-install-recommends git curl jq unzip python3-yaml' > "$home/apt.log" 2>&1 ||
  { cat "$home/apt.log"; exit 1; }
mkdir -p "$root/project/.github" "$root/project/tests"
cp -r "$here/../../.github/actions" "$root/project/.github/"
cp -r "$here" "$root/project/tests/"
cp "$here/../../Cargo.toml" "$root/project/"
cp "$kumite" "$root/usr/bin/kumite"
chroot "$root" "${clean[@]}" KUMITE=/usr/bin/kumite bash /project/tests/action/run.sh "$@"
