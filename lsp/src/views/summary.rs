//! Summary of a function's numbers in a single line.

use metaspy_report::text::{counted, percent};

use crate::heat::{Classes, Metric};
use crate::numbers::Numbers;
use crate::snapshot::Model;

/// Formats the line: a bar, the metric, and the share of all calls or of the time.
pub fn line(
    model: &Model,
    classes: &Classes,
    metric: Metric,
    numbers: &Numbers,
    is_stale: bool,
) -> Option<String> {
    if numbers.skipped.is_some() {
        return None;
    }
    if numbers.calls == 0 {
        // After an edit, the new code may run.
        return (!is_stale).then(|| "never ran".to_owned());
    }
    let mut parts = Vec::new();
    // Receivers follow in any case, and only their own text distinguishes objects from places.
    if ![Metric::Calls, Metric::Receivers].contains(&metric) {
        parts.extend(metric.phrase(numbers));
    }
    let about = if model.is_exact { "" } else { "≥" };
    parts.push(format!("{about}{}", counted(numbers.calls, "call")));
    parts.extend(share(model, numbers));
    if let Some(receivers) = numbers.receivers {
        parts.push(receivers.phrase());
    }
    let bar = metric.of(numbers).map_or('·', |value| classes.heat(value).bar());
    let changed = if is_stale { " (of earlier code)" } else { "" };
    Some(format!("{bar} {}{changed}", parts.join(" · ")))
}

/// Formats the share of the time, or of all calls if they were not timed.
fn share(model: &Model, numbers: &Numbers) -> Option<String> {
    match numbers.self_ns {
        Some(ns) if model.self_ns > 0 => Some(format!("{} self", percent(ns, model.self_ns))),
        _ if model.calls > 0 && !numbers.is_test => {
            Some(format!("{} of all", percent(numbers.calls, model.calls)))
        }
        _ => None,
    }
}
