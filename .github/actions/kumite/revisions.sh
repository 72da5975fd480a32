#!/usr/bin/env bash
# Finds the two commits that are compared, and has their history as far back as their merge base. BASE names the one side, or
# the event does; TOKEN reads the repository.
set -euo pipefail
fail() { echo "::error::kumite's action: $*" >&2; exit 1; }

# The token is on no command line and in no file: what is built and measured later must not have it. A second one beside that
# which actions/checkout has kept would be refused by the server.
fetch() {
  local header=http.$GITHUB_SERVER_URL/.extraheader count=1
  ! git config --get "$header" > /dev/null || count=0
  GIT_TERMINAL_PROMPT=0 GIT_CONFIG_COUNT=$count GIT_CONFIG_KEY_0=$header \
    GIT_CONFIG_VALUE_0="AUTHORIZATION: basic $(printf 'x-access-token:%s' "$TOKEN" | base64 --wrap 0)" \
    git fetch --quiet --no-tags --no-recurse-submodules "$@"
}

# The commit of a revision, which is fetched by its name if the checkout lacks it.
commit() {
  local found
  case $1 in -*) fail "'$1' is no revision" ;; esac
  if ! found=$(git rev-parse --quiet --verify "$1^{commit}"); then
    fetch "${shallow[@]}" origin "$1" || fail "there is no revision '$1': name a branch, a tag or a commit by base"
    found=$(git rev-parse --verify 'FETCH_HEAD^{commit}')
  fi
  echo "$found"
}

shallow=()
[ "$(git rev-parse --is-shallow-repository)" = false ] || shallow=(--depth=1)
head=$(commit "$(jq -r '.pull_request.head.sha // .after // "HEAD"' "$GITHUB_EVENT_PATH")")
[ -n "$BASE" ] || BASE=$(jq -r '.pull_request.base.sha // .before // ""' "$GITHUB_EVENT_PATH")
[[ $BASE =~ [^0] ]] || fail "the event names nothing to compare with: give base, such as the main branch"
base=$(commit "$BASE")

merge_base=
for depth in 50 500 5000 all; do
  ! merge_base=$(git merge-base "$base" "$head") || break
  [ ${#shallow[@]} != 0 ] || break
  case $depth in
    all) fetch --unshallow origin "$base" "$head" && shallow=() ;;
    *) fetch --depth="$depth" origin "$base" "$head" ;;
  esac
done
[ -n "$merge_base" ] || merge_base=$(git merge-base "$base" "$head") || fail "$BASE and $head have no commit in common"
[ "$merge_base" != "$head" ] || fail "$head is in $BASE already: there is no change to measure"
echo "measured: $head against $merge_base"

{
  echo "base=$merge_base"
  echo "head=$head"
  echo "digest=$(printf '%s' "$BUILD" | sha256sum | cut -c 1-32)"
} >> "$GITHUB_OUTPUT"
