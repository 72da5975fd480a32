#!/bin/sh
# build.sh FOLDER: compiles the kit into FOLDER/kumite_kit/ebin, beside FOLDER/jsx-VERSION, the JSON library that the
# distribution's rabbitmq-server package carries: the package is unpacked, never installed, and only jsx of it is kept.
set -eu
kit=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

if [ ! -e .jsx ]; then
  rm -rf jsx-* package
  mkdir package
  (
    cd package
    apt-get -qq -o APT::Sandbox::User=root download rabbitmq-server ||
      { echo "elixir: no rabbitmq-server package to take jsx from: apt-get update, as root, then build again" >&2; exit 1; }
    dpkg-deb --extract rabbitmq-server_*.deb .
    mv usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins/jsx-[0-9]* .. ||
      { echo "elixir: the rabbitmq-server package has no folder plugins/jsx-VERSION" >&2; exit 1; }
  )
  rm -rf package
  touch .jsx
fi

rm -rf kumite_kit
mkdir -p kumite_kit/ebin
ERL_LIBS=. elixirc -o kumite_kit/ebin "$kit/kumite_kit.ex"
