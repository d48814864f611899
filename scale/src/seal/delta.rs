//! Numbers as differences in few bits: Parquet's `DELTA_BINARY_PACKED`.

use super::hybrid::varint;

/// Differences of a block, which share the least one.
const BLOCK: usize = MINI_BLOCK * MINI_BLOCKS;
/// Differences that have the same number of bits.
const MINI_BLOCK: usize = 64;
const MINI_BLOCKS: usize = 4;

/// Appends numbers. Differences wrap around.
pub fn encode(numbers: &[i64], out: &mut Vec<u8>) {
    varint(BLOCK as u64, out);
    varint(MINI_BLOCKS as u64, out);
    varint(numbers.len() as u64, out);
    varint(zigzag(numbers.first().copied().unwrap_or(0)), out);
    let mut from = 0;
    while from + 1 < numbers.len() {
        let count = BLOCK.min(numbers.len() - from - 1);
        let mut differences = [0; BLOCK];
        for (difference, pair) in
            differences.iter_mut().zip(numbers[from..=from + count].windows(2))
        {
            *difference = pair[1].wrapping_sub(pair[0]);
        }
        encode_block(&differences[..count], out);
        from += count;
    }
}

fn encode_block(differences: &[i64], out: &mut Vec<u8>) {
    let least = differences.iter().copied().min().unwrap_or(0);
    varint(zigzag(least), out);
    let widths = out.len();
    out.extend_from_slice(&[0; MINI_BLOCKS]);
    for (at, part) in differences.chunks(MINI_BLOCK).enumerate() {
        // Numbers from 0 on; the rest of the last part is zeros.
        let mut above = [0; MINI_BLOCK];
        above
            .iter_mut()
            .zip(part)
            .for_each(|(above, difference)| *above = difference.wrapping_sub(least) as u64);
        let width = u64::BITS - above.iter().fold(0, |bits, above| bits | above).leading_zeros();
        out[widths + at] = width as u8;
        pack(&above, width, out);
    }
}

/// Appends the bits of some numbers: as many words as there are bits.
fn pack(numbers: &[u64; MINI_BLOCK], width: u32, out: &mut Vec<u8>) {
    let mut words = [0; MINI_BLOCK];
    let mut bits = 0_u128;
    let mut held = 0;
    let mut full = 0;
    for number in numbers {
        bits |= u128::from(*number) << held;
        held += width;
        if held >= u64::BITS {
            words[full] = bits as u64;
            full += 1;
            bits >>= u64::BITS;
            held -= u64::BITS;
        }
    }
    words[..full].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
}

/// Small numbers for those near 0.
fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_grow_evenly_take_no_bits() {
        let mut out = Vec::new();
        encode(&[7, 10, 13, 16], &mut out);
        // 256 differences in 4 parts, 4 numbers, the first is 7; the least difference is 3, and no
        // part has bits.
        assert_eq!(out, [0x80, 2, 4, 4, 14, 6, 0, 0, 0, 0]);
    }

    #[test]
    fn a_part_has_the_bits_of_its_greatest_difference() {
        let mut out = Vec::new();
        encode(&[0, 5, 5, 4], &mut out);
        // Differences of 5, 0, -1 are 6, 1, 0 above the least: 3 bits each, 64 of them.
        assert_eq!(&out[..10], [0x80, 2, 4, 4, 0, 1, 3, 0, 0, 0]);
        assert_eq!((out[10], out.len()), (0b001_110, 10 + 24));
    }
}
