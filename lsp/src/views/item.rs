//! Types and modules of the editor's text, and their elements in the program.

use metaspy_report::program::{Element, Key, Of};
use metaspy_report::text::{counted, grouped};

use crate::numbers::Totals;
use crate::snapshot::Model;
use crate::source::{Item, ItemKind};
use crate::views::View;

/// Returns the element of an item, or `None` in doubt.
pub fn element<'a>(view: &View<'a>, item: &Item) -> Option<&'a Element> {
    of_methods(view, item).or_else(|| if item.is_nested { None } else { of_path(view, item) })
}

/// Returns the type of the methods in an `impl` block, which may be defined in another file.
fn of_methods<'a>(view: &View<'a>, item: &Item) -> Option<&'a Element> {
    let functions = &view.document.outline().functions;
    let place = |byte: usize| functions.partition_point(|function| function.whole.start < byte);
    let mut own = view.matches[place(item.body.start)..place(item.body.end)].iter();
    own.find_map(|found| {
        let around = view.model.around(*found.as_ref()?.places.first()?)?;
        (matches!(around.of, Of::Type { .. }) && around.name == item.name).then_some(around)
    })
}

/// Returns the type or the module that is defined in this file, at this path.
fn of_path<'a>(view: &View<'a>, item: &Item) -> Option<&'a Element> {
    let path = |module: &str| {
        let inner = item.modules.iter().chain([&item.name]).map(String::as_str);
        [module].into_iter().chain(inner).collect::<Vec<_>>().join("::")
    };
    // A file of several crates has several such types.
    let mut modules = view.modules.iter();
    let (Some(module), None) = (modules.next(), modules.next()) else { return None };
    let path = path(module);
    view.model.element_with(&match item.kind {
        ItemKind::Type => Key::Type(path.as_str().into()),
        ItemKind::Module => Key::Package(path.as_str().into()),
    })
}

/// Formats the totals of an element: methods that ran, and calls. Returns `None` if it has no
/// methods.
pub fn totals(model: &Model, element: &Element) -> Option<String> {
    let Totals { methods, ran, calls, receivers } = model.totals(&element.key);
    if methods == 0 {
        return None;
    }
    let mut parts = vec![
        format!("{} of {} ran", grouped(ran as u64), counted(methods as u64, "method")),
        if calls == 1 { "1 call".into() } else { format!("{} calls", grouped(calls)) },
    ];
    if receivers.magnitude() > 0 {
        parts.push(receivers.phrase());
    }
    Some(parts.join(" · "))
}
