# What a cluster is made of, in a folder that is kept: $MADE, ~/.cache/kumite-test/kubernetes where nothing else is said. To be
# sourced. What is there already is not made again.

# The last minor version that takes nodes without control groups v2.
VERSION=1.34.4
MADE=${MADE:-${XDG_CACHE_HOME:-$HOME/.cache}/kumite-test/kubernetes}
HERE=$(realpath tests/cluster/kubernetes)

not_made() {
    echo "$1: tests/cluster/kubernetes.sh is not made"
    exit 77
}

# Its parts in one program: 132 MB, in 6 to 15 minutes of two cores where Go has nothing in its caches, which take 4 GB.
program_made() {
    digest=$(sha256sum < "$HERE/main.go" | cut -c1-8)
    PROGRAM=$MADE/kubernetes-$VERSION-$digest
    test -x "$PROGRAM" && return
    echo "building Kubernetes $VERSION"
    rm -rf "$MADE/go"
    mkdir "$MADE/go"
    cp "$HERE/main.go" "$MADE/go"
    (
        cd "$MADE/go"
        export GOTOOLCHAIN=local GOWORK=off GOFLAGS=-mod=mod CGO_ENABLED=0
        timeout 600 go mod download -json "k8s.io/kubernetes@v$VERSION" > module.json || { cat module.json; exit 77; }
        # In its own tree the modules beside it are folders. Published they are modules, one minor version below 1.
        module=$(sed -n 's/^\t"GoMod": "\(.*\)",$/\1/p' module.json)
        go mod init kumite-test 2> go.log
        go mod edit -go="$(sed -n 's/^go //p' "$module")" -require="k8s.io/kubernetes@v$VERSION"
        for beside in $(sed -n 's|^.*\(k8s\.io/[a-z-]*\) => \./staging.*|\1|p' "$module"); do
            go mod edit -replace="$beside=$beside@v0${VERSION#1}"
        done
        # A part asks for its version, and what it may speak goes by that.
        minor=${VERSION%.*}
        of=k8s.io/component-base/version
        nice timeout 3600 go build -trimpath -o kubernetes -ldflags "-s -w -X $of.gitVersion=v$VERSION \
            -X $of.gitMajor=${minor%.*} -X $of.gitMinor=${minor#*.} -X k8s.io/client-go/pkg/version.gitVersion=v$VERSION" \
            . >> go.log 2>&1 || { tail -20 go.log; exit 1; }
    ) || { status=$?; test $status != 77 || not_made "Go's proxy is not reached"; exit $status; }
    rm -f "$MADE"/kubernetes-*
    mv "$MADE/go/kubernetes" "$PROGRAM"
    rm -rf "$MADE/go"
}

# Debian's packages with what Kubernetes needs below it, unpacked and not installed.
packages_made() {
    PACKAGES=$MADE/debian
    test -e "$PACKAGES" && return
    rm -rf "$MADE/packages"
    mkdir -p "$MADE/packages/debian"
    fetch() (
        cd "$MADE/packages"
        timeout 300 apt-get download containerd runc containernetworking-plugins debootstrap etcd-server > log 2>&1
    )
    fetch || { timeout 300 apt-get update -qq && fetch; } \
        || { cat "$MADE/packages/log"; not_made "Debian's packages are not reached"; }
    for package in "$MADE/packages"/*.deb; do
        dpkg-deb --extract "$package" "$MADE/packages/debian"
    done
    mv "$MADE/packages/debian" "$PACKAGES"
    rm -rf "$MADE/packages"
}

# The image of docs/image, but for kumite: in the place of its package one without a file.
base_made() {
    dockerfile=docs/image/Dockerfile
    BASE=$MADE/base-$(cat $dockerfile tests/install/debian.sh | sha256sum | cut -c1-8).tar
    test -e "$BASE" && return
    echo "making the image of $dockerfile"
    rm -rf --one-file-system "$MADE/root" "$MADE/context"
    mkdir -p "$MADE/context/empty/DEBIAN"
    printf 'Package: kumite\nVersion: 0\nArchitecture: all\nMaintainer: a test\nDescription: nothing\n' \
        > "$MADE/context/empty/DEBIAN/control"
    dpkg-deb --build "$MADE/context/empty" "$MADE/context/kumite_0_all.deb" > /dev/null
    PATH=$PACKAGES/usr/sbin:$PATH
    export DEBOOTSTRAP_DIR="$PACKAGES/usr/share/debootstrap"
    . tests/install/debian.sh
    trap 'debian_end "$MADE/root"' EXIT
    debian_begin "$MADE/root"
    debian_dockerfile $dockerfile "$MADE/context" "$MADE/root"
    debian_end "$MADE/root"
    trap - EXIT
    tar -C "$MADE/root" --numeric-owner --exclude='./var/cache/apt/archives/*.deb' --exclude='./var/lib/apt/lists/*_*' \
        -cf "$MADE/base.part" .
    rm -f "$MADE"/base-*.tar
    mv "$MADE/base.part" "$BASE"
    rm -rf --one-file-system "$MADE/root" "$MADE/root.log" "$MADE/context"
}

# image_made FILE: the image with this kumite and this checkout's experiments, as the package has them.
image_made() {
    layer=$(mktemp -d "$MADE/layer.XXXXXX")
    mkdir -p "$layer/root/usr/bin" "$layer/root/usr/share/kumite"
    strip --strip-debug -o "$layer/root/usr/bin/kumite" "$KUMITE" || cp "$KUMITE" "$layer/root/usr/bin/kumite"
    git ls-files -z experiments kits | tar --null --files-from=- -cf - | tar -C "$layer/root/usr/share/kumite" -xf -
    tar -C "$layer/root" --owner=0 --group=0 --numeric-owner -cf "$layer/kumite.tar" .
    python3 "$HERE/image.py" localhost/kumite:1 "$(sed -n 's/^USER //p' docs/image/Dockerfile)" \
        "$(sed -n 's/^WORKDIR //p' docs/image/Dockerfile)" "$BASE" "$layer/kumite.tar" > "$1"
    rm -rf "$layer"
}
