//! Order of files by name.

use std::cmp::Ordering;
use std::path::PathBuf;

/// Sorts paths by name, and by number where they differ in a number, because the numbers of a
/// rotation have no fixed width.
pub fn sort_by_number(paths: &mut [PathBuf]) {
    paths.sort_by(|one, other| {
        let [one_name, other_name] = [one, other].map(|path| path.as_os_str().as_encoded_bytes());
        by_number(one_name, other_name).then_with(|| one.cmp(other))
    });
}

fn by_number(mut one: &[u8], mut other: &[u8]) -> Ordering {
    loop {
        let order = match (one.first(), other.first()) {
            (Some(b'0'..=b'9'), Some(b'0'..=b'9')) => {
                let [number, other_number] = [take_number(&mut one), take_number(&mut other)];
                number.len().cmp(&other_number.len()).then(number.cmp(other_number))
            }
            (Some(byte), Some(other_byte)) => {
                let order = byte.cmp(other_byte);
                (one, other) = (&one[1..], &other[1..]);
                order
            }
            _ => return one.len().cmp(&other.len()),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Takes the digits at the start, and returns them without leading zeros.
fn take_number<'b>(bytes: &mut &'b [u8]) -> &'b [u8] {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = bytes.split_at(length);
    *bytes = rest;
    let zeros = number.iter().take_while(|digit| **digit == b'0').count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_rotation_are_in_the_order_of_their_numbers() {
        let rotated = [
            "run.7.000002",
            "run.7.000010",
            "run.7.999999",
            "run.7.1000000",
            "run.12.000002",
            "run.a",
        ];
        let mut paths = rotated.map(PathBuf::from);
        paths.reverse();
        sort_by_number(&mut paths);
        assert_eq!(paths, rotated.map(PathBuf::from));
    }
}
