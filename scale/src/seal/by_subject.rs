//! The order of a row group: by subject, and the events of a subject in their order.

use metaspy_probe::Subject;
use metaspy_reader::Event;

/// The lowest bit of the key of a subject. The place is below it, the kind above the key.
const KEY: u32 = 32;
/// The lowest bit of the kind.
const KIND: u32 = 96;
/// The bit after the kind.
const END: u32 = 112;
/// Bits that are sorted at once.
const DIGIT: u32 = 8;

/// The places of events, by subject.
pub fn by_subject(events: &[Event]) -> Vec<u32> {
    let numbers = events.iter().zip(0_u32..).map(|(event, place)| {
        let Subject { kind, key } = event.subject.unwrap_or(Subject::NONE);
        u128::from(kind.0) << KIND | u128::from(key) << KEY | u128::from(place)
    });
    sorted(numbers.collect()).into_iter().map(|number| number as u32).collect()
}

/// Numbers by their bits from `KEY` on. Equal ones keep their order.
///
/// Most keys are small, and most groups have one kind, so few digits differ. A pass for each of
/// them takes less time than comparisons.
fn sorted(mut numbers: Vec<u128>) -> Vec<u128> {
    let first = numbers.first().copied().unwrap_or(0);
    let differing = numbers.iter().fold(0, |bits, number| bits | (number ^ first));
    let mut next = vec![0; numbers.len()];
    for at in (KEY..END).step_by(DIGIT as usize) {
        let digit = |number: u128| (number >> at) as usize % (1 << DIGIT);
        if digit(differing) == 0 {
            continue;
        }
        let mut ends = [0; 1 << DIGIT];
        numbers.iter().for_each(|number| ends[digit(*number)] += 1);
        let mut before = 0;
        for count in &mut ends {
            before += std::mem::replace(count, before);
        }
        for number in &numbers {
            let place = &mut ends[digit(*number)];
            next[*place] = *number;
            *place += 1;
        }
        std::mem::swap(&mut numbers, &mut next);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_sorted_by_kind_and_key_and_keep_their_order() {
        let numbers = |keys: &[(u16, u64)]| -> Vec<u128> {
            let number = |((kind, key), place): (&(u16, u64), u32)| {
                u128::from(*kind) << KIND | u128::from(*key) << KEY | u128::from(place)
            };
            keys.iter().zip(0..).map(number).collect()
        };
        for keys in [
            &[][..],
            &[(1, 5)],
            &[(1, 5), (1, 5), (1, 4), (1, 5)],
            &[
                (2, 0),
                (u16::MAX, u64::MAX),
                (1, u64::MAX),
                (1, 1 << 40),
                (0, 0),
                (256, 7),
                (1, 255),
                (1, 256),
            ],
        ] {
            let mut expected = numbers(keys);
            expected.sort_unstable();
            assert_eq!(sorted(numbers(keys)), expected);
        }
    }
}
