//! What was sent from one of the recordings and received in another.

use std::collections::HashMap;

use crate::merge::clock::Crossing;
use crate::merge::remap::{Input, find_sender};
use crate::scan::blocks::Block;
use metaspy_format::slot::Mark;

/// Sendings whose time is kept. Of others the event's own start stands in, which is earlier.
const SENT_MAX: usize = 1 << 20;
/// Receipts that clocks are compared by.
const RECEIVED_MAX: usize = 1 << 20;

/// Everything that crossed, as far as clocks are compared by it; and of each input whether anything came to it.
pub(super) fn crossings(inputs: &[Input]) -> (Vec<Crossing>, Vec<bool>) {
    let mut sent: HashMap<u64, u64> = HashMap::new();
    let mut received: Vec<(usize, u64, u64)> = Vec::new();
    let mut has_remote = vec![false; inputs.len()];
    for (at, input) in inputs.iter().enumerate() {
        each_mark(input, |mark, span, tick| match mark {
            // Of several sendings of one event the first one is what every receipt is later than.
            Mark::Sent if sent.len() < SENT_MAX => {
                sent.entry(span).and_modify(|first| *first = tick.min(*first)).or_insert(tick);
            }
            Mark::Remote => {
                has_remote[at] = true;
                if received.len() < RECEIVED_MAX {
                    received.push((at, span, tick));
                }
            }
            _ => {}
        });
    }
    let crossing = |(to, span, received): (usize, u64, u64)| {
        let (from, id) = find_sender(inputs, span)?;
        let (head, slot) = inputs[from].ring().peek(id)?;
        let began = head.base.saturating_add(slot.start);
        Some(Crossing { from, sent: sent.get(&span).copied().unwrap_or(began), to, received })
    };
    (received.into_iter().filter_map(crossing).collect(), has_remote)
}

/// The marks of a recording that tell of other processes: which it is, the span's number, the tick.
fn each_mark(input: &Input, mut each: impl FnMut(Mark, u64, u64)) {
    let ring = input.ring();
    let mut block = Block::boxed();
    for chunk in ring.chunks().into_iter().filter(|chunk| chunk.may_hold_marks()) {
        for place in ring.places_of(chunk.index) {
            if ring.load(place, &mut block) {
                for mark in block.marks().filter(|mark| matches!(mark.mark, Mark::Sent | Mark::Remote)) {
                    each(mark.mark, mark.words[0], block.head.base.saturating_add(mark.start));
                }
            }
        }
    }
}
