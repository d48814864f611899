//! A type or a module in the editor, and the element of the program that it is.

use metaspy_report::program::{Element, Key, Of};
use metaspy_report::text::{counted, grouped};

use crate::document::View;
use crate::source::{Item, ItemKind};

/// The element of an item; `None` in doubt.
pub fn element<'a>(view: &View<'a>, item: &Item) -> Option<&'a Element> {
    let elements = &view.model.program.elements;
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
    let named: Vec<&Element> = elements.iter().filter(is_named).collect();
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
    element(view, item).filter(|element| element.methods > 0).map(totals)
}

/// The totals of an element.
pub fn totals(element: &Element) -> String {
    let Element { ran, methods, measure, receivers, .. } = element;
    let mut parts = vec![
        format!("{ran} of {} ran", counted(u64::from(*methods), "method")),
        if measure.count == 1 { "1 call".into() } else { format!("{} calls", grouped(measure.count)) },
    ];
    if !receivers.is_unknown() {
        parts.push(format!("{receivers} {}", if receivers.count == 1 { "object" } else { "objects" }));
    }
    parts.join(" · ")
}
