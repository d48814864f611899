//! The types that arrived at a function, and at its calls.

use metaspy_report::program::Method;
use metaspy_report::types::{Target, short_name, short_shares};

use crate::matching::Match;
use crate::snapshot::Model;

/// The values of a function that have several types, or whose declaration leaves the type open, one line each.
pub fn of_function(model: &Model, found: &Match) -> Vec<String> {
    let methods = model.types_of(&found.places);
    // Several runs that recorded it at different lines have types of their own.
    let [method] = methods[..] else { return Vec::new() };
    method.short_lines()
}

/// The methods that the calls of a name in these functions ran, with their receivers.
pub fn targets(model: &Model, found: &Match, name: &str) -> Vec<Target> {
    let callers: Vec<&str> = methods(model, found).map(|method| method.site.path.as_str()).collect();
    let shapes = model.shapes.iter().filter(|shape| shape.name == name);
    let of_caller = shapes.filter(|shape| shape.caller.as_deref().is_some_and(|caller| callers.contains(&caller)));
    of_caller.flat_map(|shape| shape.targets.iter().cloned()).collect()
}

/// The receivers of these targets with their shares, the most frequent first: `Circle 66.7 %, Square 33.3 %`.
pub fn receivers(targets: &[Target]) -> String {
    let all: u64 = targets.iter().map(|target| target.count).sum();
    let mut receivers: Vec<(String, u64)> = Vec::new();
    for target in targets {
        match receivers.iter_mut().find(|(name, _)| *name == target.receiver) {
            Some((_, count)) => *count += target.count,
            None => receivers.push((target.receiver.clone(), target.count)),
        }
    }
    receivers.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    short_shares(receivers.iter().map(|(name, count)| (short_name(name).to_owned(), *count)), all)
}

fn methods<'m>(model: &'m Model, found: &'m Match) -> impl Iterator<Item = &'m Method> {
    found.places.iter().filter_map(|&at| model.element(at).method.as_deref())
}
