//! The word of a call that is an event and nothing else.

use crate::Outcome;

/// The call was only counted.
pub const COUNTED: usize = 1;
/// The outcome that a counted call announced.
pub const ANNOUNCED: usize = 7 << 1;

/// All that a guard holds of a call that is an event and nothing else: the number of the event's
/// log, the event's id, and marks. The event's slot has the rest.
///
/// ```text
/// log 8 | id 48 | spare 1, timed 1, spare 1, announced outcome 3, lean 1, counted 1 (0)
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lean(u64);

impl Lean {
    const LEAN: u64 = 1 << 1;
    /// Where the announced outcome is.
    #[doc(hidden)]
    pub const ANNOUNCED_AT: u32 = 2;
    /// The mark of a word whose event is timed.
    #[doc(hidden)]
    pub const TIMED: u64 = 1 << 6;
    const ID_AT: u32 = 8;
    const LOG_AT: u32 = 56;
    /// The bits of an id that state its slot in the block.
    const SLOT_BITS: u32 = 7;

    /// Returns the bits that the words of all events in a log share.
    #[inline(always)]
    pub const fn of_log(log: u8) -> u64 {
        (log as u64) << Self::LOG_AT | Self::LEAN
    }

    /// The word of an event in the log that `common` is of.
    #[inline(always)]
    pub const fn new(common: u64, id: u64, timed: bool) -> Self {
        Lean(common | id << Self::ID_AT | if timed { Self::TIMED } else { 0 })
    }

    /// The same call, with the outcome of an early way out that is about to be taken.
    #[inline(always)]
    pub const fn announcing(self, outcome: Outcome) -> Self {
        Lean(self.0 & !(7 << Self::ANNOUNCED_AT) | (outcome as u64) << Self::ANNOUNCED_AT)
    }

    /// Returns the pointer that [`Adapter::enter`](crate::Adapter::enter) returns for such a call.
    /// Only where an address has 64 bits.
    #[inline(always)]
    pub const fn into_raw(self) -> *mut u8 {
        core::ptr::without_provenance_mut(self.0 as usize)
    }

    /// Returns the word in a pointer that [`Adapter::enter`](crate::Adapter::enter) returned;
    /// `None` if the pointer is a frame or a row.
    #[inline(always)]
    pub fn from_raw(begun: *mut u8) -> Option<Self> {
        let word = begun.addr() as u64;
        (word & (Self::LEAN | COUNTED as u64) == Self::LEAN).then_some(Lean(word))
    }

    /// The id of the event.
    #[inline(always)]
    pub const fn id(self) -> u64 {
        self.0 << (64 - Self::LOG_AT) >> (64 - Self::LOG_AT + Self::ID_AT)
    }

    /// The number of its log.
    #[inline(always)]
    pub const fn log(self) -> u8 {
        (self.0 >> Self::LOG_AT) as u8
    }

    /// Its log and its block, as [`Lean::block_of`].
    #[inline(always)]
    pub const fn block(self) -> u64 {
        self.0 >> (Self::ID_AT + Self::SLOT_BITS)
    }

    /// A block in a log, as one word.
    #[inline(always)]
    pub const fn block_of(log: u8, sequence: u64) -> u64 {
        Lean::new(Lean::of_log(log), sequence << Self::SLOT_BITS, false).block()
    }

    /// True if its time is measured.
    #[inline(always)]
    pub const fn is_timed(self) -> bool {
        self.0 & Self::TIMED != 0
    }

    /// The outcome that was announced; *returned* if there was none.
    #[inline(always)]
    pub const fn announced(self) -> Outcome {
        match Outcome::from_bits((self.0 >> Self::ANNOUNCED_AT) as u8) {
            Outcome::Running => Outcome::Returned,
            announced => announced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_its_parts_apart() {
        let log = 255;
        let sequence = (1 << 38) - 1;
        let slot = 127;
        let id = sequence * 128 + slot;
        let lean = Lean::new(Lean::of_log(log), id, true);
        assert_eq!((lean.id(), lean.log(), lean.is_timed()), (id, log, true));
        assert_eq!(
            (lean.block(), lean.announced()),
            (Lean::block_of(log, sequence), Outcome::Returned)
        );
        let marked = lean.announcing(Outcome::Succeeded).announcing(Outcome::Failed);
        assert_eq!((marked.id(), marked.log(), marked.is_timed()), (id, log, true));
        assert_eq!((marked.announced(), marked.block()), (Outcome::Failed, lean.block()));
        assert!(!Lean::new(Lean::of_log(log), id, false).is_timed());
        assert_ne!(lean.block(), Lean::block_of(254, sequence));
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn frames_and_rows_are_no_lean_calls() {
        let lean = Lean::new(Lean::of_log(1), 129, true);
        assert_eq!(Lean::from_raw(lean.into_raw()), Some(lean));
        assert_eq!(
            Lean::from_raw(lean.announcing(Outcome::Moved).into_raw()).map(Lean::id),
            Some(129)
        );
        let mut frame = [0_u64; 8];
        assert_eq!(Lean::from_raw(frame.as_mut_ptr().cast()), None);
        for marks in [COUNTED, COUNTED | crate::ANNOUNCED] {
            assert_eq!(Lean::from_raw(core::ptr::without_provenance_mut(4096 | marks)), None);
        }
        assert_eq!(Lean::from_raw(core::ptr::null_mut()), None);
    }
}
