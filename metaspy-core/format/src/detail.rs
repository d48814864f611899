//! Arguments, return values and labels as bytes: kind, cut (0 or 1), length of the name, length of the value (16 bits,
//! little endian), then name and value.

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

/// The length in bytes of the detail at the beginning of `bytes`, head included. `None` if the bytes are shorter than a
/// head.
pub const fn length(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [_, _, name, low, high, ..] => Some(HEAD + *name as usize + u16::from_le_bytes([*low, *high]) as usize),
        _ => None,
    }
}

/// Parses details. Invalid bytes end the list.
pub fn read(mut bytes: &[u8]) -> Vec<Detail> {
    let mut details = Vec::new();
    while let [kind, cut, name, low, high, rest @ ..] = bytes {
        let (name, value) = (*name as usize, u16::from_le_bytes([*low, *high]).into());
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
