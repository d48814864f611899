//! Events outside their process: W3C `traceparent` has 64 bits for a span and 128 for a trace.
//!
//! The number of a span is the id of the event, mixed with a random word of the recording. The mix
//! can be undone, while a random number would need a table to find the event behind a
//! `traceparent`. Two recordings hardly ever have the same number.

/// The word of a recording ([`super::superblock::SPAN_WORD`]) from a random word. Its highest bit
/// is set. Ids do not have this bit, so no span is 0.
pub const fn recording_word(random: u64) -> u64 {
    random | 1 << 63
}

/// The number of a trace from its halves.
pub const fn trace(high: u64, low: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

/// The high and the low half of a trace's number.
pub const fn trace_halves(trace: u128) -> (u64, u64) {
    ((trace >> 64) as u64, trace as u64)
}

/// The span of an event, by the recording's word ([`super::superblock::SPAN_WORD`]).
pub const fn of_event(event: u64, word: u64) -> u64 {
    // The last steps of splitmix64. Each is reversible.
    let mut z = event ^ word;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// The event of a span, if the span belongs to the recording with this word.
pub const fn event(span: u64, word: u64) -> u64 {
    let mut z = span;
    z = (z ^ z >> 31 ^ z >> 62).wrapping_mul(0x3196_42B2_D24D_8EC3);
    z = (z ^ z >> 27 ^ z >> 54).wrapping_mul(0x96DE_1B17_3F11_9089);
    (z ^ z >> 30 ^ z >> 60) ^ word
}

/// The trace that begins with a root event, by the recording's word
/// ([`super::superblock::TRACE_WORD`]); never 0.
pub const fn trace_of_root(root: u64, word: u64) -> u128 {
    trace(word, of_event(root, word) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_has_two_halves() {
        assert_eq!(trace_halves(trace(7, 9)), (7, 9));
        assert_eq!(trace_halves(trace_of_root(3, 8)).0, 8);
    }

    #[test]
    fn the_event_of_a_span_is_found_again() {
        let word = 0x8123_4567_89AB_CDEF;
        for id in (1..10_000_u64).chain([u64::MAX, 1 << 63, 1 << 40]) {
            let span = of_event(id, word);
            assert_eq!(event(span, word), id);
            assert_ne!(span, of_event(id ^ 2, word));
        }
    }
}
