#!/usr/bin/env bash
# What a new user waits for: the processor time and the disk of `cargo demo`'s build, and with --install of
# `cargo install --path cli`. Each is built from nothing, in a directory that is removed afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT
TIMEFORMAT="%R s, %U s + %S s of processor time"

measure() {
    local name=$1
    shift
    echo "== $name"
    # Cargo's messages are kept, in case that it fails.
    time "$@" 2>"$target/messages" || { cat "$target/messages"; exit 1; }
    echo "$(grep -c Compiling "$target/messages") packages"
}

# The alias itself, and one frame of the demo.
demo() { CARGO_TARGET_DIR="$target/demo" cargo demo --record "$target/demo.spy" --events 1 >/dev/null; }
install() { cargo install --locked --path cli --root "$target/root" --target-dir "$target/install"; }

measure "cargo demo" demo
du -m "$target/demo/demo/metaspy" | awk '{ print $1 " MB" }'
if [ "${1:-}" = --install ]; then
    measure "cargo install --path cli" install
    du -cm "$target"/root/bin/* | awk 'END { print $1 " MB" }'
fi
