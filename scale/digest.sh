#!/usr/bin/env bash
# Prints a digest of what the checks of this package depend on: its own sources, and those of the recording's format.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files -z scale metaspy-core/format metaspy-core/reader | grep -zvx 'scale/checked' | sort -z |
    xargs -0 sha256sum | sha256sum | cut -d' ' -f1
