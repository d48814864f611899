//! Arguments and return values as text: bounded, cut and marked, never a reason to fail.

use std::any::Any;
use std::fmt::{self, Debug, Write};

use crate::format::detail::{self, HEAD};
pub use crate::format::detail::{Detail, DetailKind, read};
use crate::format::slot::DETAIL_MAX;
use crate::format::superblock as sb;
use crate::hook::handler::Open;
use crate::recorder::{self, Ran, with_patience};

/// Maximum number of bytes of one value; a longer value is cut and marked.
pub const VALUE_MAX: usize = 256;

/// Receives the receiver, the payload and the arguments of a call, if they are required.
#[derive(Default)]
pub struct Reify<'a> {
    pub(crate) receiver: Option<&'a dyn Any>,
    pub(crate) bytes: DetailBytes,
}

impl<'a> Reify<'a> {
    /// The receiver, for handlers that know its type.
    pub fn receiver(&mut self, receiver: &'a dyn Any) {
        self.receiver = Some(receiver);
    }

    /// A typed value that the event carries, for handlers that know its type:
    /// [`CallView::payload`](crate::hook::CallView::payload). An event has a receiver or a payload.
    pub fn payload(&mut self, payload: &'a dyn Any) {
        self.receiver = Some(payload);
    }

    /// An argument, by name.
    pub fn arg(&mut self, name: &str, value: &dyn Debug) {
        let code = name.as_ptr().addr() ^ size_of_val(value);
        self.value(name, &Patient { code, value });
    }

    /// An argument whose `Debug` rests where it is slow.
    pub(super) fn value(&mut self, name: &str, value: &dyn Debug) {
        self.bytes.push(DetailKind::Argument, name, value);
    }

    /// Arguments that were shown before.
    pub(super) fn shown(&mut self, shown: &Shown) {
        self.bytes.put(shown.0.as_deref().unwrap_or_default());
    }
}

/// A value of a program.
struct Patient<'a> {
    code: usize,
    value: &'a dyn Debug,
}

impl Debug for Patient<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ran = with_patience(self.code, || self.value.fmt(f));
        written(f, ran)
    }
}

/// Writes why a value is not shown. It is then marked as cut.
pub(super) fn written(f: &mut fmt::Formatter<'_>, ran: Ran<fmt::Result>) -> fmt::Result {
    f.write_str(match ran {
        Ran::Done(written) => return written,
        Ran::Panicked => PANICKED,
        Ran::Rested => "(its Debug takes too long)",
    })?;
    Err(fmt::Error)
}

const PANICKED: &str = " (its Debug panicked)";

/// The arguments of an async call, shown while they are still there: the call begins later, when it
/// is first polled.
#[derive(Debug, Default)]
pub struct Shown(Option<Box<[u8]>>);

impl Shown {
    /// Nothing.
    pub const NOTHING: Shown = Shown(None);

    pub(crate) fn of<'a>(reify: impl FnOnce(&mut Reify<'a>)) -> Shown {
        let mut reified = Reify::default();
        recorder::at_meta_level(|| reify(&mut reified));
        Shown(Some(reified.bytes.as_slice().into()))
    }
}

/// Receives the return value of an async call, if it is recorded.
pub struct Returned<'a>(Option<&'a mut Open>);

impl<'a> Returned<'a> {
    pub(super) fn of(open: Option<&'a mut Open>) -> Self {
        Returned(open)
    }

    /// The value.
    #[inline(always)]
    pub fn value(&mut self, value: &dyn Debug) {
        if let Some(open) = &mut self.0 {
            open.returns(value);
        }
    }

    /// The value, as it was shown while it was there.
    pub(crate) fn shown(&mut self, shown: Box<DetailBytes>) {
        if let Some(open) = &mut self.0 {
            open.returned(shown);
        }
    }
}

/// Details as bytes. Each: kind, cut (0 or 1), length of the name, length of the value (16 bits,
/// little endian), then name and value.
pub(crate) struct DetailBytes {
    bytes: [u8; DETAIL_MAX],
    len: usize,
}

impl Default for DetailBytes {
    fn default() -> Self {
        DetailBytes { bytes: [0; DETAIL_MAX], len: 0 }
    }
}

impl DetailBytes {
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Puts details here that were bytes before.
    fn put(&mut self, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(DETAIL_MAX)];
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        self.len = bytes.len();
    }

    /// Adds details that were bytes before, as many as there is room for.
    pub fn append(&mut self, mut bytes: &[u8]) {
        while let Some(one) = detail::length(bytes) {
            let (Some((one, rest)), room) = (bytes.split_at_checked(one), DETAIL_MAX - self.len)
            else {
                return;
            };
            if one.len() > room {
                return cut();
            }
            self.bytes[self.len..self.len + one.len()].copy_from_slice(one);
            self.len += one.len();
            bytes = rest;
        }
    }

    /// Adds a value by its `Debug`; a panic in that is caught, and noted as the value.
    pub fn push(&mut self, kind: DetailKind, name: &str, value: &dyn Debug) {
        let name = &name[..name.floor_char_boundary(64)];
        let room = DETAIL_MAX - self.len;
        if room < HEAD + name.len() + 4 {
            return cut();
        }
        let from = self.len + HEAD + name.len();
        let limit = VALUE_MAX.min(DETAIL_MAX - from);
        let mut text = Bounded { bytes: &mut self.bytes[from..from + limit], len: 0, cut: false };
        let written = recorder::at_meta_level(|| write!(text, "{value:?}"));
        match written {
            Some(Ok(())) => {}
            Some(Err(_)) => text.cut = true,
            None => {
                let _ = text.write_str(PANICKED);
                text.cut = true;
            }
        }
        let len = text.len;
        let was_cut = text.cut;
        if was_cut {
            cut();
        }
        let head = detail::head(kind, was_cut, name.len() as u8, len as u16);
        self.bytes[self.len..self.len + HEAD].copy_from_slice(&head);
        self.bytes[self.len + HEAD..from].copy_from_slice(name.as_bytes());
        self.len = from + len;
    }
}

fn cut() {
    if let Some(log) = crate::recorder::current() {
        log.count(sb::DETAILS_CUT, 1);
    }
}

/// Text of limited length. Writing beyond the limit ends the formatting, so a value of 100 MB costs
/// no more than the part that fits.
struct Bounded<'a> {
    bytes: &'a mut [u8],
    len: usize,
    cut: bool,
}

impl Write for Bounded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            // A `Debug` that ignores errors continues: nothing is written behind the cut.
            return Err(fmt::Error);
        }
        let room = self.bytes.len() - self.len;
        let fits = &text[..text.floor_char_boundary(room)];
        self.bytes[self.len..self.len + fits.len()].copy_from_slice(fits.as_bytes());
        self.len += fits.len();
        if fits.len() < text.len() {
            self.cut = true;
            return Err(fmt::Error);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    struct Endless;
    impl Debug for Endless {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            loop {
                f.write_str("on and on, ")?;
            }
        }
    }

    struct Bomb;
    impl Debug for Bomb {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("no debugging here")
        }
    }

    #[test]
    fn values_are_cut_marked_and_survive_a_panicking_debug() {
        let mut bytes = DetailBytes::default();
        bytes.push(DetailKind::Argument, "a", &17);
        bytes.push(DetailKind::Argument, "endless", &Endless);
        bytes.push(DetailKind::Return, "", &Bomb);
        let details = read(bytes.as_slice());
        assert_eq!(
            (details[0].name.as_str(), details[0].value.as_str(), details[0].cut),
            ("a", "17", false)
        );
        assert_eq!((details[1].value.len() <= VALUE_MAX, details[1].cut), (true, true));
        assert_eq!((details[2].kind, details[2].cut), (DetailKind::Return, true));
    }

    #[test]
    fn a_debug_that_is_always_slow_runs_now_and_then() {
        struct Slow(Cell<u32>);
        impl Debug for Slow {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.set(self.0.get() + 1);
                std::thread::sleep(Duration::from_millis(1));
                f.write_str("slow")
            }
        }
        let slow = Slow(Cell::new(0));
        let mut texts = Vec::new();
        for _ in 0..1_000 {
            let mut reify = Reify::default();
            reify.arg("slow", &slow);
            reify.arg("quick", &7);
            let details = read(reify.bytes.as_slice());
            assert_eq!((details[1].value.as_str(), details[1].cut), ("7", false));
            texts.push((details[0].value.clone(), details[0].cut));
        }
        assert!(slow.0.get() < 100, "{}", slow.0.get());
        assert_eq!(texts.first(), Some(&("slow".to_owned(), false)));
        assert_eq!(texts.last(), Some(&("(its Debug takes too long)".to_owned(), true)));
    }

    #[test]
    fn details_that_do_not_fit_are_left_out() {
        let mut bytes = DetailBytes::default();
        for _ in 0..100 {
            bytes.push(DetailKind::Argument, "name", &"0123456789".repeat(100));
        }
        assert!(bytes.as_slice().len() <= DETAIL_MAX);
        assert!(read(bytes.as_slice()).iter().all(|detail| detail.cut));
    }
}
