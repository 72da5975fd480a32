#!/usr/bin/env bash
# Puts the kumite that SOURCE names into $RUNNER_TEMP/kumite/bin, unless it is there, and that folder on PATH.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
bin=$RUNNER_TEMP/kumite/bin
fail() { echo "::error::kumite's action: $*" >&2; exit 1; }

# The release's .tar.gz, checked before anything of it is unpacked.
release() {
  local name folder archive
  [[ $1 =~ ^[0-9]+(\.[0-9]+)*$ ]] || fail "source: release:$1 is no version, as in release:0.2.0"
  [[ $SHA256 =~ ^[0-9a-f]{64}$ ]] ||
    fail "source: release:$1 needs sha256: the 64 hexadecimal digits of its .tar.gz, as in the release's SHA256SUMS"
  name=kumite-$1-$(uname -m)-unknown-linux-gnu
  folder=$(mktemp -d "$RUNNER_TEMP/kumite-release.XXXXXX")
  archive=$folder/$name.tar.gz
  # The action's repository is empty where the action is one of the workflow's own repository.
  curl --silent --show-error --fail --location --retry 3 --max-time 300 --output "$archive" \
    "$GITHUB_SERVER_URL/${GITHUB_ACTION_REPOSITORY:-$GITHUB_REPOSITORY}/releases/download/v$1/$name.tar.gz" ||
    fail "source: release:$1 cannot be downloaded"
  echo "$SHA256  $archive" | sha256sum --check --status ||
    fail "$name.tar.gz is not what sha256 says: nothing of it was unpacked"
  tar -xzf "$archive" -C "$folder" "$name/bin/kumite"
  mv "$folder/$name/bin/kumite" "$bin/kumite"
  rm -r "$folder"
}

build() {
  local target=$RUNNER_TEMP/kumite/target
  cargo build --release --locked --package kumite --manifest-path "$root/Cargo.toml" --target-dir "$target"
  mv "$target/release/kumite" "$bin/kumite"
  rm -r "$target"
}

mkdir -p "$bin"
if [ ! -x "$bin/kumite" ]; then
  case $SOURCE in
    build) build ;;
    release:*) release "${SOURCE#release:}" ;;
    file:*)
      [ -f "${SOURCE#file:}" ] && [ -x "${SOURCE#file:}" ] || fail "source: $SOURCE is no program"
      cp "${SOURCE#file:}" "$bin/kumite"
      ;;
    *) fail "source: '$SOURCE' is none of build, release:VERSION and file:PATH" ;;
  esac
fi
echo "$bin" >> "$GITHUB_PATH"
"$bin/kumite" --version
