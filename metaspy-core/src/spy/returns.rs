//! Whether a method always returns the same: nothing, its receiver, one value for each receiver, or not (Execution
//! profiling blueprints, section 4.2).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use crate::platform::lock::lock;
use crate::site::woven::shown::{Identity, Kept, Value};
use crate::spy::dispatch::guarded;
use crate::spy::{Called, Ended, Facts};

/// What a method was seen to return. Values are told apart by `PartialEq` where their type or a bound has it, else by
/// their `Hash`; of at most a hundred receivers the first value is remembered.
#[derive(Default)]
pub struct Returns {
    state: AtomicU8,
    first: Mutex<HashMap<u64, Arc<First>>>,
}

/// Receivers whose values are remembered.
const MOST: usize = 100;

/// Bits of the state.
const SEEN: u8 = 1;
/// A value was another one than before.
const VARIES: u8 = 2;
/// A value cannot be compared.
const OPAQUE: u8 = 4;
/// A value was not the receiver.
const NOT_SELF: u8 = 8;
/// A receiver was asked twice.
const REPEATED: u8 = 16;

enum First {
    Kept(Kept),
    Hash(u64),
    Nothing,
}

impl Returns {
    /// Looks at what a call returned, if that is seen.
    pub fn see(&self, call: &Called<'_>, ended: &Ended<'_>) {
        let Some(value) = ended.returned() else { return };
        let state = self.state.load(Ordering::Relaxed);
        if state & VARIES != 0 {
            return;
        }
        let mut add = SEEN;
        if !is_receiver(call, value) {
            add |= NOT_SELF;
        }
        if (state | add) & NOT_SELF != 0 {
            // What compares, hashes or copies a value is the program's own.
            add |= guarded(|| self.compare(call, value)).unwrap_or(OPAQUE);
        }
        if state | add != state {
            self.state.fetch_or(add, Ordering::Relaxed);
        }
    }

    /// What is the program's own runs without the lock: it may take locks itself.
    fn compare(&self, call: &Called<'_>, value: &Value<'_>) -> u8 {
        let receiver = call.identity().unwrap_or(0);
        let before = lock(&self.first).get(&receiver).cloned();
        match before.as_deref() {
            None => self.remember(receiver, value),
            Some(First::Nothing) => OPAQUE | REPEATED,
            Some(First::Kept(kept)) if value.is(kept) => REPEATED,
            Some(First::Hash(hash)) if value.hash() == Some(*hash) => REPEATED,
            Some(_) => VARIES | REPEATED,
        }
    }

    /// Of two threads that are first at the same receiver one is remembered.
    fn remember(&self, receiver: u64, value: &Value<'_>) -> u8 {
        let now = value.keep().map(First::Kept).or_else(|| value.hash().map(First::Hash)).unwrap_or(First::Nothing);
        let opaque = if matches!(now, First::Nothing) { OPAQUE } else { 0 };
        let now = Arc::new(now);
        let mut first = lock(&self.first);
        if first.len() < MOST {
            first.entry(receiver).or_insert_with(|| Arc::clone(&now));
        }
        drop(first);
        opaque
    }

    /// `unit`, `self`, `constant`, `varies`, `not-comparable`; `None` if what it returns was not seen, or was constant and
    /// no receiver was asked twice.
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
            _ => None,
        }
    }
}

/// Whether a value refers to the object that the call was about.
fn is_receiver(call: &Called<'_>, value: &Value<'_>) -> bool {
    let Some(pointee) = value.pointee() else { return false };
    let receiver = &call.entry.receiver;
    receiver.identity == Identity::Place
        && pointee.identity == Identity::Place
        && pointee.word == receiver.word
        && pointee.type_name.get() == receiver.type_name.get()
}
