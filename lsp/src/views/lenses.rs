//! Code lenses: a line of numbers above each recorded function.

use lsp_types::{CodeLens, Command};

use super::summary;
use crate::views::View;

/// Returns the lenses of a document.
pub fn of(view: &View<'_>) -> Vec<CodeLens> {
    let metric = view.settings.metric;
    let scale = view.settings.scale;
    let classes = view.model.classes(metric, scale);
    let lens = |(function, numbers, is_stale): (&crate::source::Function, _, bool)| {
        let title = summary::line(view.model, classes, metric, &numbers, is_stale)?;
        let command = Some(Command { title, command: String::new(), arguments: None });
        Some(CodeLens { range: view.range(&function.ident), command, data: None })
    };
    // The call count of a test adds nothing.
    view.functions().filter(|(_, numbers, _)| !numbers.is_test).filter_map(lens).collect()
}
