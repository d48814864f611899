#!/usr/bin/env bash
# Weaves DataFusion, runs a query on the history of this repository, and prints what each node of the plan did. The first
# build takes some minutes.
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p target

# The history as two tables.
{ echo hash,day && git log --no-merges --format=%h,%as; } >target/commits.csv
{
    echo hash,added,deleted,file
    git log --no-merges --numstat --format=@%h |
        awk '/^@/ { hash = substr($0, 2); next } NF == 3 && $1 != "-" { print hash "," $1 "," $2 "," $3 }'
} >target/changes.csv

cargo metaspy build --weave 'datafusion_physical_plan::**::poll_next' --weave 'datafusion_physical_plan::**::execute' \
    --weave 'datafusion_datasource::**::poll_next' \
    --weave 'datafusion_physical_expr_common::**::BaselineMetrics::record_output' --args --profiler nodes

METASPY_RECORD=target/engine.spy METASPY_PROFILE=nodes target/metaspy/debug/metaspy-engine-story "${1:-
    SELECT day, count(*) AS files, sum(added) AS added
    FROM changes JOIN commits USING (hash) WHERE file LIKE '%.rs'
    GROUP BY day ORDER BY added DESC LIMIT 5}" target/changes.csv target/commits.csv

metaspy report target/engine.spy --by subject --profile nodes --filter 'site:poll_next' --sort 'nodes own' --top 12
