#!/bin/sh
# Pictures the first screen of a kept record's HTML report, in a window 1280 pixels wide.
#
#     docs/cast/page.sh FILE.png experiments/dynamodb/found/standard.json.gz
#
# Needs kumite, Chromium and pngquant on PATH, and a font for what records quote (fonts-ipafont-gothic, for Japanese).
set -eu
picture=$1 record=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
kumite report "$record" --html "$place/page.html" >/dev/null
chromium --headless --no-sandbox --hide-scrollbars --window-size=1280,820 --user-data-dir="$place/profile" \
  --screenshot="$place/page.png" "file://$place/page.html" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
pngquant --strip --speed 1 --force --output "$picture" 32 "$place/page.png"
