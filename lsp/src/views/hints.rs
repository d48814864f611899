//! Diagnostics of the lowest severity, for functions that never ran.

use lsp_types::{Diagnostic, DiagnosticSeverity, DiagnosticTag};

use crate::views::View;

/// Returns the hints of a document. A function that was edited after the run has no hint.
pub fn of(view: &View<'_>) -> Vec<Diagnostic> {
    let never_ran = view.functions().filter(|(_, numbers, is_stale)| {
        numbers.calls == 0 && numbers.skipped.is_none() && !numbers.is_test && !is_stale
    });
    never_ran
        .map(|(function, ..)| Diagnostic {
            range: view.range(&function.ident),
            severity: Some(DiagnosticSeverity::HINT),
            source: Some("metaspy".into()),
            message: format!("never ran ({})", view.model.title()),
            tags: Some(vec![DiagnosticTag::UNNECESSARY]),
            ..Diagnostic::default()
        })
        .collect()
}
