//! Calls that repeat the computation of an earlier call: their arguments are equal, and their
//! receiver has not changed (Execution profiling blueprints, section 7).

use std::fmt::{self, Write};

use metaspy_probe::Value;

use crate::format::profile::{Column, built_in};
use crate::method_profilers::call::shown;
use crate::method_profilers::dispatch::guarded;
use crate::method_profilers::{
    Call, Columns, Count, Data, Facts, IdentitySet, MethodProfiler, MethodSpy,
};
use crate::platform::signal_mask::may_be_in_handler;

/// Counts the calls of each method whose receiver and arguments are equal to those of an earlier
/// call, as `Debug` shows them.
///
/// Values are seen by hooks of `cargo metaspy … --args`, where all parameters have plain names. A
/// receiver that was changed shows another text, so a call on it is no repetition. A call is not
/// compared if a value has no `Debug`, if its text is longer than a thousand bytes or hides fields,
/// in signal handlers, and after five hundred different inputs of the method.
#[derive(Default)]
pub struct Repeats;

/// Different inputs that are remembered of a method.
const INPUTS: usize = 500;
/// Bytes of the text of all values of a call.
const LONGEST: usize = 1_000;
/// Parts of a text that hides something: fields that `Debug` leaves out, and contents that another
/// thread or caller holds.
const HIDDEN: [&str; 4] = [".. }", "<locked>", "<borrowed>", "(Weak)"];

/// The receivers and arguments of the calls of a method.
pub struct Inputs {
    seen: IdentitySet<INPUTS>,
    inputs: Count,
    repeated: Count,
    not_compared: Count,
}

impl Data for Inputs {
    fn new(columns: &mut Columns<'_>) -> Self {
        Inputs {
            seen: IdentitySet::default(),
            inputs: columns.sum(Column::new("inputs").at_most(INPUTS as u64)),
            repeated: columns.sum(built_in::REPEATED),
            not_compared: columns.sum(built_in::NOT_COMPARED),
        }
    }
}

impl MethodProfiler for Repeats {
    const NAME: &'static str = built_in::REPEATS;
    const TRUSTED: bool = true;
    type Package = ();
    type Type = ();
    type Method = Inputs;
    type Around = ();

    fn selects(&self, facts: &Facts) -> bool {
        facts.shows_inputs
    }

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        let Inputs { seen, inputs, repeated, not_compared } = &spy.data;
        // The code that shows a value is the program's own.
        let input = if may_be_in_handler() {
            None
        } else {
            guarded(|| fingerprint(call.values())).flatten()
        };
        match input {
            Some(input) if seen.add(input) => inputs.add(1),
            Some(input) if seen.contains(input) => repeated.add(1),
            _ => not_compared.add(1),
        }
    }
}

/// A number that equal values have in common; `None` if they cannot be compared.
fn fingerprint(values: &[Value<'_>]) -> Option<u64> {
    let mut text = Text { bytes: [0; LONGEST], len: 0, is_cut: false };
    for value in values {
        let is_shown = shown(value, &mut text);
        if !is_shown || text.is_cut || text.write_char('\0').is_err() {
            return None;
        }
    }
    let text = text.bytes.get(..text.len)?;
    for part in HIDDEN {
        if text.windows(part.len()).any(|window| window == part.as_bytes()) {
            return None;
        }
    }
    // FNV-1a, and bits of all of it in the upper half, which finds the cell of a set.
    let hash = text.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    });
    Some((hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// A text without memory of its own.
struct Text {
    bytes: [u8; LONGEST],
    len: usize,
    is_cut: bool,
}

impl Write for Text {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let Some(room) = self.bytes.get_mut(self.len..self.len + part.len()) else {
            self.is_cut = true;
            return Err(fmt::Error);
        };
        room.copy_from_slice(part.as_bytes());
        self.len += part.len();
        Ok(())
    }
}
