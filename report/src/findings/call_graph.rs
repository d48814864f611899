//! Which sites call which, to tell recursion from other calls.

use metaspy_probe::SiteId;

use super::map::{HashMap, HashSet};

/// Pairs of sites of which the first causes the second.
#[derive(Debug, Default)]
pub(super) struct CallGraph(HashMap<SiteId, HashSet<SiteId>>);

impl CallGraph {
    /// Adds a pair.
    pub(super) fn add(&mut self, from: SiteId, to: SiteId) {
        self.0.entry(from).or_default().insert(to);
    }

    /// Returns true if calls of `to`, or what they cause, call `from` again.
    pub(super) fn is_recursive(&self, from: SiteId, to: SiteId) -> bool {
        let mut seen = HashSet::from_iter([to]);
        let mut next = vec![to];
        while let Some(site) = next.pop() {
            if site == from {
                return true;
            }
            next.extend(self.0.get(&site).into_iter().flatten().copied().filter(|site| seen.insert(*site)));
        }
        false
    }
}
