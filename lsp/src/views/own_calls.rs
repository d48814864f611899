//! Detection of functions whose recorded calls are exactly the calls in their text.
//!
//! The calls of code without hooks belong to the function that runs it: of a closure of the caller,
//! of a macro, and of a function that was not woven. A function that may run such code has calls
//! that are not in its text.

use metaspy_probe::unqualified;
use metaspy_report::text::last_segment;

use crate::source::{
    Function, Qualifier, calls_in, is_running, returned, runs_unnamed, tokens_of, words,
};
use crate::views::View;

/// Functions of std that are called by their names alone.
const OF_STD: [&str; 5] = ["drop", "size_of", "size_of_val", "align_of", "align_of_val"];

/// Modules of std whose functions are called by the name of the module.
const MODULES_OF_STD: [&str; 5] = ["cmp", "hint", "iter", "mem", "ptr"];

/// Returns true if a function runs no code without hooks except the code in its text. The call
/// `certain` is known to run a method of a trait.
pub(crate) fn are_all(view: &View<'_>, function: &Function, certain: Option<&str>) -> bool {
    let text = &view.document.lines.text;
    let signature = tokens_of(&text[function.signature.clone()]).map(words).unwrap_or_default();
    let body = &text[function.whole.clone()];
    let Some(tokens) = tokens_of(body) else { return false };
    let is_named = !runs_unnamed(tokens.clone());
    // The words include lazy statics.
    let used = words(tokens);
    proc_macro2::extra::invalidate_current_thread_spans();
    let around = function.open.iter().cloned().collect();
    let running = &view.document.outline().running;
    let is_held = unqualified(&function.name).split("::").any(|owner| running.contains(owner));
    if !is_named || is_held || is_running(&used, running) || is_running(&around, running) {
        return false;
    }
    let is_parameter =
        |name: &str| signature.contains(name) && last_segment(&function.name) != name;
    calls_in(body).into_iter().all(|call| {
        let before = body[..call.start].trim_end();
        let name = &body[call];
        let is_free = !before.ends_with('.') && !before.ends_with("::");
        Some(name) == certain
            || !(is_free && is_parameter(name)) && is_known(view, body, before, name)
    })
}

/// Returns true if a call runs a function with a hook, or a function of another crate. A macro may
/// generate a name for which neither is true.
fn is_known(view: &View<'_>, body: &str, before: &str, name: &str) -> bool {
    let outline = view.document.outline();
    if outline.generated.contains(name) {
        return false;
    }
    let mut own = outline.functions.iter().filter(|function| last_segment(&function.name) == name);
    if own.clone().any(|function| returns_running(view, function)) {
        return false;
    }
    if let Some(has_hook) = view.model.has_hook(name) {
        return has_hook;
    }
    if own.next().is_some() {
        return false;
    }
    let is_type = |name: &str| name.starts_with(char::is_uppercase);
    match Qualifier::before(before) {
        Qualifier::Receiver => true,
        // The call is a constructor, or runs a closure of the function.
        Qualifier::None => is_type(name) || OF_STD.contains(&name) || is_closure(body, name),
        // The functions of types in woven source are known.
        Qualifier::Name(of) => is_type(of) || MODULES_OF_STD.contains(&of),
        Qualifier::Parameter | Qualifier::Unknown => true,
    }
}

/// Returns true if a function may return a closure, an iterator or a future, which its caller runs.
fn returns_running(view: &View<'_>, function: &Function) -> bool {
    let words = tokens_of(&view.document.lines.text[function.signature.clone()])
        .map(returned)
        .unwrap_or_default();
    proc_macro2::extra::invalidate_current_thread_spans();
    is_running(&words, &view.document.outline().running)
}

/// Returns true if the body gives this name to a closure.
fn is_closure(body: &str, name: &str) -> bool {
    body.split(&format!("let {name}")).skip(1).any(|rest| {
        let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
        value.is_some_and(|value| value.starts_with('|') || value.starts_with("move |"))
    })
}
