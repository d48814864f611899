//! Slot 0 of a block: its lane, epoch, base tick and lap.

use crate::{high, join, low};

/// Word of the block's sequence, which is also the block's seqlock. 0 while the block is empty or
/// being reused.
pub const SEQUENCE: usize = 0;
/// Word of the lane (low 32 bits) and of the epoch (high 32 bits).
pub const LANE_EPOCH: usize = 1;
/// Word of the base tick. Starts in this block count from it.
pub const BASE: usize = 2;
/// Word of the number of events that the lane lost between its previous block and this one, with
/// the mark [`KEPT`].
pub const LOST_BEFORE: usize = 3;
/// The mark, at [`LOST_BEFORE`], of a block that a folder has left some events of, because they are
/// kept. The others are folded, and their slots are marks
/// ([`Mark::Folded`](crate::slot::Mark::Folded)).
pub const KEPT: u64 = 1 << 63;

/// The place of the block with this sequence, in a ring of `blocks` places.
#[inline(always)]
pub const fn place(sequence: u64, blocks: u64) -> u64 {
    sequence % blocks
}

/// The sequence of `place` in `lap`. Laps begin at 1, so no sequence is 0.
#[inline(always)]
pub const fn sequence(lap: u64, place: u64, blocks: u64) -> u64 {
    lap * blocks + place
}

/// The lap as slots carry it: 1 to 255, because 0 is an empty slot.
#[inline(always)]
pub const fn lap_byte(sequence: u64, blocks: u64) -> u8 {
    ((sequence / blocks - 1) % 255 + 1) as u8
}

/// Lane and epoch in one word.
#[inline(always)]
pub const fn lane_epoch(lane: u32, epoch: u32) -> u64 {
    join(lane, epoch)
}

/// The lane in the word of lane and epoch.
#[inline(always)]
pub const fn lane(lane_epoch: u64) -> u32 {
    low(lane_epoch)
}

/// The number of lost events in its word.
#[inline(always)]
pub const fn lost_before(word: u64) -> u64 {
    word & !KEPT
}

/// True if the word of lost events marks a block that keeps only some of its events.
#[inline(always)]
pub const fn is_kept(word: u64) -> bool {
    word & KEPT != 0
}

/// The epoch in the word of lane and epoch.
#[inline(always)]
pub const fn epoch(lane_epoch: u64) -> u32 {
    high(lane_epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_goes_round_lap_by_lap() {
        for blocks in [1, 3, 64] {
            // A naive ring: the next block takes the next place, and a lap ends behind the last
            // one.
            let mut at = 0;
            let mut lap = 1;
            let mut byte = 1;
            for number in blocks..blocks * 600 {
                assert_eq!(sequence(lap, at, blocks), number);
                assert_eq!(
                    (place(number, blocks), lap_byte(number, blocks)),
                    (at, byte),
                    "{number} of {blocks}"
                );
                at += 1;
                if at == blocks {
                    (at, lap, byte) = (0, lap + 1, if byte == 255 { 1 } else { byte + 1 });
                }
            }
        }
    }

    #[test]
    fn lane_and_epoch_stand_apart() {
        for (of, in_epoch) in
            [(0, 0), (7, 9), (u32::MAX, 0), (0, u32::MAX), (0xABCD_0123, 0x4567_89EF)]
        {
            let word = lane_epoch(of, in_epoch);
            assert_eq!((lane(word), epoch(word)), (of, in_epoch));
        }
    }
}
