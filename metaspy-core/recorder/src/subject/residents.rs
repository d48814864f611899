//! Registered objects by their address: a table that is changed under a lock, and read without one
//! by every hook.

use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, fence};

use crate::platform::lock::lock;
use crate::subject::{KindId, Subject};

/// The name of a type: a function, because that is one word.
pub type TypeName = fn() -> &'static str;

/// The number of registered objects. While it is 0, no hook reads the table.
static RESIDENTS: AtomicUsize = AtomicUsize::new(0);
static TABLE: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());
/// How often another table was filled. A lookup that began before may have read a table that was
/// cleared meanwhile.
static REBUILDS: AtomicU64 = AtomicU64::new(0);
/// The table before, which is filled again if it is large enough. Tables are never freed, because a
/// hook may be reading.
static SPARE: Mutex<Option<&'static Table>> = Mutex::new(None);

/// The object of this type that is registered at an address.
#[inline]
pub fn registered_at(address: usize, type_name: &str) -> Option<Subject> {
    if RESIDENTS.load(Relaxed) == 0 { None } else { find(address, type_name) }
}

fn find(address: usize, type_name: &str) -> Option<Subject> {
    let resident = loop {
        let rebuilds = REBUILDS.load(Acquire);
        // SAFETY: tables are leaked boxes: the pointer is null or valid for the rest of the
        // process.
        let table = unsafe { TABLE.load(Acquire).as_ref() }?;
        if let Some(resident) = table.find(address).and_then(|cell| cell.read(address)) {
            break resident;
        }
        fence(Acquire);
        // A table is cleared only after the number has changed. The thread that changes it leaves
        // the current table as it is, so a signal handler on that thread does not come here twice.
        if REBUILDS.load(Relaxed) == rebuilds {
            return None;
        }
    };
    // An object and its first field have the same address. Nearly always both names are the very
    // same text.
    let found = (resident.type_name)();
    (std::ptr::eq(found, type_name) || found == type_name).then_some(resident.subject)
}

/// Registers an object.
pub fn insert(address: usize, subject: Subject, type_name: TypeName) {
    change(|table| table.insert(address, Resident { subject, type_name }));
    RESIDENTS.fetch_add(1, Relaxed);
}

/// Removes a registered object.
pub fn remove(address: usize) {
    change(|table| {
        if let Some(cell) = table.find(address) {
            cell.address.store(GONE, Release);
            RESIDENTS.fetch_sub(1, Relaxed);
        }
    });
}

/// Changes the table, under the lock. A table that is three quarters used is replaced by one that
/// has room.
fn change(change: impl FnOnce(&Table)) {
    let mut spare = lock(&SPARE);
    // SAFETY: as in `find`.
    let old = unsafe { TABLE.load(Acquire).as_ref() };
    let table = match old {
        Some(table) if table.used.load(Relaxed) * 4 < table.cells.len() * 3 => table,
        old => {
            let wanted = (RESIDENTS.load(Relaxed) * 4).next_power_of_two().max(64);
            REBUILDS.fetch_add(1, Relaxed);
            // Stores to the table below become visible after the new number.
            fence(Release);
            let table = match *spare {
                Some(table) if table.cells.len() >= wanted => table.clear(),
                _ => Box::leak(Box::new(Table::new(
                    wanted.max(old.map_or(0, |old| old.cells.len())),
                ))),
            };
            for cell in old.map_or(&[][..], |old| &old.cells) {
                let address = cell.address.load(Relaxed);
                if let Some(resident) = cell.read(address).filter(|_| address != GONE) {
                    table.insert(address, resident);
                }
            }
            TABLE.store(std::ptr::from_ref(table).cast_mut(), Release);
            *spare = old;
            table
        }
    };
    change(table);
}

/// Addresses and the identities that live there: open addressing.
struct Table {
    cells: Box<[Cell]>,
    /// Cells that are or were in use since it was filled.
    used: AtomicUsize,
}

/// An object.
struct Resident {
    subject: Subject,
    type_name: TypeName,
}

/// The place of an object in the table.
struct Cell {
    /// 0 = never used, [`GONE`] = used once.
    address: AtomicUsize,
    /// The number of changes, odd while it changes.
    version: AtomicU64,
    kind: AtomicU64,
    key: AtomicU64,
    /// A [`TypeName`].
    type_name: AtomicPtr<()>,
}

const GONE: usize = usize::MAX;

impl Cell {
    const fn new() -> Self {
        Cell {
            address: AtomicUsize::new(0),
            version: AtomicU64::new(0),
            kind: AtomicU64::new(0),
            key: AtomicU64::new(0),
            type_name: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// The object at this address. `None` if the cell is another object's by now.
    ///
    /// A caller that holds the object reads a cell that does not change. One that only has its
    /// address, as that of a value without a size, may read while the object is dropped and the
    /// cell is used again.
    fn read(&self, address: usize) -> Option<Resident> {
        let version = self.version.load(Acquire);
        let kind = KindId(self.kind.load(Relaxed) as u16);
        let key = self.key.load(Relaxed);
        let type_name = self.type_name.load(Relaxed);
        fence(Acquire);
        let is_whole = version.is_multiple_of(2)
            && self.version.load(Relaxed) == version
            && self.address.load(Relaxed) == address
            && !type_name.is_null();
        // SAFETY: `write` made the pointer of a function of this type, and it is one word.
        let type_name = || unsafe { std::mem::transmute::<*mut (), TypeName>(type_name) };
        is_whole.then(|| Resident { subject: Subject::new(kind, key), type_name: type_name() })
    }

    /// Makes it the cell of another object. One thread at a time does so.
    fn write(&self, address: usize, resident: Resident) {
        let version = self.version.load(Relaxed);
        self.version.store(version + 1, Relaxed);
        fence(Release);
        self.kind.store(u64::from(resident.subject.kind.0), Relaxed);
        self.key.store(resident.subject.key, Relaxed);
        self.type_name.store(resident.type_name as *mut (), Relaxed);
        self.version.store(version + 2, Release);
        self.address.store(address, Release);
    }
}

impl Table {
    fn new(cells: usize) -> Self {
        Table { cells: (0..cells).map(|_| Cell::new()).collect(), used: AtomicUsize::new(0) }
    }

    fn clear(&self) -> &Self {
        self.cells.iter().for_each(|cell| cell.address.store(0, Relaxed));
        self.used.store(0, Relaxed);
        self
    }

    /// The cells in the order in which an address is looked for.
    fn cells_for(&self, address: usize) -> impl Iterator<Item = &Cell> {
        let (first, mask) =
            ((address >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20, self.cells.len() - 1);
        (0..self.cells.len()).map(move |step| &self.cells[(first + step) & mask])
    }

    fn find(&self, address: usize) -> Option<&Cell> {
        for cell in self.cells_for(address) {
            match cell.address.load(Acquire) {
                0 => return None,
                found if found == address => return Some(cell),
                _ => {}
            }
        }
        None
    }

    fn insert(&self, address: usize, resident: Resident) {
        for cell in self.cells_for(address) {
            let before = cell.address.load(Relaxed);
            if before == 0 || before == GONE {
                self.used.fetch_add(usize::from(before == 0), Relaxed);
                return cell.write(address, resident);
            }
        }
    }
}
