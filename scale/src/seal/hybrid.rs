//! Small numbers in few bits, in Parquet's hybrid of runs and packed bits.

/// The shortest run that is written as a run.
const RUN: usize = 16;
/// Numbers that are packed together.
const PACK: usize = 8;

/// The bits that hold all numbers up to this one.
pub fn width(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

/// Appends numbers of at most `width` bits.
pub fn encode(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    let mut packed = 0;
    let mut at = 0;
    while at < numbers.len() {
        let run = run_at(numbers, at);
        if run >= RUN {
            pack(&numbers[packed..at], width, out);
            encode_run(numbers[at], run, width, out);
            at += run;
            packed = at;
        } else {
            at = numbers.len().min(at + PACK);
        }
    }
    pack(&numbers[packed..], width, out);
}

/// Appends a run of a number.
pub fn encode_run(number: u32, length: usize, width: u32, out: &mut Vec<u8>) {
    varint((length as u64) << 1, out);
    out.extend_from_slice(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
}

/// The length of the run at an index.
fn run_at(numbers: &[u32], at: usize) -> usize {
    numbers[at..].iter().take_while(|number| **number == numbers[at]).count()
}

/// Appends the bits of some numbers, and zeros up to a multiple of eight.
fn pack(numbers: &[u32], width: u32, out: &mut Vec<u8>) {
    if numbers.is_empty() {
        return;
    }
    let packs = numbers.len().div_ceil(PACK);
    varint((packs as u64) << 1 | 1, out);
    let end = out.len() + packs * width as usize;
    let mut bits = 0_u64;
    let mut held = 0;
    for number in numbers {
        bits |= u64::from(*number) << held;
        held += width;
        if held >= u32::BITS {
            out.extend_from_slice(&(bits as u32).to_le_bytes());
            bits >>= u32::BITS;
            held -= u32::BITS;
        }
    }
    out.extend_from_slice(&bits.to_le_bytes()[..held.div_ceil(8) as usize]);
    out.resize(end, 0);
}

/// Appends a number in groups of seven bits, the lowest first.
pub fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
