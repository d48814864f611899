#!/usr/bin/env bash
# Weaves published crates, runs a small program with each of them, and prints what findings say of it.
#
#   examples/published/run.sh target/debug      # the directory of `metaspy` and `cargo-metaspy`
#   examples/published/run.sh target/debug moka semver
set -euo pipefail
PATH="$(realpath "${1:-target/debug}"):$PATH"
shift || true
cd "$(dirname "$0")"
export METASPY_MODE=full METASPY_DETAILS=1
target=${CARGO_TARGET_DIR:-target}

crates=(async_broadcast deadpool h2 handlebars http http_body_util httparse hyper hyper_util indexmap lru minijinja moka petgraph
    priority_queue pulldown_cmark quick_xml ropey roxmltree rstar semver similar sqlformat sqlparser textwrap tokio_util toml_edit
    toml_parser tower "with_*")
selectors=()
for crate in "${crates[@]}"; do
    selectors+=(--weave "$crate::**")
done
cargo metaspy build --args --returns "${selectors[@]}"

mkdir -p "$target/recordings"
if [ $# = 0 ]; then
    programs=(src/bin/*.rs)
    programs=("${programs[@]#src/bin/with_}")
    set -- "${programs[@]%.rs}"
fi
for program in "$@"; do
    recording=$target/recordings/$program.spy
    rm -f "$recording"
    echo "$program"
    # What `cargo metaspy run --args --returns` measures.
    METASPY_PROFILE=coverage,repeats METASPY_BUDGET=1GB METASPY_RECORD=$recording "$target/metaspy/debug/with_$program" > /dev/null
    metaspy findings "$recording" | sed '/^Nothing found by/,$d; s/^/    /'
done
