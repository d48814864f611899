//! Maps of the newest keys, in bounded memory.

use std::collections::VecDeque;
use std::hash::Hash;

use super::map::HashMap;

/// Default maximum number of entries.
const ENTRIES: usize = 1 << 16;

/// Map that forgets its oldest keys.
pub(super) struct Recent<K, V> {
    entries: HashMap<K, V>,
    order: VecDeque<K>,
    most: usize,
}

impl<K: Copy + Eq + Hash, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent::of(ENTRIES)
    }
}

impl<K: Copy + Eq + Hash, V> Recent<K, V> {
    /// Creates a map of at most this many entries.
    pub(super) fn of(most: usize) -> Self {
        Recent { entries: HashMap::default(), order: VecDeque::new(), most }
    }

    /// Returns the value of a key.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key)
    }

    /// Adds a key, and returns the entry that is forgotten for it.
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        if self.entries.insert(key, value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() <= self.most {
            return None;
        }
        let oldest = self.order.pop_front()?;
        Some((oldest, self.entries.remove(&oldest)?))
    }

    /// Returns all entries in the order in which they were added.
    pub(super) fn into_entries(mut self) -> impl Iterator<Item = (K, V)> {
        self.order.into_iter().filter_map(move |key| Some((key, self.entries.remove(&key)?)))
    }
}
