//! Types of the values that arrived at a function, and at its calls.

use metaspy_report::text::counted;
use metaspy_report::types::{Arrived, Target, ValueTypes};

use super::type_names;
use crate::markdown::Text;
use crate::matching::Match;
use crate::snapshot::Model;

/// Returns the values of a function with their types.
pub fn of_function(model: &Model, found: &Match) -> Vec<ValueTypes> {
    sum(model.types_of(&found.places).into_iter().map(|method| &*method.values))
}

/// Returns the values in a function's calls of the method with this path.
pub(crate) fn at_call(model: &Model, caller: &Match, path: &str) -> Vec<ValueTypes> {
    sum(model.types_at_calls(&caller.places, path))
}

/// Adds a value with its types: `shape: &dyn Shape was Circle 66.7 %, Square 33.3 %`.
pub fn line(text: Text, value: &ValueTypes) -> Text {
    type_names::shares(name(text, value).words(" was "), &value.arrived)
}

/// Adds the name of a value, with its type if that is open: `shape: &dyn Shape`.
pub fn name(text: Text, value: &ValueTypes) -> Text {
    let open = value.open.as_ref().map_or(String::new(), |open| format!(": {open}"));
    text.name(&format!("{}{open}", value.name))
}

/// States that there may be more values.
pub fn at_least(text: Text, model: &Model) -> Text {
    match model.lost_types() {
        0 => text,
        lost => text.end_of_paragraph().words(&format!(
            "At least: {} found no room in the recording.",
            counted(lost, "value")
        )),
    }
}

/// Returns the methods that the calls of a name in these functions ran, with their receivers.
pub fn targets(model: &Model, found: &Match, name: &str) -> Vec<Target> {
    let mut sum: Vec<Target> = Vec::new();
    for target in model.shapes(&found.places, name).flat_map(|shape| &shape.targets) {
        match sum
            .iter_mut()
            .find(|known| (&known.path, &known.receiver) == (&target.path, &target.receiver))
        {
            Some(known) => {
                known.count += target.count;
                known.total_ns += target.total_ns;
            }
            None => sum.push(target.clone()),
        }
    }
    sum
}

/// Adds up the values of a function in several versions of the source, in the order of their
/// positions.
fn sum<'v>(versions: impl Iterator<Item = &'v [ValueTypes]>) -> Vec<ValueTypes> {
    let mut sum: Vec<ValueTypes> = Vec::new();
    for value in versions.flatten() {
        let Some(known) = sum.iter_mut().find(|known| known.position == value.position) else {
            sum.push(value.clone());
            continue;
        };
        for one in &value.arrived {
            let is_same = |known: &&mut Arrived| {
                let count = known.count;
                let total_ns = known.total_ns;
                **known == Arrived { count, total_ns, ..one.clone() }
            };
            match known.arrived.iter_mut().find(is_same) {
                Some(known) => {
                    known.count += one.count;
                    known.total_ns += one.total_ns;
                }
                None => known.arrived.push(one.clone()),
            }
        }
        known.arrived.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.text().cmp(&b.text())));
    }
    sum.sort_by_key(|value| value.position);
    sum
}

/// Adds the receivers of these targets with their shares, the most frequent first.
pub fn receivers(text: Text, targets: &[Target]) -> Text {
    let arrived = |target: &Target| Arrived {
        name: target.receiver.clone(),
        count: target.count,
        ..Arrived::default()
    };
    type_names::shares(text, &targets.iter().map(arrived).collect::<Vec<_>>())
}
