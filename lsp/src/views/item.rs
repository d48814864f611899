//! A type or a module in the editor, and the element of the program that it is.

use metaspy_report::program::{Element, Key, Of};
use metaspy_report::text::{counted, grouped};

use crate::document::View;
use crate::snapshot::{Model, Totals};
use crate::source::{Item, ItemKind};

/// The element of an item; `None` in doubt.
pub fn element<'a>(view: &View<'a>, item: &Item) -> Option<&'a Element> {
    let is_named = |element: &&Element| match (&element.of, item.kind) {
        (Of::Type { .. }, ItemKind::Type) | (Of::Package, ItemKind::Module) => element.name == item.name,
        _ => false,
    };
    let module = module_of(view).map(|module| {
        let parts = module.split("::").chain(item.modules.iter().map(String::as_str));
        parts.chain([item.name.as_str()]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("::")
    });
    let is_here = |element: &&Element| match &element.key {
        Key::Type(path) | Key::Package(path) => Some(&**path) == module.as_deref(),
        _ => false,
    };
    let mut named: Vec<&Element> = view.model.elements(|element| is_named(&element)).collect();
    // Several versions of the source have the same element.
    named.sort_by(|a, b| a.path_text().cmp(b.path_text()));
    named.dedup_by(|a, b| a.key == b.key);
    match (named.iter().copied().find(is_here), &named[..]) {
        (Some(here), _) => Some(here),
        // It is defined in another file, and there is only one of this name.
        (None, [only]) => Some(only),
        _ => None,
    }
}

/// The module that a file is, by one of its functions.
fn module_of<'a>(view: &View<'a>) -> Option<&'a str> {
    let functions = view.document.outline().functions.iter().zip(&view.matches);
    let mut found = functions.filter_map(|(function, found)| {
        let method = view.model.element(*found.as_ref()?.places.first()?).method.as_deref()?;
        let (module, _) = method.site.module_and_name()?;
        let inner = function.modules.join("::");
        Some(module.strip_suffix(&inner)?.trim_end_matches(':'))
    });
    found.next()
}

/// One line with the totals of an item: methods that ran, and calls.
pub fn line(view: &View<'_>, item: &Item) -> Option<String> {
    let element = element(view, item)?;
    totals(view.model, element)
}

/// The totals of an element as text; `None` for one without methods.
pub fn totals(model: &Model, element: &Element) -> Option<String> {
    let Totals { methods, ran, calls, receivers } = model.totals(&element.key);
    if methods == 0 {
        return None;
    }
    let mut parts = vec![
        format!("{} of {} ran", grouped(ran as u64), counted(methods as u64, "method")),
        if calls == 1 { "1 call".into() } else { format!("{} calls", grouped(calls)) },
    ];
    if !receivers.is_unknown() {
        parts.push(format!("{receivers} {}", if receivers.count == 1 { "object" } else { "objects" }));
    }
    Some(parts.join(" · "))
}
