#!/usr/bin/env bash
# cache.sh in: puts the tree of the base, as GitHub's cache had it, to where kumite looks for it.
# cache.sh out: lays that tree out for GitHub's cache, without that of the change.
set -euo pipefail
builds=${XDG_CACHE_HOME:-$HOME/.cache}/kumite/builds
staged=$RUNNER_TEMP/kumite/base
shopt -s nullglob
case $1 in
  in)
    mkdir -p "$builds"
    for mark in "$staged"/revision-*.mark; do
      name=$(basename "$mark" .mark)
      [ ! -e "$builds/$name" ] || continue
      mv "$staged/$name" "$builds/$name"
      # kumite takes a tree of which anything is younger than its mark for one that was written to, and makes it anew.
      mv "$mark" "$builds/$name.mark"
      touch "$builds/$name.mark"
    done
    ;;
  out)
    rm -rf "$staged"
    mkdir -p "$staged"
    for mark in "$builds"/revision-*.mark; do
      folder=${mark%.mark}
      trees=("$folder"/tree/*/)
      [ "$(git -C "${trees[0]}" rev-parse HEAD)" = "$BASE" ] || continue
      # What was measured has written there: it would find that again.
      [ -z "$(find "$folder" -newercc "$mark" -print -quit)" ] || continue
      cp -a "$folder" "$mark" "$staged/"
      echo "kept=true" >> "$GITHUB_OUTPUT"
    done
    ;;
esac
