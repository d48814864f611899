//! The types that arrived at a function, and at its calls.

use metaspy_report::types::{Arrived, MethodTypes, Target, ValueTypes};

use super::type_names;
use crate::markdown::Text;
use crate::matching::Match;
use crate::snapshot::Model;

/// The values of a function that have several types, or whose declaration leaves the type open.
pub fn of_function(model: &Model, found: &Match) -> Vec<ValueTypes> {
    let mut methods = model.types_of(&found.places).into_iter().cloned();
    let Some(first) = methods.next() else { return Vec::new() };
    methods.fold(first, merge).values.into_iter().filter(ValueTypes::is_news).collect()
}

/// Adds a value with its types: `shape: &dyn Shape was Circle 66.7 %, Square 33.3 %`.
pub fn line(text: Text, value: &ValueTypes) -> Text {
    let open = value.open.as_ref().map_or(String::new(), |open| format!(": {open}"));
    type_names::shares(text.name(&format!("{}{open}", value.name)).words(" was "), &value.arrived)
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

/// Adds the receivers of these targets with their shares, the most frequent first.
pub fn receivers(text: Text, targets: &[Target]) -> Text {
    let arrived =
        |target: &Target| Arrived { name: target.receiver.clone(), count: target.count, ..Arrived::default() };
    type_names::shares(text, &targets.iter().map(arrived).collect::<Vec<_>>())
}
