//! Receivers of woven calls as subjects: their kinds, by the name that the compiler gave their type.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use metaspy_probe::{Identity, Receiver, Text};

use crate::hook::residents::registered_at;
use crate::subject::{KindId, Nature, Subject, register};

/// The receiver that a subject is.
pub fn of(subject: Subject) -> Receiver {
    let identity = if subject.is_none() { Identity::None } else { Identity::Keyed };
    Receiver { identity, word: subject.key, ..Receiver::NONE }
}

/// The subject that a receiver is.
pub fn subject(receiver: &Receiver) -> Subject {
    match receiver.identity {
        Identity::None => Subject::NONE,
        Identity::Keyed => Subject::new(kind(receiver.type_name, Nature::Own), receiver.word),
        Identity::Place => registered_at(receiver.word as usize, receiver.type_name.get())
            .unwrap_or_else(|| Subject::new(kind(receiver.type_name, Nature::Place), receiver.word)),
    }
}

/// Types that are remembered; further ones are looked up each time.
const CELLS: usize = 1024;

struct Known {
    name: AtomicPtr<u8>,
    /// Its kind, a bit for keys, and the name's length.
    kind: AtomicU64,
}

static KNOWN: [Known; CELLS] =
    [const { Known { name: AtomicPtr::new(std::ptr::null_mut()), kind: AtomicU64::new(0) } }; CELLS];

/// The kind of a type. Its name stands in the program once, or a few times, so where it stands is remembered.
pub(super) fn kind(name: Text, nature: Nature) -> KindId {
    let at = name.get().as_ptr().cast_mut();
    let first = (at.addr().wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 54;
    let of_type = u64::from(nature == Nature::Own) << 16 | (name.get().len() as u64) << 17;
    for step in 0..8 {
        let known = &KNOWN[(first + step) % CELLS];
        let found = known.name.load(Ordering::Relaxed);
        if found.is_null() {
            let kind = register(name.get(), nature);
            if known.name.compare_exchange(found, at, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                known.kind.store(u64::from(kind.0) | of_type, Ordering::Relaxed);
            }
            return kind;
        }
        let kind = known.kind.load(Ordering::Relaxed);
        if found == at && kind & !0xFFFF == of_type && kind as u16 != 0 {
            return KindId(kind as u16);
        }
    }
    register(name.get(), nature)
}
