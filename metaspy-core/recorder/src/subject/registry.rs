//! The kinds of this process, by number: a list that only grows.
//!
//! It is changed without a lock and without allocated memory: the call that registers a kind may be
//! in a signal handler, in a global allocator, or in a forked child.

use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize};

use metaspy_probe::KindId;

/// The meaning of the keys of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Nature {
    /// Keys of the process's own.
    Own = 0,
    /// Addresses.
    Place = 1,
    /// Keys that mean the same in every process.
    Across = 2,
    /// Numbers that metaspy gave to objects. They may be equal to keys of the process's own.
    Object = 4,
}

/// A kind as it was registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registered {
    pub name: &'static str,
    pub nature: Nature,
}

/// The most kinds that are distinguished.
const MAX: usize = 65_000;
/// Records that may be left over because two threads register one kind at the same time.
const LEFT_OVER: usize = 1_000;

/// The record of a kind. It is written once, by the thread that took it, and then published in
/// [`KINDS`].
struct Record {
    name: AtomicPtr<u8>,
    bytes: AtomicUsize,
    nature: AtomicU8,
    /// True if each owner has a kind of its own by this name.
    is_owned: AtomicU8,
}

static RECORDS: [Record; MAX + LEFT_OVER] = [const {
    Record {
        name: AtomicPtr::new(null_mut()),
        bytes: AtomicUsize::new(0),
        nature: AtomicU8::new(0),
        is_owned: AtomicU8::new(0),
    }
}; MAX + LEFT_OVER];
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// For each kind its record, by number + 1; 0 = no kind yet. The kinds are the first ones.
static KINDS: [AtomicU32; MAX] = [const { AtomicU32::new(0) }; MAX];
/// Kinds that are there at least.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The number of a kind that is found again by its name.
pub fn register(name: &'static str, nature: Nature) -> KindId {
    publish(Registered { name, nature }, false)
}

/// The number of a kind that belongs to one owner: always a new one.
pub(crate) fn register_owned(name: &str, nature: Nature) -> KindId {
    if COUNT.load(Relaxed) >= MAX {
        return KindId(MAX as u16 + 1);
    }
    publish(Registered { name: name.to_owned().leak(), nature }, true)
}

fn publish(kind: Registered, is_owned: bool) -> KindId {
    let mut own = 0;
    let from = if is_owned { COUNT.load(Acquire) } else { 0 };
    for (at, place) in KINDS.iter().enumerate().skip(from) {
        let mut record = place.load(Acquire);
        if record == 0 {
            own = if own == 0 { take(kind, is_owned) } else { own };
            if own == 0 {
                break;
            }
            match place.compare_exchange(0, own, AcqRel, Acquire) {
                Ok(_) => {
                    COUNT.fetch_max(at + 1, Release);
                    return KindId(at as u16 + 1);
                }
                Err(other) => record = other,
            }
        }
        if !is_owned && is_shared(record) && at_record(record) == kind {
            return KindId(at as u16 + 1);
        }
    }
    KindId(MAX as u16 + 1)
}

/// Writes a record that no kind has. Returns its number + 1; 0 if there is none left.
fn take(kind: Registered, is_owned: bool) -> u32 {
    let at = TAKEN.fetch_add(1, Relaxed);
    let Some(record) = RECORDS.get(at) else {
        TAKEN.store(RECORDS.len(), Relaxed);
        return 0;
    };
    record.name.store(kind.name.as_ptr().cast_mut(), Relaxed);
    record.bytes.store(kind.name.len(), Relaxed);
    record.nature.store(kind.nature as u8, Relaxed);
    record.is_owned.store(is_owned.into(), Relaxed);
    at as u32 + 1
}

fn is_shared(record: u32) -> bool {
    RECORDS[record as usize - 1].is_owned.load(Relaxed) == 0
}

/// Returns the kind of a record, by the number of the record + 1.
fn at_record(record: u32) -> Registered {
    let record = &RECORDS[record as usize - 1];
    let name = record.name.load(Relaxed);
    let bytes = record.bytes.load(Relaxed);
    // SAFETY: both were stored from one `&'static str` before the record was published, and are
    // never changed.
    let name = unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(name, bytes)) };
    let nature = match record.nature.load(Relaxed) {
        0 => Nature::Own,
        1 => Nature::Place,
        2 => Nature::Across,
        _ => Nature::Object,
    };
    Registered { name, nature }
}

/// Kinds registered from `from` on, with their numbers.
pub(crate) fn registered_since(from: usize) -> impl Iterator<Item = (KindId, Registered)> {
    let records = KINDS.iter().map(|place| place.load(Acquire)).enumerate().skip(from);
    records
        .take_while(|(_, record)| *record != 0)
        .map(|(at, record)| (KindId(at as u16 + 1), at_record(record)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_register_the_same_kinds_have_the_same_numbers() {
        let names: Vec<&'static str> =
            (0..200).map(|number| &*format!("kind {number}").leak()).collect();
        let numbers = || names.iter().map(|name| register(name, Nature::Own)).collect::<Vec<_>>();
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(numbers)).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
        });
        assert!(all.iter().all(|numbers| *numbers == all[0]));
        let known: Vec<_> = registered_since(0).collect();
        assert!(
            all[0]
                .iter()
                .zip(&names)
                .all(|(id, name)| known.iter().any(|(at, kind)| at == id && kind.name == *name))
        );
    }

    #[test]
    fn the_kind_of_an_owner_is_no_other_kind() {
        let (first, second) =
            (register_owned("owned", Nature::Own), register_owned("owned", Nature::Own));
        let shared = register("owned", Nature::Own);
        assert!(first != second && shared != first && shared != second);
        assert_eq!(register("owned", Nature::Own), shared);
        assert_ne!(register("owned", Nature::Place), shared);
    }
}
