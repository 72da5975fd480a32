# A plain Debian 12 below a folder, with the way to the mirror that this machine has. To be sourced, as root, with debootstrap
# installed: `debian_begin ROOT`, `debian_end ROOT`. Between them `debian_dockerfile FILE CONTEXT ROOT` does to it what a
# Dockerfile says, whose user and folder are then in $user and $workdir.

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

debian_dockerfile() {
  while read -r what rest; do
    case "$what" in
      '' | '#' | FROM) ;;
      COPY) cp "$2"/${rest%% *} "$3${rest##* }" ;;
      RUN)
        chroot "$3" env -i DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c "$rest" \
          >"$3.log" 2>&1 </dev/null || { cat "$3.log"; exit 1; }
        ;;
      USER) user=$rest ;;
      WORKDIR) workdir=$rest ;;
      *) echo "$1: debian_dockerfile does not know $what"; exit 1 ;;
    esac
  done <"$1"
}
