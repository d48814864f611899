#!/usr/bin/env bash
# Everything that must hold before a commit: format, clippy, tests, docs, examples, Loom, a quick fuzz, benchmark smoke runs,
# instructions of hooks, sanitizers, sampled machines if the sampler changed, and `scale/` if its sources or the recording's
# format did.
#
#   ./check.sh          all of it
#   ./check.sh --fast   format, clippy and tests
#   ./check.sh report   format, clippy and tests of one package, and what is quick to test of those that depend on it
#
# A check that cannot run on a machine prints "SKIPPED: name: why". Those not listed in .ci/may-skip fail the run.
set -euo pipefail
cd "$(dirname "$0")"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# A check builds once and is gone: what makes the next build faster, and what debuggers read, only takes time.
export CARGO_INCREMENTAL="${CARGO_INCREMENTAL:-0}" CARGO_PROFILE_DEV_DEBUG="${CARGO_PROFILE_DEV_DEBUG:-line-tables-only}"

step() {
    local name=$1 began=$SECONDS
    echo
    echo "== $name"
    shift
    "$@" 2>&1 | tee -a "$log"
    echo "== $name took $((SECONDS - began)) s"
}

# What the steps so far built and no later step reads. A clone that is checked once needs half of the disk in this way.
discard() {
    [ -n "${METASPY_CHECK_ONCE:-}" ] || return 0
    rm -rf target/tmp target/tests
    find target -path '*/deps/*' -type f -perm -u+x ! -name '*.so' -delete
}

# The test programs that took longest.
slowest() {
    echo
    echo "the five slowest test programs, in seconds:"
    awk '/^ *Running /{ name = $2 ~ /^unittests/ ? $3 " " $4 : $2 " " $3 }
        /^test result:.* finished in /{ sub(/s$/, "", $NF); print $NF, name }' "$log" | sort -rn | head -5 || true
}

skip() { echo "SKIPPED: $1: $2" | tee -a "$log"; }

# One package, by its folder's name or its own.
if [ -n "${1:-}" ] && [ "${1#--}" = "$1" ]; then
    package=$1
    if cargo pkgid "metaspy-$1" >/dev/null 2>&1; then package=metaspy-$1; fi
    above=$(cargo tree --workspace --invert "$package" --edges normal --prefix none --format '{p}' | awk '{print $1}' |
        sort -u | grep -vx "$package" | grep -vE 'examples|-story$' || true)
    step "format" cargo fmt --all --check
    step "clippy" cargo clippy $(printf -- '-p %s ' $package $above) --all-targets -- -D warnings
    step "tests of $package" cargo test -p "$package"
    if [ -n "$above" ]; then
        step "unit tests of what depends on it" cargo test $(printf -- '-p %s ' $above) --lib
    fi
    if grep -qx metaspy-cli <<<"$above"; then step "commands" cargo test -p metaspy-cli --test commands; fi
    if [ "$package" = metaspy-mcp ]; then step "agents" cargo test -p metaspy-cli --features mcp --test agents; fi
    exit
fi

# Cargo with clippy as the compiler of this workspace: what is built for the tests is linted on the way, and nothing is
# compiled twice. It stands in the configuration, because the tests start builds that must not inherit it.
clippy=$(rustup which clippy-driver 2>/dev/null || command -v clippy-driver)
# The lines of debuggers are left out, which take a third of a build that is not optimised. No test reads them of this
# workspace, and the builds that tests start have them.
linted() {
    CLIPPY_ARGS='-Dwarnings__CLIPPY_HACKERY__' cargo --config "build.rustc-workspace-wrapper='$clippy'" \
        --config profile.dev.debug=false "$@"
}

step "format" cargo fmt --all --check
step "clippy, and a build of all tests" linted test --workspace --no-run
step "tests" linted test --workspace --no-fail-fast -- --nocapture
if [ "${1:-}" != "--fast" ]; then
    # The reader is optimised in builds of tests.
    PROPTEST_CASES=1000 step "fuzz, quick" linted test --workspace --lib hostile
fi
# With all packages, so that nothing below the command is built again.
step "tests of the server for agents" linted test --workspace --features metaspy-cli/mcp --test agents -- --nocapture
step "clippy, default features" cargo clippy -p metaspy -- -D warnings
step "clippy, switched off" cargo clippy -p metaspy --no-default-features --features chumsky,combine,nom,winnow -- -D warnings
step "tests of allocations" linted test --workspace --features metaspy/allocations --test allocations
discard
if [ "${1:-}" != "--fast" ]; then
    # A compiler of virtual machines takes long to build, so what was checked before is not checked again.
    if [ "$(sampler/machines/digest.sh)" = "$(cat sampler/machines/checked)" ]; then
        echo "machines: unchanged since they were checked"
    else
        step "machines" cargo test --manifest-path sampler/machines/Cargo.toml --target-dir target/machines -- --nocapture
        if [ -n "${METASPY_CHECK_ONCE:-}" ]; then rm -rf target/machines; fi
        sampler/machines/digest.sh >sampler/machines/checked
    fi
    step "packages" cargo package --workspace --no-verify --allow-dirty --quiet
    step "docs" env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features
    # Not optimised, as the tests have them: their own tests ran with those of the workspace.
    step "examples" linted build --workspace --examples --bins
    for example in layout grammar_coverage event_receiver pipeline signals slow_frame; do
        step "example: $example" "target/debug/examples/$example"
    done
    step "example: parsers" target/debug/metaspy-parsers-story
    step "example: bus" target/debug/examples/bus --publishes 20 --subscribers 3
    step "loom" env RUSTFLAGS="--cfg loom" cargo test -p metaspy-core --test loom --release --target-dir target/loom
    # One build of all three.
    step "benchmark smoke: hooks, scan, crawler, announcements, stress, keep, findings" cargo bench --manifest-path benches/Cargo.toml --no-default-features \
        --features crawler,findings --bench hooks --bench scan --bench crawler --bench announcements --bench stress --bench keep --bench findings \
        -- --smoke
    # With the same features, so that nothing below this bench is built again.
    step "instructions of hooks" cargo bench --manifest-path benches/Cargo.toml --no-default-features \
        --features crawler,findings --bench instructions
    discard
    host=$(rustc -vV | sed -n 's/^host: //p')
    # Sanitizers need an unstable flag; std itself is not instrumented, so reports are about our own code. Their flags are not
    # those of procedural macros and build scripts, which one directory shares.
    for sanitizer in thread address; do
        if [ "$host" != x86_64-unknown-linux-gnu ]; then
            skip "$sanitizer-sanitizer" "only run on x86-64 Linux"
            continue
        fi
        # What assembly loads and stores, a sanitizer does not see.
        flags="-Zsanitizer=$sanitizer -Cunsafe-allow-abi-mismatch=sanitizer --cfg metaspy_plain"
        tests="--test log --test woven --test spies"
        # It cannot follow how threads of a scope are waited for: those of `woven` and `spies` are.
        if [ $sanitizer = thread ]; then flags+=" --cfg tsan" tests="--test log"; fi
        step "$sanitizer sanitizer" env RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags" \
            TSAN_OPTIONS="suppressions=$PWD/.ci/tsan" \
            cargo test -p metaspy-core $tests --target "$host" --target-dir target/sanitizers
        discard
    done

    # The engines take long to build, so what was checked before is not checked again.
    if [ "$(scale/digest.sh)" = "$(cat scale/checked)" ]; then
        echo "scale: unchanged since it was checked"
    else
        step "scale" env CARGO_PROFILE_DEV_DEBUG=0 scale/check.sh
    fi
fi

skipped=$(grep -o 'SKIPPED: [^:]*' "$log" | sed 's/SKIPPED: //' | sort -u || true)
for name in $skipped; do
    if ! grep -qx "$name" .ci/may-skip; then
        echo "a check that must run was skipped: $name" >&2
        exit 1
    fi
done
slowest
echo
echo "all checks passed; skipped: ${skipped:-none}"
