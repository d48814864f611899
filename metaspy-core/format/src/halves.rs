//! Two 32-bit numbers in one word. Many words of a recording are such pairs.

/// The word with these low and high halves.
#[inline(always)]
pub const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// The low half of a word.
#[inline(always)]
pub const fn low(word: u64) -> u32 {
    word as u32
}

/// The high half of a word.
#[inline(always)]
pub const fn high(word: u64) -> u32 {
    (word >> 32) as u32
}
