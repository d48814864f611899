//! Identity of last resort: an address. For wrapped objects: the identity that is registered at their address.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use crate::platform::lock::lock;
use crate::subject::{Identify, KindId, Nature, ObjectId, Subject, register};

/// Distinguishes receivers without an identity by their addresses. A `static` beside the site; its kind is "place of T",
/// because Rust moves values and reuses memory.
pub struct AddressIdentity {
    type_path: &'static str,
    kind: AtomicU32,
}

impl AddressIdentity {
    /// Places of values of this type.
    pub const fn new(type_path: &'static str) -> Self {
        AddressIdentity { type_path, kind: AtomicU32::new(0) }
    }

    /// The subject at an address: the identity of the object that was registered there ([`RegisteredIdentity`]), else the
    /// place. A value without a size has none.
    #[inline]
    pub fn of<T: ?Sized>(&self, value: &T) -> Subject {
        let address = std::ptr::from_ref(value).cast::<u8>() as usize;
        if let Some(subject) = registered_at(address, std::any::type_name::<T>()) {
            return subject;
        }
        if size_of_val(value) == 0 {
            return Subject::NONE;
        }
        Subject::new(self.kind(), address as u64)
    }

    #[inline(always)]
    fn kind(&self) -> KindId {
        match self.kind.load(Ordering::Relaxed) {
            0 => {
                let kind = register(self.type_path, Nature::Place, true);
                self.kind.store(u32::from(kind.0), Ordering::Relaxed);
                kind
            }
            kind => KindId(kind as u16),
        }
    }
}

/// Registers an object with an identity at an address, until it is dropped.
///
/// The address must stay the object's own: `Spied<T>` keeps its value in a box.
#[derive(Debug)]
pub struct RegisteredIdentity {
    address: usize,
    id: ObjectId,
}

impl RegisteredIdentity {
    /// Registers `id` at the address of `value`. No other value of the type may be there: one without a size needs
    /// a neighbour that has one.
    pub fn new<T: ?Sized>(value: &T, id: ObjectId) -> Self {
        let address = std::ptr::from_ref(value).cast::<u8>() as usize;
        change(|table| table.insert(address, id.identify(), std::any::type_name::<T>()));
        RegisteredIdentity { address, id }
    }

    /// The identity.
    pub fn id(&self) -> &ObjectId {
        &self.id
    }
}

impl Drop for RegisteredIdentity {
    fn drop(&mut self) {
        change(|table| table.remove(self.address));
        crate::model::forget(self.id.identify());
    }
}

/// The number of registered objects. While it is 0, no hook reads the table.
static RESIDENTS: AtomicUsize = AtomicUsize::new(0);
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());
static CHANGING: Mutex<()> = Mutex::new(());

/// Addresses and the identities that live there: open addressing, changed under a lock, read without one.
struct Table {
    cells: Box<[Cell]>,
    /// Cells that are or were in use.
    used: AtomicUsize,
}

struct Cell {
    /// 0 = never used, [`GONE`] = used once.
    address: AtomicUsize,
    kind: AtomicU32,
    key: AtomicU64,
    /// The type's name: an object and its first field have the same address.
    name: AtomicPtr<u8>,
    name_bytes: AtomicUsize,
}

const GONE: usize = usize::MAX;

impl Cell {
    fn name(&self) -> &'static str {
        let (name, bytes) = (self.name.load(Ordering::Relaxed), self.name_bytes.load(Ordering::Relaxed));
        // SAFETY: both words were stored from one `&'static str` before the address that led here (release). A cell is
        // written again only after its object is gone, and a caller holds the object at the address.
        unsafe { std::str::from_utf8_unchecked(std::slice::from_raw_parts(name, bytes)) }
    }
}

impl Table {
    fn new(cells: usize) -> Self {
        let cell = || Cell {
            address: AtomicUsize::new(0),
            kind: AtomicU32::new(0),
            key: AtomicU64::new(0),
            name: AtomicPtr::new(std::ptr::null_mut()),
            name_bytes: AtomicUsize::new(0),
        };
        Table { cells: (0..cells).map(|_| cell()).collect(), used: AtomicUsize::new(0) }
    }

    fn first(&self, address: usize) -> usize {
        (address >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
    }

    fn find(&self, address: usize) -> Option<&Cell> {
        let (first, mask) = (self.first(address), self.cells.len() - 1);
        (0..self.cells.len())
            .map(|step| &self.cells[(first + step) & mask])
            .map(|cell| (cell, cell.address.load(Ordering::Acquire)))
            .take_while(|(_, found)| *found != 0)
            .find_map(|(cell, found)| (found == address).then_some(cell))
    }

    fn insert(&self, address: usize, subject: Subject, name: &'static str) {
        let (first, mask) = (self.first(address), self.cells.len() - 1);
        let free = (0..self.cells.len())
            .map(|step| &self.cells[(first + step) & mask])
            .map(|cell| (cell, cell.address.load(Ordering::Relaxed)))
            .find(|(_, address)| [0, GONE].contains(address));
        if let Some((cell, before)) = free {
            cell.key.store(subject.key, Ordering::Relaxed);
            cell.kind.store(u32::from(subject.kind.0), Ordering::Relaxed);
            cell.name.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
            cell.name_bytes.store(name.len(), Ordering::Relaxed);
            cell.address.store(address, Ordering::Release);
            // A cell that was given up is used again: no lookup is for an object that is gone.
            self.used.fetch_add(usize::from(before == 0), Ordering::Relaxed);
            RESIDENTS.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn remove(&self, address: usize) {
        if let Some(cell) = self.find(address) {
            cell.address.store(GONE, Ordering::Release);
            RESIDENTS.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The object of this type that is registered at an address.
#[inline]
pub(crate) fn registered_at(address: usize, name: &str) -> Option<Subject> {
    if RESIDENTS.load(Ordering::Relaxed) == 0 { None } else { find(address, name) }
}

fn find(address: usize, name: &str) -> Option<Subject> {
    // SAFETY: tables are leaked boxes: the pointer is null or valid for the rest of the process.
    let cell = unsafe { TABLE.load(Ordering::Acquire).as_ref() }?.find(address)?;
    // Nearly always both are the very same text; it is compared where the compiler has written it down twice.
    (std::ptr::eq(cell.name(), name) || cell.name() == name).then_some(())?;
    Some(Subject::new(KindId(cell.kind.load(Ordering::Relaxed) as u16), cell.key.load(Ordering::Relaxed)))
}

/// Changes the table, under the lock. A table that is three quarters used is replaced by one that has room; a hook
/// may still be reading the old one, so it stays: together they are as large as the newest.
fn change(f: impl FnOnce(&Table)) {
    let _changing = lock(&CHANGING);
    // SAFETY: as in `registered_at`.
    let old = unsafe { TABLE.load(Ordering::Acquire).as_ref() };
    let table = match old {
        Some(table) if table.used.load(Ordering::Relaxed) * 4 < table.cells.len() * 3 => table,
        old => {
            let live = RESIDENTS.load(Ordering::Relaxed);
            let table: &'static Table = Box::leak(Box::new(Table::new((live * 4).next_power_of_two().max(64))));
            RESIDENTS.store(0, Ordering::Relaxed);
            for cell in old.map_or(&[][..], |old| &old.cells) {
                let address = cell.address.load(Ordering::Relaxed);
                if address != 0 && address != GONE {
                    let kind = KindId(cell.kind.load(Ordering::Relaxed) as u16);
                    table.insert(address, Subject::new(kind, cell.key.load(Ordering::Relaxed)), cell.name());
                }
            }
            RESIDENTS.store(live, Ordering::Relaxed);
            TABLE.store(std::ptr::from_ref(table).cast_mut(), Ordering::Release);
            table
        }
    };
    f(table);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_place_until_an_object_is_registered_there() {
        static PLACE: AddressIdentity = AddressIdentity::new("test::Thing");
        let thing = Box::new(7_u64);
        let place = PLACE.of(&*thing);
        let resident = RegisteredIdentity::new(&*thing, ObjectId::new());
        assert_eq!(PLACE.of(&*thing), resident.id().identify());
        drop(resident);
        assert_eq!(PLACE.of(&*thing), place);
        assert_eq!(PLACE.of(&()), Subject::NONE);
    }

    #[test]
    fn a_first_field_is_not_its_owner() {
        struct Owner {
            first: u64,
        }
        static PLACE: AddressIdentity = AddressIdentity::new("test::Owner");
        let owner = Box::new(Owner { first: 1 });
        let resident = RegisteredIdentity::new(&*owner, ObjectId::new());
        assert_eq!(PLACE.of(&*owner), resident.id().identify());
        assert_ne!(PLACE.of(&owner.first), resident.id().identify());
    }

    #[test]
    fn many_registered_objects_are_all_found_again() {
        static PLACE: AddressIdentity = AddressIdentity::new("test::Many");
        let things: Vec<Box<u64>> = (0..1_000).map(Box::new).collect();
        let residents: Vec<RegisteredIdentity> =
            things.iter().map(|thing| RegisteredIdentity::new(&**thing, ObjectId::new())).collect();
        for (thing, resident) in things.iter().zip(&residents) {
            assert_eq!(PLACE.of(&**thing), resident.id().identify());
        }
    }
}
