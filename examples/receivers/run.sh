#!/usr/bin/env bash
# Which implementations of a trait run at a call, and for which receivers is it slow? The test suite of statrs 0.19.1 shows
# it, with no line of statrs changed: README.md has the findings.
#
#   examples/receivers/run.sh       needs `metaspy` and `cargo-metaspy` on the path, 1 GB of disk, and some minutes
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/target/receivers crate=$root/target/receivers/statrs

for program in metaspy cargo-metaspy; do
    command -v "$program" > /dev/null || {
        echo "$program is not on the path: run \`cargo install --path cli\`" >&2
        exit 2
    }
done

# The source, as crates.io has it. A copy, because a registry is no place to build in.
if [ ! -e "$crate/Cargo.toml" ]; then
    mkdir -p "$work/source/src"
    printf '[package]\nname = "source"\nedition = "2024"\n[dependencies]\nstatrs = "=0.19.1"\n[workspace]\n' > "$work/source/Cargo.toml"
    touch "$work/source/src/lib.rs"
    manifest=$(cargo metadata --format-version 1 --manifest-path "$work/source/Cargo.toml" |
        grep -o '"manifest_path":"[^"]*/statrs-0.19.1/Cargo.toml"' | cut -d'"' -f4)
    cp -R "$(dirname "$manifest")" "$work/copy"
    chmod -R u+w "$work/copy"
    printf '\n[workspace]\n' >> "$work/copy/Cargo.toml"
    mv "$work/copy" "$crate"
fi

cd "$crate"
cargo metaspy test --lib --types --timed --quiet > "$work/report.txt"
run=target/metaspy/runs/$(ls target/metaspy/runs | sort -n | tail -1)

metaspy report "$run" --types='check_derivative_of_cdf_is_pdf'
metaspy report "$run" --types='distribution::DiscreteCDF::inverse_cdf'
cat << END

the whole report:  $work/report.txt
in the crawler:    metaspy open $crate/$run        (T, then / and the name of a call)
in the editor:     nvim +443 $crate/src/distribution/internal.rs        (the hover of cdf, after metaspy lsp --install nvim)
END
