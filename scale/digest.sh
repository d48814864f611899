#!/usr/bin/env bash
# Prints a digest of what the checks of this package depend on: its own sources and those of the recording's format
# without comments, and the public items of the reader and of what it uses of the reports.
set -euo pipefail
cd "$(dirname "$0")/.."
{
    git ls-files -z scale metaspy-core/format | grep -zvx 'scale/checked' | grep -zv '\.rs$' | sort -z | xargs -0 sha256sum
    git ls-files -z 'scale/*.rs' 'metaspy-core/format/*.rs' | sort -z | xargs -0 grep -Ev '^ *//'
    git ls-files -z 'metaspy-core/reader/src/*.rs' report/src/findings/{mod,finding}.rs report/src/rows/{mod,outcomes}.rs |
        sort -z | xargs -0 grep -Eh '^ *pub [a-z]'
} | sha256sum | cut -d' ' -f1
