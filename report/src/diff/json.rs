//! A diff for programs. `docs/diff.md` describes the keys.

use serde_json::{Map, Value, json};

use super::{Change, Diff, DiffRow, Identity, Judgement, Presence};

/// The diff as one object, with the first `top` rows.
pub fn json(diff: &Diff, top: usize, judgements: &[Judgement]) -> Value {
    json!({
        "format": 1,
        "by": diff.by.name(),
        "recordings": { "before": diff.recordings.0, "after": diff.recordings.1 },
        "timed": diff.is_timed,
        "count": change(&diff.count),
        "self_ns": diff.self_ns.as_ref().map(change),
        "allocations": diff.allocations.as_ref().map(|(count, _)| change(count)),
        "allocated_bytes": diff.allocations.as_ref().map(|(_, bytes)| change(bytes)),
        "row_count": diff.rows.len(),
        "rows": diff.rows.iter().take(top).map(row).collect::<Vec<_>>(),
        "conditions": judgements.iter().map(judgement).collect::<Vec<_>>(),
        "notes": diff.notes,
    })
}

fn row(row: &DiffRow) -> Value {
    let key = match &row.identity {
        Identity::Path(path) => path.as_str().into(),
        Identity::Subject(_, key) => (*key).into(),
        Identity::Places(_) | Identity::Others => Value::Null,
    };
    let columns: Map<String, Value> =
        row.columns.iter().map(|(name, it)| (name.clone(), change(it))).collect();
    json!({
        "key": key,
        "label": row.label,
        "kind": row.kind,
        "in": match row.presence {
            Presence::Both => "both",
            Presence::Before => "before",
            Presence::After => "after",
        },
        "was": row.was,
        "unobserved_in_one": row.is_unobserved_in_one,
        "changed": row.is_change(),
        "count": change(&row.count),
        "count_exact": row.is_exact,
        "total_ns": row.total_ns.as_ref().map(change),
        "total_at_most": row.total_at_most,
        "self_ns": row.self_ns.as_ref().map(change),
        "times_partial": row.is_partly_timed,
        "profiles": columns,
    })
}

/// Medians, values, and the ratio with its interval.
fn change(change: &Change) -> Value {
    let ratio = change.ratio();
    json!({
        "before": change.before.median(),
        "after": change.after.median(),
        "ratio": ratio.map(|ratio| ratio.estimate),
        "interval": ratio.filter(|ratio| ratio.coverage > 0.0).map(|ratio| json!({
            "least": ratio.least,
            "most": ratio.most,
            "coverage": ratio.coverage,
        })),
        "values": { "before": change.before.values(), "after": change.after.values() },
    })
}

fn judgement(judgement: &Judgement) -> Value {
    let failures =
        judgement.failures.iter().map(|(label, what)| json!({ "label": label, "change": what }));
    json!({
        "condition": judgement.gate,
        "failed": judgement.is_failure(),
        "compared": judgement.compared,
        "failures": failures.collect::<Vec<_>>(),
        "undecided": judgement.is_undecided(),
        "unjudged": judgement.unjudged,
    })
}
