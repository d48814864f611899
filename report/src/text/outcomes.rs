//! How calls ended, in words.

use metaspy_core::store::Measure;

use super::grouped;

/// `3 failed, 1 lost`: what went wrong, behind `before`; empty if nothing did.
pub fn outcomes(measure: &Measure, before: &str) -> String {
    let words = [
        (measure.failed, "failed"),
        (measure.panicked, "panicked"),
        (measure.cancelled, "cancelled"),
        (measure.running, "running"),
        (measure.lost, "lost"),
    ];
    let words = words.iter().filter(|(count, _)| *count > 0);
    let text: Vec<String> = words.map(|&(count, word)| format!("{} {word}", grouped(count))).collect();
    if text.is_empty() { String::new() } else { format!("{before}{}", text.join(", ")) }
}
