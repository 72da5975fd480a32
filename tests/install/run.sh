#!/bin/sh
# Installs what `cargo xtask dist` made where nothing else is, and does the first things that people do: the package in a
# plain Debian 12, the wheel in a virtual environment. Needs root, debootstrap and python3-venv.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$here/../../target/dist
home=$(mktemp -d)
root=$home/debian
ended() {
  debian_end "$root"
  rm -rf --one-file-system "$home"
}
trap ended EXIT
. "$here/debian.sh"

echo "== the package in a plain Debian 12"
debian_begin "$root"
cp "$dist"/kumite_*_"$(dpkg --print-architecture)".deb "$here/first-minute.sh" "$root/root/"
clean="env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin"
# With what the package recommends, as apt does by itself: Python, for the experiments that are checked in it.
chroot "$root" $clean DEBIAN_FRONTEND=noninteractive sh -c \
  'apt-get update -qq && apt-get install -y -qq /root/kumite_*.deb' >"$home/apt.log" 2>&1 || { cat "$home/apt.log"; exit 1; }
chroot "$root" $clean sh /root/first-minute.sh

echo "== the wheel in a virtual environment"
python3 -m venv "$home/venv"
"$home/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$dist"/kumite-*.whl
env -i HOME="$home" TERM=dumb PATH="$home/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin" sh "$here/first-minute.sh"
echo "installed and used: 2 of 2"
