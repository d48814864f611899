//! Arguments, return values and labels as bytes: kind, cut (0 or 1), length of the name, length of
//! the value (16 bits, little endian), then name and value.
//!
//! Arguments and returned values have the same marks, which name their event. A second layout
//! behind an event would need a second reader.

/// Bytes before the name.
pub const HEAD: usize = 5;

/// The kind of a detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum DetailKind {
    /// An argument of the call.
    Argument = 0,
    /// The returned value.
    Return = 1,
    /// A text from an instrumenter.
    Label = 2,
}

/// A detail by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The kind.
    pub kind: DetailKind,
    /// The argument's name; empty for a return value.
    pub name: String,
    /// The value, in its `Debug` form.
    pub value: String,
    /// True if the value was cut or is incomplete.
    pub cut: bool,
}

/// The bytes before the name of a detail.
pub const fn head(kind: DetailKind, is_cut: bool, name: u8, value: u16) -> [u8; HEAD] {
    let [low, high] = value.to_le_bytes();
    [kind as u8, is_cut as u8, name, low, high]
}

/// The length in bytes of the detail at the beginning of `bytes`, head included. `None` if the
/// bytes are shorter than a head.
pub const fn length(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [_, _, name, low, high, ..] => {
            Some(HEAD + *name as usize + u16::from_le_bytes([*low, *high]) as usize)
        }
        _ => None,
    }
}

/// Parses details. Invalid bytes end the list.
pub fn read(mut bytes: &[u8]) -> Vec<Detail> {
    let mut details = Vec::new();
    while let [kind, cut, name, low, high, rest @ ..] = bytes {
        let name = *name as usize;
        let value = u16::from_le_bytes([*low, *high]).into();
        let Some((name, rest)) = rest.split_at_checked(name) else { break };
        let Some((value, rest)) = rest.split_at_checked(value) else { break };
        let kind = match kind {
            0 => DetailKind::Argument,
            1 => DetailKind::Return,
            _ => DetailKind::Label,
        };
        details.push(Detail {
            kind,
            name: String::from_utf8_lossy(name).into_owned(),
            value: String::from_utf8_lossy(value).into_owned(),
            cut: *cut != 0,
        });
        bytes = rest;
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(detail: &Detail) -> Vec<u8> {
        let name = detail.name.as_bytes();
        let value = detail.value.as_bytes();
        let head = head(detail.kind, detail.cut, name.len() as u8, value.len() as u16);
        [&head, name, value].concat()
    }

    fn details() -> Vec<Detail> {
        let of = |kind, name: &str, value: String, cut| Detail {
            kind,
            name: name.to_owned(),
            value,
            cut,
        };
        vec![
            of(DetailKind::Argument, "size", "7".to_owned(), false),
            of(DetailKind::Return, "", "x".repeat(300), true),
            of(DetailKind::Label, "state", String::new(), false),
        ]
    }

    #[test]
    fn details_are_read_as_they_were_written() {
        let bytes: Vec<Vec<u8>> = details().iter().map(bytes_of).collect();
        for one in &bytes {
            assert_eq!(length(&[one.as_slice(), b"behind"].concat()), Some(one.len()));
        }
        assert_eq!(read(&bytes.concat()), details());
    }

    #[test]
    fn details_that_were_cut_anywhere_keep_the_ones_before() {
        let bytes: Vec<Vec<u8>> = details().iter().map(bytes_of).collect();
        let all = bytes.concat();
        let mut ends = vec![0];
        ends.extend(bytes.iter().scan(0, |end, one| {
            *end += one.len();
            Some(*end)
        }));
        for cut in 0..=all.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
            assert_eq!(read(&all[..cut]), details()[..whole], "cut at {cut}");
            assert_eq!(length(&all[..cut]).is_some(), cut >= HEAD);
        }
    }
}
