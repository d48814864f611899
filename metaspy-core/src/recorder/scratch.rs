//! The sums of a batch of blocks, before they are added to the tallies.

use std::collections::HashMap;

use crate::format::BLOCK_SLOTS;
use crate::format::layout::FOLD_BLOCKS;
use crate::format::row::{self, ROW_WORDS};
use crate::format::slot::SPAN_MAX;

/// The sums of a batch of blocks by row.
pub(super) struct Scratch {
    index: Vec<u32>,
    pub deltas: Vec<Delta>,
    /// Folded events whose span did not fit, with key and row. An end mark holds the rest.
    pub cut: HashMap<u64, (u64, u64)>,
}

/// Maximum number of such events.
pub(super) const CUT_MOST: usize = 1 << 12;

#[derive(Clone, Copy)]
pub(super) struct Delta {
    pub key: u64,
    pub who: u64,
    /// The words from [`row::COUNT`] on.
    pub add: [u64; ROW_WORDS - row::COUNT],
}

/// A power of two, twice the events of a batch.
const INDEX: usize = 8192;

impl Scratch {
    pub fn new() -> Self {
        Scratch { index: vec![0; INDEX], deltas: Vec::new(), cut: HashMap::new() }
    }

    pub fn clear(&mut self) {
        self.index.fill(0);
        self.deltas.clear();
    }

    /// Adds the part of a span that did not fit.
    pub fn add_rest(&mut self, event: u64, span: u64) {
        let Some((key, who)) = self.cut.remove(&event) else { return };
        let add = &mut self.delta(key, who).add;
        add[row::TOTAL - row::COUNT] += span.saturating_sub(SPAN_MAX);
        add[row::MAX - row::COUNT] = add[row::MAX - row::COUNT].max(span);
    }

    pub fn delta(&mut self, key: u64, who: u64) -> &mut Delta {
        let mut at = row::first(key, who, INDEX.trailing_zeros());
        loop {
            match self.index[at] {
                0 => {
                    self.deltas.push(Delta { key, who, add: [0; ROW_WORDS - row::COUNT] });
                    self.index[at] = self.deltas.len() as u32;
                    return self.deltas.last_mut().expect("just pushed");
                }
                found => {
                    let delta = &self.deltas[found as usize - 1];
                    if delta.key == key && delta.who == who {
                        return &mut self.deltas[found as usize - 1];
                    }
                }
            }
            at = (at + 1) % INDEX;
        }
    }
}

const _: () = assert!(FOLD_BLOCKS * BLOCK_SLOTS < INDEX);
