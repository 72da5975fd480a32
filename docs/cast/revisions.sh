#!/bin/sh
# Records `kumite compare --rev` in a small git repository that it makes: a program, and a commit that makes it some per
# cent slower.
#
#     docs/cast/revisions.sh FILE.svg
#
# Needs kumite, git, make, a C compiler and Python with pyte on PATH.
set -eu
cast=$(realpath "$(dirname "$0")") picture=$(realpath "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export XDG_CACHE_HOME="$place/cache" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
mkdir "$place/ways"
cd "$place/ways"

commit() {
  date='2026-11-02 09:30 +0000'
  git add .
  GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date git -c user.name=A -c user.email=a@example.invalid commit -qm "$1"
}

git init -q -b main
printf 'CFLAGS = -O2\nways: ways.c steps.c\n' >Makefile
echo ways >.gitignore
cat >steps.c <<'END'
int steps(unsigned long n) {
  int steps = 0;
  for (; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}
END
cat >ways.c <<'END'
#include <stdio.h>

int steps(unsigned long n);

int main(void) {
  int most = 0;
  unsigned long from = 1;
  for (unsigned long n = 1; n < 200000; n++) {
    int found = steps(n);
    if (found > most) most = found, from = n;
  }
  printf("%d steps from %lu\n", most, from);
}
END
commit 'the longest way to 1'
git switch -q -c check
sed -i 's|^    if|    if (n % 25 == 0 \&\& steps(2 * n) != found + 1) return 1;\
&|' ways.c
commit 'check one way in 25'

python3 "$cast/record.py" "$picture" 29 \
  'git --no-pager log --oneline --no-decorate main..check' \
  'kumite compare --rev main --rev check --build make --gate ./ways'
