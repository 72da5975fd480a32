#!/usr/bin/env bash
# Says in a pull request what kumite measured of it: from the artifact of the workflow run that ended, in the one comment that
# AUTHOR has there.
#
# The code of the pull request has run where that artifact was made, so all of it is hostile. It is one file of one name, of a
# limited size; it never becomes a path, and no text of it is published: the comment is what our own kumite makes of the
# figures in it. Which pull request it is, and of which commit, GitHub's event says, never the artifact.
set -euo pipefail
most_bytes=$((8 << 20))
most_pages=30
fail() { echo "::error::kumite's action: $*" >&2; exit 1; }
# Nothing is wrong, and there is nothing to say.
nothing() { echo "::notice::kumite's action: $*"; exit 0; }
event() { jq -r "$1 // \"\"" "$GITHUB_EVENT_PATH"; }
in_url() { jq -rn --arg text "$1" '$text | @uri'; }

# api PATH [CURL'S ARGUMENTS]…: the token is on no command line.
api() {
  local path=$1
  shift
  curl --silent --show-error --fail --location --max-time 60 --header @<(printf 'Authorization: Bearer %s\n' "$TOKEN") \
    --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' "$@" \
    "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY$path"
}
get() { api "$1" --retry 3; }

[ "$(event .workflow_run.event)" = pull_request ] || nothing "the workflow run was of no pull request"
run=$(event .workflow_run.id)
sha=$(event .workflow_run.head_sha)
from="$(event .workflow_run.head_repository.owner.login):$(event .workflow_run.head_branch)"

# By its branch and newest commit, for the event lists no pull request that comes from a fork.
pulls=$(get "/pulls?state=open&per_page=100&head=$(in_url "$from")" | jq -r --slurpfile event "$GITHUB_EVENT_PATH" '
  $event[0].workflow_run as $run
  | .[] | select(.head.sha == $run.head_sha and .head.repo.id == $run.head_repository.id) | .number')
[ -n "$pulls" ] || nothing "$sha is the newest commit of no open pull request"
[[ $pulls =~ ^[0-9]+$ ]] || nothing "$sha is the newest commit of several pull requests, and which was measured is not told"

work=$(mktemp -d "$RUNNER_TEMP/kumite-comment.XXXXXX")
trap 'rm -rf "$work"' EXIT
id=$(get "/actions/runs/$run/artifacts?per_page=100&name=$(in_url "$ARTIFACT")" | jq -r --arg name "$ARTIFACT" '
  [.artifacts[] | select(.name == $name and (.expired | not))] | max_by(.created_at) | .id // ""')
[ -n "$id" ] || nothing "run $run has no artifact $ARTIFACT: nothing was measured in it"
get "/actions/artifacts/$id/zip" | head -c $((most_bytes + 1)) > "$work/zip" ||
  fail "the artifact cannot be downloaded, or has more than $most_bytes bytes"
[ "$(stat -c %s "$work/zip")" -le $most_bytes ] || fail "the artifact has more than $most_bytes bytes"

# It is listed and read through a pipe: no name in it is ever the name of a file here.
[ "$(unzip -Z1 "$work/zip" 2> /dev/null)" = comparison.json ] ||
  fail "the artifact is not a zip of one file, comparison.json"
unzip -p "$work/zip" comparison.json < /dev/null 2> /dev/null | head -c $((most_bytes + 1)) > "$work/comparison.json" ||
  fail "comparison.json cannot be unpacked, or has more than $most_bytes bytes"
[ "$(stat -c %s "$work/comparison.json")" -le $most_bytes ] || fail "comparison.json has more than $most_bytes bytes"
# kumite would read gzip and SQLite, too.
[ "$(head -c 1 "$work/comparison.json")" = '{' ] || fail "comparison.json is not JSON as kumite writes it"
timeout 60 "$RUNNER_TEMP/kumite/bin/kumite" report "$work/comparison.json" --comment "$work/comment.md" > /dev/null 2> "$work/said" ||
  fail "comparison.json is no comparison that this kumite reads: $(LC_ALL=C tr -c '[:print:]' ' ' < "$work/said" | head -c 500)"

marker="<!-- kumite: $(in_url "$ARTIFACT") -->"
body=$(jq -Rs --arg marker "$marker" --arg sha "$sha" --arg run "$(event .workflow_run.html_url)" \
  '{body: "\($marker)\n\(.)\nMeasured at \($sha) in [this run](\($run)), by the code of the pull request itself."}' "$work/comment.md")
ours=
for ((page = 1; page <= most_pages; page++)); do
  comments=$(get "/issues/$pulls/comments?per_page=100&page=$page")
  ours=$(jq -r --arg marker "$marker" --arg author "$AUTHOR" \
    'map(select(.user.login == $author and (.body | startswith($marker)))) | first | .id // ""' <<< "$comments")
  [ -z "$ours" ] && [ "$(jq length <<< "$comments")" = 100 ] || break
done
if [ -n "$ours" ]; then
  answer=$(api "/issues/comments/$ours" --request PATCH --data-binary @- <<< "$body")
else
  answer=$(api "/issues/$pulls/comments" --request POST --data-binary @- <<< "$body")
fi
url=$(jq -r .html_url <<< "$answer")
echo "comment=$url" >> "$GITHUB_OUTPUT"
echo "$url"
