//! Events and lanes by number.

use std::error::Error;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use crate::BLOCK_SLOTS;

/// The id of an event, which is its place in the recording. Ids are never reused, and not dense.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(NonZeroU64);

impl EventId {
    /// The id of `slot` in the block with this `sequence`.
    #[inline(always)]
    pub const fn new(sequence: u64, slot: u64) -> Option<Self> {
        Self::from_raw(sequence * BLOCK_SLOTS as u64 + slot)
    }

    /// An id from its number; 0 is none.
    #[inline(always)]
    pub const fn from_raw(raw: u64) -> Option<Self> {
        match NonZeroU64::new(raw) {
            Some(raw) => Some(EventId(raw)),
            None => None,
        }
    }

    /// The number.
    #[inline(always)]
    pub const fn raw(self) -> u64 {
        self.0.get()
    }

    /// The sequence of its block.
    #[inline(always)]
    pub const fn sequence(self) -> u64 {
        self.raw() / BLOCK_SLOTS as u64
    }

    /// Its slot in the block, 1 to 127.
    #[inline(always)]
    pub const fn slot(self) -> usize {
        (self.raw() % BLOCK_SLOTS as u64) as usize
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Prints sequence and slot: `77.3`.
impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.sequence(), self.slot())
    }
}

/// Parses sequence and slot: `77.3`.
impl FromStr for EventId {
    type Err = ParseEventIdError;

    fn from_str(text: &str) -> Result<Self, ParseEventIdError> {
        let (sequence, slot) = text.trim().split_once('.').ok_or(ParseEventIdError)?;
        let number = |digits: &str| digits.parse::<u64>().map_err(|_| ParseEventIdError);
        let sequence = number(sequence)?;
        let slot = number(slot)?;
        let is_place = (1..BLOCK_SLOTS as u64).contains(&slot) && (1..1 << 56).contains(&sequence);
        if is_place {
            EventId::new(sequence, slot).ok_or(ParseEventIdError)
        } else {
            Err(ParseEventIdError)
        }
    }
}

/// The error of a text that is no id of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseEventIdError;

impl fmt::Display for ParseEventIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event is named by its place, such as 77.3: a block, a point, and a slot from 1 to 127")
    }
}

impl Error for ParseEventIdError {}

/// A lane: the events begun on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId(pub u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_place_of_its_event() {
        let mut ids = Vec::new();
        for sequence in [1, 2, 77, 1 << 40] {
            for slot in 1..BLOCK_SLOTS {
                let id = EventId::new(sequence, slot as u64).expect("no sequence is 0");
                assert_eq!(
                    (id.sequence(), id.slot(), EventId::from_raw(id.raw())),
                    (sequence, slot, Some(id))
                );
                assert_eq!(id.to_string().parse(), Ok(id));
                ids.push(id);
            }
        }
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "later places have larger ids");
        assert_eq!((EventId::new(0, 0), EventId::from_raw(0)), (None, None));
        let id = EventId::new(77, 3).expect("it is not 0");
        assert_eq!((format!("{id}"), format!("{id:?}")), ("77.3".to_owned(), "77.3".to_owned()));
        for text in
            ["", "77", "77.", "77.0", "77.128", "0.3", "-1.3", "18446744073709551615.3", "7.3.1"]
        {
            assert_eq!(text.parse::<EventId>(), Err(ParseEventIdError), "{text}");
        }
    }
}
