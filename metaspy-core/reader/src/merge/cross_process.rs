//! Messages from one of the recordings to another.

use std::collections::HashMap;

use crate::merge::clock::Crossing;
use crate::merge::remap::{Input, find_sender};
use crate::ring::blocks::Block;
use metaspy_format::slot::Mark;

/// Maximum number of sendings in memory. Further sendings use the start of the event, which is
/// earlier.
const SENT_MAX: usize = 1 << 20;
/// Maximum number of receipts in memory.
const RECEIVED_MAX: usize = 1 << 20;

/// Finds the messages between the inputs, and for each input a flag that is true if it received
/// any.
pub(super) fn crossings(inputs: &[Input]) -> (Vec<Crossing>, Vec<bool>) {
    let mut sent: HashMap<u64, u64> = HashMap::new();
    let mut received: Vec<(usize, u64, u64)> = Vec::new();
    let mut has_remote = vec![false; inputs.len()];
    for (at, input) in inputs.iter().enumerate() {
        each_mark(input, |mark, span, tick| match mark {
            // Every receipt is later than the first sending of an event.
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

/// Passes the marks of a recording about other processes to `each`: kind, span and tick.
fn each_mark(input: &Input, mut each: impl FnMut(Mark, u64, u64)) {
    let ring = input.ring();
    let mut block = Block::boxed();
    for chunk in ring.chunks().into_iter().filter(|chunk| chunk.may_hold_marks()) {
        for place in ring.places_of(chunk.index) {
            if ring.load(place, &mut block) {
                for mark in
                    block.marks().filter(|mark| matches!(mark.mark, Mark::Sent | Mark::Remote))
                {
                    each(mark.mark, mark.words[0], block.head.base.saturating_add(mark.start));
                }
            }
        }
    }
}
