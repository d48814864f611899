#!/usr/bin/env bash
# Everything that must hold for this package before a commit: format, clippy, tests. Then writes the digest of what was
# checked to `checked`, which the check of the whole repository compares.
set -euo pipefail
cd "$(dirname "$0")"
cargo fmt --all --check
# DuckDB and a server that speaks S3 read what was sealed, and the client of Prometheus what is served. The package for
# Python is installed and returns tables of pyarrow, and a service of FastAPI is recorded.
if ! target/python/bin/python -c 'import duckdb, fastapi, httpx, moto, prometheus_client, pyarrow, wheel' 2>/dev/null && python3 -m venv target/python 2>/dev/null; then
    timeout 180 target/python/bin/python -m pip install --quiet duckdb fastapi httpx 'moto[server]' prometheus_client pyarrow wheel || true
fi
# Spark is large.
if command -v java >/dev/null && ! target/python/bin/python -c 'import pyspark' 2>/dev/null; then
    timeout 300 target/python/bin/python -m pip install --quiet pyspark || true
fi
# `cargo clippy` would check all engines once more; as a wrapper of the compiler it sees this package alone. Nothing is
# optimised, because the engines then compile in a third of the time.
export METASPY_SCALE="$PWD/target/debug/metaspy-scale" CLIPPY_ARGS='-Dwarnings__CLIPPY_HACKERY__'
clippy=$(rustup which clippy-driver 2>/dev/null || command -v clippy-driver)
METASPY_PYTHON="$PWD/target/python/bin/python" RUSTC_WORKSPACE_WRAPPER=$clippy \
    cargo test --locked --workspace --features cluster -- --nocapture
# What agents get from this engine, by the command as the check of the whole repository has built it.
CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}" CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-line-tables-only}" \
    cargo --config "build.rustc-workspace-wrapper='$clippy'" test --manifest-path ../Cargo.toml --workspace \
    --features metaspy-cli/mcp --test agents -- --nocapture the_engine
./digest.sh >checked
