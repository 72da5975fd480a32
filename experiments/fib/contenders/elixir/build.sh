#!/bin/sh
# Compiles the function into _build/, beside the JSON library that the kit's build unpacks.
set -eu
cd "$(dirname "$0")"
../../../../kits/elixir/build.sh _build
mkdir -p _build/fib/ebin
ERL_LIBS=_build elixirc -o _build/fib/ebin *.ex
