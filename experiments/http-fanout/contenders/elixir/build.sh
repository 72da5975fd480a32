#!/bin/sh
# Compiles the worker into _build/, beside the kit and its JSON library.
set -eu
cd "$(dirname "$0")"
../../../../kits/elixir/build.sh _build
mkdir -p _build/fanout/ebin
ERL_LIBS=_build elixirc -o _build/fanout/ebin *.ex
