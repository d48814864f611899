//! Matching of methods between two versions, by path or by source.

use std::collections::{HashMap, HashSet};

use metaspy_report::diff::renamed::{self, Source};

use crate::graph::Graph;

/// Identity of a method across versions: its path with type arguments, and its number among methods
/// of that path.
pub type Key = (String, usize);

/// Returns the keys of all methods of a graph, in the order of its methods.
pub fn keys(graph: &Graph) -> Vec<Key> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut keys = Vec::with_capacity(graph.methods.len());
    for method in &graph.methods {
        let number = seen.entry(&method.path_with_arguments).or_insert(0);
        keys.push((method.path_with_arguments.clone(), *number));
        *number += 1;
    }
    keys
}

/// Finds renamed methods: maps the index of a method in `new` to its index in `old`.
pub fn renamed(
    old: &Graph,
    old_keys: &[Key],
    new: &Graph,
    new_keys: &[Key],
) -> HashMap<usize, usize> {
    let only = |graph: &Graph, keys: &[Key], others: &[Key]| -> Vec<(Source, usize)> {
        let others: HashSet<&Key> = others.iter().collect();
        let places =
            graph.methods.iter().enumerate().filter(|(at, _)| !others.contains(&keys[*at]));
        places
            .filter_map(|(at, method)| {
                Some((Source::new(&method.path, method.fingerprint, method.lines)?, at))
            })
            .collect()
    };
    let gone = only(old, old_keys, new_keys);
    let found = only(new, new_keys, old_keys);
    renamed::renamed(gone.into_iter(), found.into_iter())
        .into_iter()
        .map(|(old, new)| (new, old))
        .collect()
}
