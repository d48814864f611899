//! The hook of a woven function whose calls are only counted.
//!
//! It counts a call when it begins, and that is all: nothing is held while the function runs, and
//! nothing runs when it is left. So it does not see how a call ends, on which object it is, or how
//! long it takes.
//!
//! The command knows before the build whether a run only counts, and such a run has these hooks. A
//! guard keeps a register and gives each function a way out for panics. Without it, a function that
//! is not armed keeps its size, and a count is eleven instructions in place. The price is that
//! outcomes are not known, and that another kind of run builds again.
//!
//! Where a method profiler sees only that calls begin, as `TestCoverage` does, the hook also shows
//! on which object they do. A thread counts a call by itself once the profiler wants to see no more
//! calls on the object, and remembers a thousand objects.

use core::sync::atomic::Ordering;

use crate::hook::entry_cells::{EntryCell, EntryCells, object_word};
use crate::{NO_CELL, Object, Site};

const _: () = assert!(
    size_of::<EntryCell>() <= size_of::<Site>() && align_of::<EntryCell>() <= align_of::<Site>()
);
// At the distance 0 a hook takes the site for its cell: the first word of an armed site is no word
// of a row.
const _: () = assert!(core::mem::offset_of!(Site, arm) == core::mem::offset_of!(EntryCell, who));

impl Site {
    /// Counts a call that begins.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn entered(&'static self) {
        // Such a site is armed if it has a row, so one word is both the test and the word that the
        // cell is compared with.
        let tally = self.tally.load(Ordering::Relaxed);
        if tally != NO_CELL {
            way::count(self, tally);
        }
    }

    /// As [`Site::entered`], where a method profiler may see the call.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn covered(&'static self) {
        let who = self.counted();
        if who != NO_CELL {
            way::count(self, who);
        }
    }

    /// As [`Site::covered`], of a call on an object.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn covered_on<T: ?Sized>(&'static self, object: &T) {
        let who = self.counted();
        if who != NO_CELL {
            way::count_on(self, who, object);
        }
    }
}

/// The word of an object.
#[inline(always)]
fn word_of<T: ?Sized>(object: &T) -> u64 {
    let object = Object::of(object);
    object_word(object.place.addr() as u64, object.kind())
}

/// Counts a call on an object that the thread could not count by itself. These cells may count the
/// next one.
fn count_on_slowly(site: &'static Site, cells: &EntryCells, object: Object) {
    if let Some(adapter) = site.adapter() {
        (adapter.covered)(site, cells, &object);
    }
}

/// Counts a call that the thread could not count by itself. These cells may count the next one.
fn count_slowly(site: &'static Site, cells: &EntryCells) {
    if let Some(adapter) = site.adapter() {
        (adapter.entered)(site, cells);
    }
}

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
))]
mod way {
    //! By assembly: six instructions in three registers.
    //!
    //! A function that may call another one saves its registers and aligns its stack, also if it
    //! does not call it. So the rare half of this hook is no call to the compiler. It leaves the
    //! function by a jump, saves all registers, and comes back.

    use core::arch::asm;
    use core::mem::offset_of;

    use crate::hook::entry_cells::{EntryCell, EntryCells, KNOWN_OBJECTS, KnownObject, SPREAD};
    use crate::hook::keeping::RED_ZONE;
    use crate::{Object, Site};

    /// Counts in the cell of this thread.
    ///
    /// Its [`EntryCells`] are at a fixed distance from the thread pointer. The object files of a
    /// program or library define them, and the linker keeps one definition.
    #[inline(always)]
    #[expect(named_asm_labels, reason = "it is defined once in each object file")]
    #[expect(
        clippy::pointers_in_nomem_asm_block,
        reason = "hooks and the core alone use the words that are read and written, and only as atomics"
    )]
    pub fn count(site: &'static Site, tally: u64) {
        // SAFETY: the linker resolves the symbol to the distance of a word that every thread has.
        // At the distance in it are the cells of this thread; at the distance 0 the site itself,
        // which nothing matches. A cell with this word has a row, and rows stay. The compiler knows
        // nothing of either. The rare path keeps all registers, and the bytes below the stack
        // pointer.
        unsafe {
            asm!(
                crate::hook::keeping::thread_word!("metaspy_entry_cells"),
                "mov {cell}, qword ptr [rip + metaspy_entry_cells@GOTTPOFF]",
                "mov {cell}, qword ptr fs:[{cell}]",
                "cmp {tally}, qword ptr [{site} + {cell} + {who}]",
                "jne 22f",
                "mov {cell}, qword ptr [{site} + {cell} + {row}]",
                "inc qword ptr [{cell}]",
                "21:",
                // Behind the functions of this section: it stays exactly as long as the function
                // itself.
                ".subsection 1",
                "22:",
                "lea rsp, [rsp - {red_zone}]",
                "push {site}",
                crate::hook::keeping::leave!(),
                ".subsection 0",
                site = in(reg) site,
                tally = in(reg) tally,
                cell = out(reg) _,
                who = const offset_of!(EntryCell, who),
                row = const offset_of!(EntryCell, row),
                red_zone = const RED_ZONE,
                slowly = sym slowly,
                options(nomem, nostack),
            );
        }
    }

    /// As [`count`], of a call on an object, which the thread may know.
    #[inline(always)]
    #[expect(named_asm_labels, reason = "as above")]
    #[expect(clippy::pointers_in_nomem_asm_block, reason = "as above")]
    pub fn count_on<T: ?Sized>(site: &'static Site, who: u64, object: &T) {
        // SAFETY: as in `count`. The words of a site at the distance 0 are no word that a cell is
        // compared with: an arm word, and a number beside the place of a cell, are smaller. The
        // objects that a thread knows are as many as places, and stay as long as its cells point to
        // them.
        unsafe {
            asm!(
                crate::hook::keeping::thread_word!("metaspy_entry_cells"),
                "mov {cell}, qword ptr [rip + metaspy_entry_cells@GOTTPOFF]",
                "mov {cell}, qword ptr fs:[{cell}]",
                "cmp {word}, qword ptr [{site} + {cell} + {who}]",
                "jne 23f",
                "20:",
                "mov {cell}, qword ptr [{site} + {cell} + {row}]",
                "inc qword ptr [{cell}]",
                "21:",
                ".subsection 1",
                "23:",
                "cmp {word}, qword ptr [{site} + {cell} + {who_of_object}]",
                "jne 22f",
                "cmp {object}, qword ptr [{site} + {cell} + {object_of_cell}]",
                "je 20b",
                "mov {known}, qword ptr [{site} + {cell} + {known_of_cell}]",
                "test {known}, {known}",
                "je 22f",
                "lea {cell}, [{object} + {site}]",
                "imul {cell}, {cell}, {spread}",
                "shr {cell}, 20",
                "and {cell:e}, {last_place}",
                "shl {cell:e}, {shift}",
                "add {known}, {cell}",
                // The row first: a signal handler may let another object take the place, and then
                // one of the others differs.
                "mov {cell}, qword ptr [{known} + {known_row}]",
                "cmp {object}, qword ptr [{known} + {known_object}]",
                "jne 22f",
                "cmp {site}, qword ptr [{known} + {known_site}]",
                "jne 22f",
                "cmp {word}, qword ptr [{known} + {known_who}]",
                "jne 22f",
                "inc qword ptr [{cell}]",
                "jmp 21b",
                "22:",
                "lea rsp, [rsp - {red_zone}]",
                "mov {cell}, qword ptr [rip + {type_name}@GOTPCREL]",
                "push {cell}",
                "push {object}",
                "push {site}",
                crate::hook::keeping::leave!(),
                ".subsection 0",
                site = in(reg) site,
                word = in(reg) who,
                object = in(reg) super::word_of(object),
                cell = out(reg) _,
                known = out(reg) _,
                who = const offset_of!(EntryCell, who),
                row = const offset_of!(EntryCell, row),
                who_of_object = const offset_of!(EntryCell, who_of_object),
                object_of_cell = const offset_of!(EntryCell, object),
                known_of_cell = const offset_of!(EntryCell, known),
                spread = const SPREAD,
                last_place = const KNOWN_OBJECTS - 1,
                shift = const size_of::<KnownObject>().trailing_zeros(),
                known_object = const offset_of!(KnownObject, object),
                known_site = const offset_of!(KnownObject, site),
                known_who = const offset_of!(KnownObject, who),
                known_row = const offset_of!(KnownObject, row),
                type_name = sym core::any::type_name::<T>,
                red_zone = const RED_ZONE,
                slowly = sym slowly_on,
                options(nomem, nostack),
            );
        }
    }

    /// Bytes that the thunk of a call on an object removes: the red zone and four operands.
    const OPERANDS_ON: usize = RED_ZONE + 32;

    /// The rare half of [`count_on`], in place of a call. On the stack are the address to return
    /// to, the cells, the site, the word and the type of the object, and the red zone.
    #[unsafe(naked)]
    pub unsafe extern "C" fn slowly_on() {
        crate::hook::keeping::call_keeping!(OPERANDS_ON, count_on_slowly)
    }

    #[expect(improper_ctypes_definitions, reason = "one compiler compiles both sides")]
    extern "C" fn count_on_slowly(
        site: &'static Site,
        cells: &EntryCells,
        word: u64,
        type_name: fn() -> &'static str,
    ) {
        let place = super::object_word(word, type_name as usize as u64);
        let place = core::ptr::with_exposed_provenance(place as usize);
        super::count_on_slowly(site, cells, Object::from_parts(place, type_name));
    }

    /// Bytes that the thunk removes when it returns: the red zone and two operands.
    const OPERANDS: usize = RED_ZONE + 16;

    /// The rare half, in place of a call. On the stack are the address to return to, the cells, the
    /// site and the red zone.
    #[unsafe(naked)]
    pub unsafe extern "C" fn slowly() {
        crate::hook::keeping::call_keeping!(OPERANDS, count_slowly)
    }

    extern "C" fn count_slowly(site: &'static Site, cells: &EntryCells) {
        super::count_slowly(site, cells);
    }
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
)))]
pub(crate) mod way {
    //! By an ordinary call of the rare half.

    use core::sync::atomic::{AtomicU64, Ordering};

    use crate::hook::entry_cells::{EntryCell, EntryCells, known_place};
    use crate::{Object, Site};

    #[cfg(not(metaspy_bare))]
    std::thread_local! {
        // Constant and without a destructor: it exists as long as its thread.
        pub(crate) static CELLS: EntryCells = const { EntryCells::none() };
    }

    /// Without `std` threads have no cells: the core counts each call.
    #[cfg(metaspy_bare)]
    pub(crate) struct NoCells;
    #[cfg(metaspy_bare)]
    pub(crate) static CELLS: NoCells = NoCells;
    #[cfg(metaspy_bare)]
    impl NoCells {
        pub(crate) fn with<R>(&self, call: impl FnOnce(&EntryCells) -> R) -> R {
            call(&EntryCells::none())
        }
    }

    /// Counts in the cell of this thread.
    #[inline(always)]
    pub fn count(site: &'static Site, tally: u64) {
        CELLS.with(|cells| {
            if !count_in(cells, site, tally) {
                count_slowly(site, cells);
            }
        });
    }

    /// As [`count`], of a call on an object.
    #[inline(always)]
    pub fn count_on<T: ?Sized>(site: &'static Site, who: u64, object: &T) {
        CELLS.with(|cells| {
            if !count_in(cells, site, who)
                && !count_of_object(cells, site, who, super::word_of(object))
            {
                super::count_on_slowly(site, cells, Object::of(object));
            }
        });
    }

    fn count_of_object(cells: &EntryCells, site: &Site, who: u64, word: u64) -> bool {
        let Some(cell) = cell(cells, site) else { return false };
        let is_last = cell.who_of_object.load(Ordering::Relaxed) == who
            && cell.object.load(Ordering::Relaxed) == word;
        let row = if is_last {
            cell.row.load(Ordering::Relaxed)
        } else {
            let site = core::ptr::from_ref(site).addr();
            let known = cell.known.load(Ordering::Relaxed);
            if known.is_null() {
                return false;
            }
            // SAFETY: there are as many as places, and they stay as long as the cell points to
            // them.
            let known = unsafe { &*known.add(known_place(word, site)) };
            // The row first: a signal handler may let another object take the place, and then one
            // of the others differs.
            let row = known.row.load(Ordering::Relaxed);
            core::sync::atomic::compiler_fence(Ordering::Acquire);
            let is_it = known.object.load(Ordering::Relaxed) == word
                && known.site.load(Ordering::Relaxed) == site
                && known.who.load(Ordering::Relaxed) == who;
            if !is_it {
                return false;
            }
            row
        };
        // SAFETY: a cell that has the site's word has a row, and rows stay.
        unsafe { &*row }.fetch_add(1, Ordering::Relaxed);
        true
    }

    #[inline(always)]
    fn count_in(cells: &EntryCells, site: &Site, tally: u64) -> bool {
        let Some(row) = row(cells, site, tally) else { return false };
        row.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// The word that calls at a site are counted in, if the cell of this thread has one.
    #[inline(always)]
    pub(crate) fn row(cells: &EntryCells, site: &Site, tally: u64) -> Option<&'static AtomicU64> {
        let cell = cell(cells, site)?;
        if cell.who.load(Ordering::Relaxed) != tally {
            return None;
        }
        // SAFETY: a cell with a word has a row, and rows stay.
        Some(unsafe { &*cell.row.load(Ordering::Relaxed) })
    }

    /// The cell of a site.
    #[inline(always)]
    fn cell<'c>(cells: &'c EntryCells, site: &Site) -> Option<&'c EntryCell> {
        let distance = cells.distance();
        if distance == 0 {
            return None;
        }
        let at = core::ptr::from_ref(site).addr().wrapping_add(distance);
        // SAFETY: at this distance is the cell of the site, whose thread is this one.
        Some(unsafe { &*core::ptr::with_exposed_provenance::<EntryCell>(at) })
    }

    /// Not in the function itself: it would be compiled with each of them.
    #[cold]
    #[inline(never)]
    fn count_slowly(site: &'static Site, cells: &EntryCells) {
        super::count_slowly(site, cells);
    }
}
