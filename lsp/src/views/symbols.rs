//! Document symbols: recorded functions and types, with their totals.

use std::collections::HashMap;

use lsp_types::{DocumentSymbol, SymbolKind};
use metaspy_report::program::Key;

use super::{item, summary};
use crate::source::{Function, ItemKind};
use crate::views::View;

/// Returns the symbols of a document, in the order of the text.
pub fn of(view: &View<'_>) -> Vec<DocumentSymbol> {
    let metric = view.settings.metric;
    let scale = view.settings.scale;
    let classes = view.model.classes(metric, scale);
    let function = |(function, numbers, is_stale): (&Function, _, bool)| {
        let detail = summary::line(view.model, classes, metric, &numbers, is_stale)?;
        let kind =
            if function.name.contains("::") { SymbolKind::METHOD } else { SymbolKind::FUNCTION };
        Some(symbol(
            function.name.clone(),
            detail,
            kind,
            view.range(&function.whole),
            view.range(&function.ident),
        ))
    };
    let functions = view.functions().filter_map(function);
    let mut details: HashMap<Key, Option<String>> = HashMap::new();
    let items = view.document.outline().items.iter().filter_map(|it| {
        let element = item::element(view, it)?;
        let detail = details
            .entry(element.key.clone())
            .or_insert_with(|| item::totals(view.model, element))
            .clone()?;
        let range = view.range(&it.ident);
        let kind = match it.kind {
            ItemKind::Type => SymbolKind::CLASS,
            ItemKind::Module => SymbolKind::MODULE,
        };
        Some(symbol(it.name.clone(), detail, kind, range, range))
    });
    let mut all: Vec<DocumentSymbol> = functions.chain(items).collect();
    all.sort_by_key(|symbol| (symbol.range.start.line, symbol.range.start.character));
    all
}

#[allow(deprecated, reason = "a field of the type")]
fn symbol(
    name: String,
    detail: String,
    kind: SymbolKind,
    range: lsp_types::Range,
    selection_range: lsp_types::Range,
) -> DocumentSymbol {
    let detail = Some(detail);
    DocumentSymbol {
        name,
        detail,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children: None,
    }
}
