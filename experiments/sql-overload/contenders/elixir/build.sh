#!/bin/sh
# Compiles the service into _build/, beside the Cowboy that the distribution's rabbitmq-server package carries:
# the package is unpacked, never installed, and nothing of RabbitMQ but Cowboy is kept.
set -eu
cd "$(dirname "$0")"

fail() {
  echo "elixir: $*" >&2
  exit 1
}

erl -noinput -eval 'halt(length([A || A <- [ssl, crypto, public_key], is_tuple(code:lib_dir(A))]))' ||
  fail "Erlang's ssl, crypto or public_key is missing: apt-get install erlang-ssl erlang-crypto"

mkdir -p _build/package
cd _build/package
apt-get -qq -o APT::Sandbox::User=root download rabbitmq-server ||
  fail "no rabbitmq-server package to take Cowboy from: apt-get update, as root, then build again"
dpkg-deb --extract rabbitmq-server_*.deb .
for app in cowboy cowlib ranch; do
  mv usr/lib/rabbitmq/lib/rabbitmq_server-*/plugins/$app-[0-9]* .. ||
    fail "the rabbitmq-server package has no folder plugins/$app-VERSION"
done
cd ../..
rm -rf _build/package

mkdir -p _build/service/ebin
cp service.app _build/service/ebin/
ERL_LIBS=_build elixirc -o _build/service/ebin lib
ERL_LIBS=_build elixir pool_test.exs
