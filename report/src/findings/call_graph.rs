//! Graph of the calls between sites, which tells recursion from other calls.

use metaspy_probe::SiteId;

use super::map::{ByPair, BySite, HashSet};

/// Pairs of sites in which a call of the first causes a call of the second.
#[derive(Debug, Default)]
pub(super) struct CallGraph {
    called: BySite<Vec<SiteId>>,
    /// True for the pairs in `called`.
    pairs: ByPair<bool>,
}

impl CallGraph {
    /// Adds a pair.
    pub(super) fn add(&mut self, from: SiteId, to: SiteId) {
        if !std::mem::replace(self.pairs.of(from, to), true) {
            self.called.of(from).push(to);
        }
    }

    /// Returns true if calls of `to` lead to calls of `from` again, directly or through other
    /// sites.
    pub(super) fn is_recursive(&self, from: SiteId, to: SiteId) -> bool {
        let mut seen = HashSet::from_iter([to]);
        let mut next = vec![to];
        while let Some(site) = next.pop() {
            if site == from {
                return true;
            }
            next.extend(
                self.called
                    .get(site)
                    .into_iter()
                    .flatten()
                    .copied()
                    .filter(|site| seen.insert(*site)),
            );
        }
        false
    }
}
