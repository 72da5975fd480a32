# A plain Debian 12 below a folder, with the way to the mirror that this machine has. To be sourced, as root, with debootstrap
# installed: `debian_begin ROOT`, `debian_end ROOT`.

debian_begin() {
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
  debootstrap --variant=minbase bookworm "$1" "$mirror" >"$1.log" || { cat "$1.log"; exit 1; }
  cp -a /etc/apt/. "$1/etc/apt/"
  cp /etc/resolv.conf /etc/hosts "$1/etc/"
  mkdir -p "$1/etc/ssl" "$1/usr/share/keyrings"
  cp -a /etc/ssl/. "$1/etc/ssl/"
  cp -a /usr/share/keyrings/. "$1/usr/share/keyrings/"
  mount -t proc proc "$1/proc"
}

debian_end() {
  if mountpoint -q "$1/proc"; then umount "$1/proc"; fi
}
