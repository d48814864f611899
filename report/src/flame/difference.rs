//! The stacks of two recordings as one.

use std::collections::{BTreeMap, HashMap};

use super::tree::{ROOT, sum};
use super::{Absent, Before, FlamePage, Function, FunctionValues, Lane, Stacks, Tree, Unit};

impl FlamePage {
    /// Adds the numbers of an earlier recording. Functions are the same by name, and threads are
    /// added up.
    #[must_use]
    pub fn compared_with(mut self, earlier: &FlamePage) -> FlamePage {
        let mut by_name: HashMap<String, usize> = HashMap::new();
        for (at, function) in self.functions.iter().enumerate() {
            by_name.entry(function.name.clone()).or_insert(at);
        }
        for absent in &mut self.absent {
            if earlier.stacks.iter().any(|old| old.name == absent.name) {
                absent.why = format!("only in the earlier recording; in this one {}", absent.why);
            }
        }
        let places: Vec<usize> =
            earlier.functions.iter().map(|function| self.same(&mut by_name, function)).collect();
        for mut stacks in std::mem::take(&mut self.stacks) {
            let Some(old) = earlier.stacks.iter().find(|old| old.name == stacks.name) else {
                self.lacks(&stacks.name, "not recorded in the earlier recording");
                continue;
            };
            if !are_comparable(&stacks, old) {
                self.lacks(&stacks.name, &unequal(&stacks, old));
                continue;
            }
            // A function may stand in several places of the source under one name.
            let own: Vec<usize> =
                self.functions.iter().map(|function| by_name[&function.name]).collect();
            let mut tree = Tree::default();
            stacks.lanes.iter().for_each(|lane| merge(&mut tree, &lane.tree, &own, false));
            old.lanes.iter().for_each(|lane| merge(&mut tree, &lane.tree, &places, true));
            stacks.lanes = vec![Lane { tree, ..Lane::default() }];
            let mut rows: BTreeMap<usize, FunctionValues> = BTreeMap::new();
            for (at, row) in &stacks.rows {
                let joined = rows.entry(own[*at]).or_default();
                (joined.own, joined.total) =
                    (sum(joined.own, row.own), sum(joined.total, row.total));
            }
            for (at, row) in &old.rows {
                let joined = rows.entry(places[*at]).or_default();
                let before = &mut joined.before;
                (before.own, before.total) =
                    (sum(before.own, row.own), sum(before.total, row.total));
            }
            stacks.rows = rows;
            stacks.edges = None;
            stacks.is_difference = true;
            stacks.notes.extend(old.notes.iter().map(|note| format!("earlier recording: {note}")));
            self.stacks.push(stacks);
        }
        self.title = format!("{}, compared with {}", self.title, earlier.title);
        self
    }

    /// Returns the function with the name of one of an earlier recording.
    fn same(&mut self, by_name: &mut HashMap<String, usize>, function: &Function) -> usize {
        let Function { name, place, group, .. } = function;
        if let Some(&known) = by_name.get(name) {
            return known;
        }
        let at = self.function(name, place, group);
        by_name.insert(name.clone(), at);
        at
    }
}

/// True if numbers have the same meaning. Periods of samples at one rate differ by less than a
/// hundredth.
fn are_comparable(new: &Stacks, old: &Stacks) -> bool {
    new.measures.len() == old.measures.len()
        && new.measures.iter().zip(&old.measures).all(|(new, old)| match (new.unit, old.unit) {
            (Unit::Samples(new), Unit::Samples(old)) => new.abs_diff(old) <= new / 100,
            _ => new == old,
        })
}

/// Why two sets cannot be compared.
fn unequal(new: &Stacks, old: &Stacks) -> String {
    let names = |stacks: &Stacks| {
        let names = stacks.measures.iter().map(|measure| {
            if measure.is_least { format!("{} (≥)", measure.name) } else { measure.name.clone() }
        });
        names.collect::<Vec<_>>().join(", ")
    };
    if names(new) == names(old) {
        "samples of the recordings stand for different times: sample both with one --rate".into()
    } else {
        format!(
            "not compared: this recording has {}, and the earlier one has {}",
            names(new),
            names(old)
        )
    }
}

/// Adds a tree to another one, as the earlier one or as the later one.
fn merge(to: &mut Tree, tree: &Tree, functions: &[usize], is_before: bool) {
    let mut places = vec![0; tree.frames.len()];
    for (at, frame) in tree.frames.iter().enumerate() {
        if frame.function != ROOT {
            places[at] = to.child(places[frame.caller], functions[frame.function]);
        }
        let joined = &mut to.frames[places[at]];
        joined.is_part |= frame.is_part;
        if is_before {
            let before = joined.before;
            joined.before =
                Before { own: sum(before.own, frame.own), total: sum(before.total, frame.total) };
        } else {
            (joined.own, joined.total) =
                (sum(joined.own, frame.own), sum(joined.total, frame.total));
        }
    }
}

impl Absent {
    /// Name and reason as a sentence.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.name, self.why)
    }
}
