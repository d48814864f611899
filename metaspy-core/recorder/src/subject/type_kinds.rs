//! Kinds by the name that the compiler gave a type.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use metaspy_probe::hash::bucket;
use metaspy_probe::{KindId, Text};

use crate::format::{high, join, low};
use crate::subject::{Nature, register};

/// Types of each nature that are remembered; further ones are looked up each time.
const CELLS: usize = 1024;

struct Known {
    name: AtomicPtr<u8>,
    /// Its kind, and the length of its name.
    kind: AtomicU64,
}

type Cells = [Known; CELLS];

const fn none() -> Cells {
    [const { Known { name: AtomicPtr::new(null_mut()), kind: AtomicU64::new(0) } }; CELLS]
}

static PLACES: Cells = none();
static OBJECTS: Cells = none();
static OTHERS: Cells = none();

/// The kind of a type. Its name stands in the program once, or a few times, so where it stands is
/// remembered.
pub fn kind_of_type(name: Text, nature: Nature) -> KindId {
    let cells = match nature {
        Nature::Place => &PLACES,
        Nature::Object => &OBJECTS,
        Nature::Own => &OTHERS,
        Nature::Across => return register(name.get(), nature),
    };
    let at = name.get().as_ptr().cast_mut();
    let first = bucket(at.addr() as u64, CELLS.ilog2());
    for step in 0..8 {
        let known = &cells[(first + step) % CELLS];
        let found = known.name.load(Ordering::Relaxed);
        if found.is_null() {
            let kind = register(name.get(), nature);
            if known.name.compare_exchange(found, at, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            {
                known.kind.store(join(kind.0.into(), name.get().len() as u32), Ordering::Relaxed);
            }
            return kind;
        }
        let kind = known.kind.load(Ordering::Relaxed);
        if found == at && high(kind) as usize == name.get().len() && low(kind) != 0 {
            return KindId(low(kind) as u16);
        }
    }
    register(name.get(), nature)
}
