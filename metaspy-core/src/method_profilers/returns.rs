//! Methods that always return the same: nothing, the receiver, or one value for each receiver
//! (Execution profiling blueprints, section 4.2).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};

use metaspy_probe::{Identity, Kept, Value};

use crate::method_profilers::{Call, CallEnd, Facts};
use crate::platform::signal_mask::may_be_in_handler;
use crate::recorder::with_patience;

/// The values that a method returned. Values that are copied as bytes, and texts and lists of such
/// values, are compared by `PartialEq`. Others are compared by their `Hash`, because the program
/// could notice a copy. For at most a hundred receivers the first value is kept. In a signal
/// handler no value is kept, so a first value there is not comparable.
#[derive(Default)]
pub struct Returns {
    state: AtomicU8,
    /// The first value of each receiver; allocated at the first one. A cell is filled once, so
    /// threads do not contend.
    first: OnceLock<Box<[Cell]>>,
    used: AtomicUsize,
}

#[derive(Default)]
struct Cell {
    /// The receiver; 0 = free.
    receiver: AtomicU64,
    value: OnceLock<Box<First>>,
}

/// The largest number of receivers, and the number of cells.
const MOST: usize = 100;
const CELLS: usize = 128;

/// Bits of the state.
const SEEN: u8 = 1;
/// A value differed from an earlier one.
const VARIES: u8 = 2;
/// A value cannot be compared.
const OPAQUE: u8 = 4;
/// A value was not the receiver.
const NOT_SELF: u8 = 8;
/// A receiver was called twice.
const REPEATED: u8 = 16;

enum First {
    Kept(Kept),
    Hash(u64),
    Nothing,
}

impl Returns {
    /// The verdicts, each stronger than those before it: of several processes, the strongest is
    /// that of all.
    pub const NAMES: [&'static str; 6] =
        ["unit", "self", "once", "constant", "not-comparable", "varies"];

    /// Compares the value that a call returned with earlier ones, if it is seen. True if the
    /// verdict may be another one now.
    pub fn see(&self, call: &Call<'_>, end: &CallEnd<'_>) -> bool {
        let Some(value) = end.returned() else { return false };
        let state = self.state.load(Ordering::Relaxed);
        // Further values cannot change the verdict.
        if state & (VARIES | OPAQUE) != 0 {
            return false;
        }
        let mut add = SEEN;
        if !is_receiver(call, value) {
            add |= NOT_SELF;
        }
        if (state | add) & NOT_SELF != 0 {
            // The code that compares, hashes or copies a value is the program's own.
            add |=
                with_patience(value.kind(), || self.compare(call, value)).done().unwrap_or(OPAQUE);
        }
        state | add != state && self.state.fetch_or(add, Ordering::Relaxed) | add != state
    }

    fn compare(&self, call: &Call<'_>, value: &Value<'_>) -> u8 {
        // Cells and kept values take memory, and a signal handler must not allocate. A value that
        // it cannot keep is not comparable.
        let receiver = call.identity().unwrap_or(1).max(1);
        if self.used.load(Ordering::Relaxed) < MOST && !self.knows(receiver) && may_be_in_handler()
        {
            return OPAQUE;
        }
        let Some(cell) = self.cell(receiver) else { return 0 };
        match cell.value.get().map(Box::as_ref) {
            None => cell.remember(value),
            Some(First::Nothing) => OPAQUE | REPEATED,
            Some(First::Kept(kept)) if value.is(kept) => REPEATED,
            Some(First::Hash(hash)) if value.hash() == Some(*hash) => REPEATED,
            Some(_) => VARIES | REPEATED,
        }
    }

    /// True if the first value of a receiver is kept already.
    fn knows(&self, receiver: u64) -> bool {
        let Some(cells) = self.first.get() else { return false };
        let mut places = (0..CELLS).map(|step| &cells[((receiver >> 32) as usize + step) % CELLS]);
        let end =
            places.find(|cell| [0, receiver].contains(&cell.receiver.load(Ordering::Acquire)));
        end.is_some_and(|cell| {
            cell.receiver.load(Ordering::Acquire) == receiver && cell.value.get().is_some()
        })
    }

    /// The cell of a receiver; `None` if all cells are in use.
    fn cell(&self, receiver: u64) -> Option<&Cell> {
        let cells = self.first.get_or_init(|| (0..CELLS).map(|_| Cell::default()).collect());
        let first = (receiver >> 32) as usize;
        for cell in (0..CELLS).map(|step| &cells[(first + step) % CELLS]) {
            let mut found = cell.receiver.load(Ordering::Acquire);
            if found == 0 {
                if self.used.load(Ordering::Relaxed) >= MOST {
                    return None;
                }
                match cell.receiver.compare_exchange(
                    0,
                    receiver,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                ) {
                    Ok(_) => {
                        self.used.fetch_add(1, Ordering::Relaxed);
                        return Some(cell);
                    }
                    Err(other) => found = other,
                }
            }
            if found == receiver {
                return Some(cell);
            }
        }
        None
    }

    /// One of [`Returns::NAMES`]: `once` if it was not compared yet, because no receiver was called
    /// twice. `None` if no value was seen.
    pub fn verdict(&self, facts: &Facts) -> Option<&'static str> {
        let state = self.state.load(Ordering::Relaxed);
        match state {
            _ if facts.is_unit => Some("unit"),
            _ if facts.is_chain && state & SEEN != 0 => Some("self"),
            0 => None,
            _ if state & VARIES != 0 => Some("varies"),
            _ if state & NOT_SELF == 0 => Some("self"),
            _ if state & OPAQUE != 0 => Some("not-comparable"),
            _ if state & REPEATED != 0 => Some("constant"),
            _ => Some("once"),
        }
    }
}

impl Cell {
    /// Keeps the first value. If two threads are first at the same receiver, one value is kept.
    fn remember(&self, value: &Value<'_>) -> u8 {
        let now = value
            .keep()
            .map(First::Kept)
            .or_else(|| value.hash().map(First::Hash))
            .unwrap_or(First::Nothing);
        let opaque = if matches!(now, First::Nothing) { OPAQUE } else { 0 };
        let _ = self.value.set(Box::new(now));
        opaque
    }
}

/// True if a value refers to the receiver of the call.
fn is_receiver(call: &Call<'_>, value: &Value<'_>) -> bool {
    let Some(pointee) = value.pointee() else { return false };
    let receiver = call.entry.receiver();
    receiver.identity == Identity::Place
        && pointee.identity == Identity::Place
        && pointee.word == receiver.word
        && pointee.type_name.get() == receiver.type_name.get()
}
