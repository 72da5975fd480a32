#!/usr/bin/env bash
# Small inputs on which a tool can be wrong, each with what is right. By hand and in CI's `--all`:
#
#     tests/cases/run.sh [AREA | CASE]…
#
# KUMITE is the program (target/debug/kumite). COMPARE stands in place of `kumite compare`, for the cases that another
# tool can make too: `COMPARE=hyperfine tests/cases/run.sh compare`.
#
# An area is a file beside this one. A case is a function of it whose name begins with `case_`; it runs in an empty folder
# of its own, with `kumite` on PATH, for a minute at most, and is wrong if a command of it fails (see checks.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
kumite=$(realpath "${KUMITE:-$here/../../target/debug/kumite}")
[ -x "$kumite" ] || { echo "no program $kumite: build it, or say KUMITE=…" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/kumite-cases.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$kumite" "$work/bin/kumite"
export PATH=$work/bin:$PATH COMPARE=${COMPARE:-kumite compare} LC_ALL=C
export XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache KUMITE_LOCK=$work/lock

right=0 wrong=0 not_made=0
# FILE CASE
make() {
    folder=$work/$2
    mkdir "$folder"
    (cd "$folder" && exec timeout -k 5 60 bash -euo pipefail -c '. "$1"; . "$2"; "$3"' - "$here/checks.sh" "$1" "$2") \
        > "$folder.said" 2>&1 < /dev/null
    status=$?
    name=${2#case_} name=${name//_/ }
    case $status in
    0) right=$((right + 1)); echo "right  $name" ;;
    77) not_made=$((not_made + 1)); echo "-      $name: $(tail -n 1 "$folder.said")" ;;
    *) wrong=$((wrong + 1)); echo "wrong  $name (status $status)"; tail -n 12 "$folder.said" | sed 's/^/       | /' ;;
    esac
}

# No argument stands for all areas.
[ $# -gt 0 ] || set -- $(cd "$here" && ls | sed -n 's/\.sh$//p' | grep -vx -e run -e checks)
for wanted; do
    made=no
    for file in "$here"/*.sh; do
        area=$(basename "$file" .sh)
        for case in $(sed -n 's/^\(case_[A-Za-z0-9_]*\)().*/\1/p' "$file"); do
            if [ "$wanted" = "$area" ] || [ "$wanted" = "$case" ]; then
                make "$file" "$case"
                made=yes
            fi
        done
    done
    [ $made = yes ] || { echo "no area and no case is called $wanted" >&2; exit 2; }
done
echo "$right right, $wrong wrong, $not_made not made"
[ $wrong = 0 ]
