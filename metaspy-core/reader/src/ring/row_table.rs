//! Table of row numbers by key. It uses open addressing with a multiplicative hash, because each
//! event takes one lookup.

use metaspy_format::hash::scatter;
use metaspy_format::high;
use metaspy_format::row::product;

/// Maximum number of rows. Further keys join the row of others of their site. 2^20 rows take about
/// 150 MiB.
pub(crate) const ROWS_MAX: usize = 1 << 20;

/// Key of a row: the subject's key, and its kind and site in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub key: u64,
    pub who: u64,
}

/// Row numbers by key, in the order of their first use.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Slots with row number + 1; 0 = free. Their number is a power of two, and at least half are
    /// free.
    slots: Vec<u32>,
    keys: Vec<Key>,
    /// Rows of small keys for a few kinds and sites, found in one step.
    dense: Vec<Dense>,
}

/// Rows of the small keys with the same second word: row number + 1 by key; 0 = none.
#[derive(Clone, Debug, Default)]
struct Dense {
    who: u64,
    rows: Vec<u32>,
}

/// Keys below this are small.
const SMALL: u64 = 65_536;
/// Number of second words with dense rows: a power of two.
const DENSE: usize = 64;

impl Table {
    /// Creates an empty table.
    pub fn new() -> Self {
        Table { slots: vec![0; 64], keys: Vec::new(), dense: vec![Dense::default(); DENSE] }
    }

    /// Returns the row of a key. Inserts a new key, and returns the row of `others` if the table is
    /// full.
    #[inline(always)]
    pub fn row(&mut self, key: Key, others: impl FnOnce() -> Key) -> usize {
        match self.small(key.who).get(key.key as usize) {
            Some(&row) if row != 0 => row as usize - 1,
            _ => self.search(key, others),
        }
    }

    /// Returns row numbers + 1 of small keys with this second word, by key; 0 = none.
    #[inline(always)]
    pub fn small(&self, who: u64) -> &[u32] {
        let dense = &self.dense[dense_at(who)];
        if dense.who == who { &dense.rows } else { &[] }
    }

    #[inline(always)]
    fn search(&mut self, key: Key, others: impl FnOnce() -> Key) -> usize {
        match self.find(key) {
            Ok(row) => row,
            Err(free) => self.insert(key, free, others()),
        }
    }

    /// Returns the keys, by row.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Returns the keys alone, by row.
    pub fn into_keys(self) -> Vec<Key> {
        self.keys
    }

    /// Returns the row of a key, or the free slot for it.
    #[inline(always)]
    fn find(&self, key: Key) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = hash(key) & mask;
        loop {
            match self.slots[at & mask] {
                0 => return Err(at & mask),
                row if self.keys[row as usize - 1] == key => return Ok(row as usize - 1),
                _ => at += 1,
            }
        }
    }

    #[cold]
    fn insert(&mut self, key: Key, free: usize, others: Key) -> usize {
        let mut key = key;
        let mut free = free;
        // The row of a site's others is inserted even into a full table. The number of sites bounds
        // these rows.
        if self.keys.len() >= ROWS_MAX && key != others {
            match self.find(others) {
                Ok(row) => return row,
                Err(slot) => (key, free) = (others, slot),
            }
        }
        self.keys.push(key);
        let row = self.keys.len() as u32;
        self.slots[free] = row;
        let dense = &mut self.dense[dense_at(key.who)];
        if key.key < SMALL && (dense.who == key.who || dense.rows.is_empty()) {
            dense.who = key.who;
            let wanted = (key.key as usize + 1).next_power_of_two();
            dense.rows.resize(dense.rows.len().max(wanted), 0);
            dense.rows[key.key as usize] = row;
        }
        if self.keys.len() * 2 > self.slots.len() {
            self.grow();
        }
        row as usize - 1
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for (row, key) in self.keys.iter().enumerate() {
            let mask = self.slots.len() - 1;
            let mut at = hash(*key) & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = row as u32 + 1;
        }
    }
}

#[inline(always)]
fn dense_at(who: u64) -> usize {
    high(scatter(who)) as usize % DENSE
}

#[inline(always)]
fn hash(key: Key) -> usize {
    let scattered = product(key.key, key.who);
    (scattered ^ u64::from(high(scattered))) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_row_while_the_table_grows() {
        let mut table = Table::new();
        let key = |key| Key { key, who: key % 7 };
        let rows: Vec<usize> = (0..100_000).map(|at| table.row(key(at), || key(0))).collect();
        assert_eq!(rows, (0..100_000).collect::<Vec<_>>());
        assert!((0..100_000).all(|at| table.row(key(at), || key(0)) == at as usize));
    }
}
