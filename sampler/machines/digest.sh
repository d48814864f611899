#!/usr/bin/env bash
# Prints a digest of what the samples of virtual machines depend on: their sources and those of the sampler, without
# comments.
set -euo pipefail
cd "$(dirname "$0")/../.."
{
    git ls-files -z sampler/machines sampler/Cargo.toml | grep -zvx 'sampler/machines/checked' | grep -zv '\.rs$' |
        sort -z | xargs -0 sha256sum
    git ls-files -z 'sampler/machines/*.rs' 'sampler/src/*.rs' | sort -z | xargs -0 grep -Ev '^ *//'
} | sha256sum | cut -d' ' -f1
