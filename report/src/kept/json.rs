//! Kept units as JSON.

use metaspy_reader::Store;
use serde_json::{Value, json};

use super::{KeptUnits, Unit};

/// All that is known of kept units.
pub fn json(store: &Store, kept: &KeptUnits) -> Value {
    let rule = |(at, text): (usize, &String)| {
        let (units, ordinary) = kept.units_of(at);
        json!({ "rule": text, "units": units, "ordinary": ordinary })
    };
    let all = &kept.kept;
    json!({
        "rules": all.rules.iter().enumerate().map(rule).collect::<Vec<_>>(),
        "units": kept.units.iter().map(|one| unit(store, kept, one)).collect::<Vec<_>>(),
        "kept_events": all.events,
        "kept_blocks": all.blocks,
        "gone": all.gone,
        "unseen_blocks": all.unseen_blocks,
        "cut": all.cut,
    })
}

fn unit(store: &Store, kept: &KeptUnits, one: &Unit) -> Value {
    let Unit { unit, event, is_kept, difference } = one;
    let difference = difference.map(|it| {
        json!({
            "site": store.site_path(it.site),
            "calls": it.work.calls,
            "self_ns": store.span_ns(it.work.ticks),
            "usual_calls": it.usual.calls,
            "usual_self_ns": store.span_ns(it.usual.ticks),
            "compared_with": it.ordinary,
        })
    });
    json!({
        "event": event.id.to_string(),
        "rule": kept.rule(one),
        "site": store.site_path(event.site),
        "subject": event.subject.map(|subject| store.subject_text(subject)),
        "start_ns": store.time_ns(event.start),
        "took_ns": event.span.map(|span| store.span_ns(span)),
        "threshold_ns": (unit.threshold > 0).then(|| store.span_ns(unit.threshold)),
        "outcome": store.outcome_word(event),
        "ordinary": unit.is_ordinary,
        "because_of": difference,
        "events": unit.events,
        "left_window": is_kept,
    })
}
