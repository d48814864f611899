//! The types that arrived at a function, and at its calls.

use metaspy_report::types::{Arrived, MethodTypes, Target, ValueTypes, short_name, short_shares};

use crate::matching::Match;
use crate::snapshot::Model;

/// The values of a function that have several types, or whose declaration leaves the type open, one line each.
pub fn of_function(model: &Model, found: &Match) -> Vec<String> {
    let mut methods = model.types_of(&found.places).into_iter().cloned();
    let Some(first) = methods.next() else { return Vec::new() };
    methods.fold(first, merge).short_lines()
}

/// The methods that the calls of a name in these functions ran, with their receivers.
pub fn targets(model: &Model, found: &Match, name: &str) -> Vec<Target> {
    let mut sum: Vec<Target> = Vec::new();
    for target in model.shapes(&found.places, name).flat_map(|shape| &shape.targets) {
        match sum.iter_mut().find(|known| (&known.path, &known.receiver) == (&target.path, &target.receiver)) {
            Some(known) => {
                known.count += target.count;
                known.total_ns += target.total_ns;
            }
            None => sum.push(target.clone()),
        }
    }
    sum
}

/// Adds up the types of one function in several versions of the source.
fn merge(mut sum: MethodTypes, more: MethodTypes) -> MethodTypes {
    for ValueTypes { position, name, open, arrived } in more.values {
        let at = sum.values.iter().position(|value| value.position == position).unwrap_or_else(|| {
            sum.values.push(ValueTypes { position, name, open, arrived: Vec::new() });
            sum.values.len() - 1
        });
        let all = &mut sum.values[at].arrived;
        for one in arrived {
            let is_same = |known: &&mut Arrived| {
                let (count, total_ns) = (known.count, known.total_ns);
                **known == Arrived { count, total_ns, ..one.clone() }
            };
            match all.iter_mut().find(is_same) {
                Some(known) => {
                    known.count += one.count;
                    known.total_ns += one.total_ns;
                }
                None => all.push(one),
            }
        }
        all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text().cmp(&b.text())));
    }
    sum.values.sort_by_key(|value| value.position);
    sum
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
