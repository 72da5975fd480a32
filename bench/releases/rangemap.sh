#!/usr/bin/env bash
# A slowdown that a change log tells of, found between two published versions of a crate and placed among its releases.
#
#     bench/releases/rangemap.sh FOLDER
#
# rangemap's change log, of 0.1.10: "Fix performance regression introduced in v0.1.9, which made inserts extremely slow for large
# maps." FOLDER, which must not be there, gets a repository whose commits are the crate's releases, as they are on crates.io,
# with a program that fills maps; kumite is that on PATH. Needs cargo, git and jq.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir "$1"
cd "$1"
git init --quiet --initial-branch main repository
mkdir -p repository/src fetched/src
touch fetched/src/lib.rs
cat > repository/Cargo.toml << 'END'
[package]
name = "program"
version = "0.1.0"
edition = "2021"

[workspace]

[dependencies]
rangemap = { path = "rangemap" }
END
cat > repository/src/main.rs << 'END'
use rangemap::RangeMap;

/// Fills a hundred maps with ranges that are apart from each other, in an order that no branch predictor knows.
fn main() {
    let (mut sum, mut at) = (0_u64, 1_u64);
    for _ in 0..100 {
        let mut map = RangeMap::new();
        for value in 0..2_000_u64 {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let start = (at >> 40) * 4;
            map.insert(start..start + 1, value);
        }
        sum += map.iter().map(|(_, value)| value).sum::<u64>();
    }
    println!("{sum}");
}
END
printf '/target\nCargo.lock\n' > repository/.gitignore
for version in 0.1.{0..14}; do
  printf '[package]\nname = "fetched"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\nrangemap = "=%s"\n' \
    "$version" > fetched/Cargo.toml
  rm -rf fetched/Cargo.lock fetched/vendor repository/rangemap
  (cd fetched && cargo vendor --quiet > /dev/null)
  cp -r fetched/vendor/rangemap repository/rangemap
  rm -f repository/rangemap/.cargo-checksum.json repository/rangemap/Cargo.toml.orig
  git -C repository add --all
  git -C repository -c user.name=releases -c user.email=releases@example.invalid commit --quiet -m "rangemap $version"
  git -C repository tag "v$version"
done

# The recipe of docs/ci.md for cargo, with a margin for a slowdown that is a large one: it tells soon on a busy machine, too.
# shellcheck disable=SC2016 # What looks like an expression is a pattern.
sed -n '/^```sh slower.sh$/,/^```$/p' "$here/../../docs/ci.md" | sed '1d;$d' |
  sed "s#--build 'make'#--build 'cargo build --release --quiet'#; s#--margin 5%#--margin 50%#; s#\./program\$#target/release/program#" > slower.sh
for new in 'cargo build' 'margin 50%' target/release/program; do grep -q "$new" slower.sh; done
chmod +x slower.sh

cd repository
echo "== 0.1.8 and 0.1.9"
kumite compare --rev v0.1.8 --rev v0.1.9 --build 'cargo build --release --quiet' --gate --margin 5% target/release/program ||
  [ $? = 1 ]
echo "== which release made it slower, from 0.1.0 to 0.1.9"
git bisect start v0.1.9 v0.1.0
git bisect run ../slower.sh v0.1.0
[ "$(git rev-parse refs/bisect/bad)" = "$(git rev-parse v0.1.9)" ]
