//! The receiver answers for any bytes from a pipe.

use std::io::{self, Read};

use proptest::prelude::*;

use super::cases;
use super::recording::{read_everything, rich};
use crate::stream::{Receiver, Sender};
use metaspy_format::slot::Mark;
use metaspy_format::stream::{Frame, Head};

/// Builds a stream of two rounds and its end.
fn sound() -> Vec<u8> {
    let mut writer = rich();
    let mut bytes = Vec::new();
    let mut sender = Sender::new(writer.store(), &mut bytes).expect("a vector takes all");
    sender.round().expect("a vector takes all");
    writer.mark(0, 900_003, Mark::Gap, [1, 2, 3]);
    writer.entry(metaspy_format::arena::Entry::Label, 1, &[5], &["later"]);
    sender.round().expect("a vector takes all");
    drop(sender);
    bytes.extend(Head { kind: Frame::End as u8, words: 0, span: 0 }.pack().to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    bytes
}

/// A pipe that hands out its bytes in pieces of these sizes.
struct Pieces<'b> {
    bytes: &'b [u8],
    sizes: Vec<usize>,
    turn: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size =
            self.sizes.get(self.turn % self.sizes.len().max(1)).copied().unwrap_or(usize::MAX);
        self.turn += 1;
        let taken = size.max(1).min(buffer.len()).min(self.bytes.len());
        buffer[..taken].copy_from_slice(&self.bytes[..taken]);
        self.bytes = &self.bytes[taken..];
        Ok(taken)
    }
}

/// Receives these bytes, and reads everything that has arrived.
fn receive(bytes: &[u8], sizes: Vec<usize>) {
    if let Ok((receiver, store)) = Receiver::start(Pieces { bytes, sizes, turn: 0 }) {
        receiver.run();
        read_everything(&store);
    }
}

#[test]
fn a_sound_stream_survives_the_questions_of_these_tests() {
    receive(&sound(), vec![7, 4096, 1]);
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn changed_bytes_neither_panic_the_receiver_nor_hold_it_up(
        early in prop::collection::vec((8_usize..6_000, any::<u8>()), 0..6),
        late in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        sizes in prop::collection::vec(1_usize..9_000, 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = sound();
        early.into_iter().for_each(|(at, byte)| bytes[at] = byte);
        for (at, byte) in late {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let end = cut.map_or(bytes.len(), |cut| cut.index(bytes.len()));
        receive(&bytes[..end], sizes);
    }

    #[test]
    fn repeated_and_swapped_pieces_are_no_danger(
        pieces in prop::collection::vec((any::<prop::sample::Index>(), 1_usize..40_000), 1..6),
    ) {
        let bytes = sound();
        // The header must be sound for the rest to be read.
        let mut mixed = bytes[..4096].to_vec();
        for (from, length) in pieces {
            let from = from.index(bytes.len()) / 8 * 8;
            mixed.extend(&bytes[from..(from + length / 8 * 8).min(bytes.len())]);
        }
        receive(&mixed, vec![]);
    }
}
