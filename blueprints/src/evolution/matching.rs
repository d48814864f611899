//! Which method of one version is which of the other.

use std::collections::{HashMap, HashSet};

use crate::graph::Graph;

/// The identity of a method across versions: its path, and its number among methods of that path.
pub type Key = (String, usize);

/// The lines of a function whose tokens identify it at least. Shorter ones are alike by chance.
const LEAST_LINES: u32 = 3;

/// The keys of all methods of a graph.
pub fn keys(graph: &Graph) -> Vec<Key> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut keys = Vec::with_capacity(graph.methods.len());
    for method in &graph.methods {
        let number = seen.entry(&method.path).or_insert(0);
        keys.push((method.path.clone(), *number));
        *number += 1;
    }
    keys
}

/// The methods of `new` that are methods of `old` by another name: new place, old place.
pub fn renamed(old: &Graph, old_keys: &[Key], new: &Graph, new_keys: &[Key]) -> HashMap<usize, usize> {
    let alone = |graph: &Graph, keys: &[Key], others: &[Key]| {
        let others: HashSet<&Key> = others.iter().collect();
        let mut places: HashMap<u32, Option<usize>> = HashMap::new();
        for (at, method) in graph.methods.iter().enumerate() {
            let is_candidate = method.fingerprint != 0 && method.lines >= LEAST_LINES && !others.contains(&keys[at]);
            if is_candidate {
                // Two with the same tokens cannot be told apart.
                places.entry(method.fingerprint).and_modify(|place| *place = None).or_insert(Some(at));
            }
        }
        places
    };
    let gone = alone(old, old_keys, new_keys);
    let found = alone(new, new_keys, old_keys).into_iter().filter_map(|(hash, at)| Some((at?, (*gone.get(&hash)?)?)));
    found.collect()
}
