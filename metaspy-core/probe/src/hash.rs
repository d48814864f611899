//! Multiplicative hashing: the one constant, and the one way to use it.

/// The constant: 2^64 divided by the golden ratio, made odd.
pub const SCATTERING: u64 = 0x9E37_79B9_7F4A_7C15;

/// Scatters the bits of a word: dense and aligned numbers spread over the *high* bits of the
/// result.
///
/// This is Fibonacci hashing. Take the high bits as index: [`bucket`] does.
#[inline(always)]
pub const fn scatter(word: u64) -> u64 {
    word.wrapping_mul(SCATTERING)
}

/// The index of a word in a table of `1 << bits` places, with `bits` from 1 to 32.
#[inline(always)]
pub const fn bucket(word: u64, bits: u32) -> usize {
    (scatter(word) >> (64 - bits)) as usize
}
