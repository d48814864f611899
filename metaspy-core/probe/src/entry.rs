//! The hook of a woven function whose calls are only counted.
//!
//! It counts a call when it begins, and that is all: nothing is held while the function runs, and nothing runs when it is
//! left. So it does not see how a call ends, on which object it is, or how long it takes.
//!
//! The command knows before it builds what a run records, and a run that only counts has these
//! hooks. A guard keeps a register and gives each function a way out for panics. Without it, a
//! function that is not armed keeps its size, and a count is ten instructions in place. The price
//! is that outcomes are not known, and that another kind of run builds again.

use core::sync::atomic::Ordering;

use crate::entry_cells::{EntryCell, EntryCells};
use crate::{NO_CELL, Site};

const _: () = assert!(size_of::<EntryCell>() <= size_of::<Site>() && align_of::<EntryCell>() <= align_of::<Site>());
// At the distance 0 a hook takes the site for its cell: the first word of an armed site is no word of a row.
const _: () = assert!(core::mem::offset_of!(Site, arm) == core::mem::offset_of!(EntryCell, who));

impl Site {
    /// Counts a call that begins.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn entered(&'static self) {
        // Such a site is armed if it has a row, so one word is both the test and what the cell is compared with.
        let tally = self.tally.load(Ordering::Relaxed);
        if tally != NO_CELL {
            way::count(self, tally);
        }
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
    //! A function that may call another one saves what it has in registers and aligns its stack, also if it does not call it.
    //! So the rare half of this hook is no call to the compiler. It leaves the function by a jump, saves all registers, and
    //! comes back.

    use core::arch::asm;
    use core::mem::offset_of;

    use crate::Site;
    use crate::entry_cells::{EntryCell, EntryCells};
    use crate::keeping::RED_ZONE;

    /// Counts in the cell of this thread.
    ///
    /// Its [`EntryCells`] are at a fixed distance from the thread pointer. The object files of a program or library define
    /// them, and the linker keeps one definition.
    #[inline(always)]
    #[expect(named_asm_labels, reason = "it is defined once in each object file")]
    #[expect(
        clippy::pointers_in_nomem_asm_block,
        reason = "hooks and the core alone use the words that are read and written, and only as atomics"
    )]
    pub fn count(site: &'static Site, tally: u64) {
        // SAFETY: the linker resolves the symbol to the distance of a word that every thread has. At the distance in it are the
        // cells of this thread; at the distance 0 the site itself, which nothing matches. A cell with this word has a row, and
        // rows stay. The compiler knows nothing of either. What is rare keeps all registers, and what lies below the stack
        // pointer.
        unsafe {
            asm!(
                crate::keeping::thread_word!("metaspy_entry_cells"),
                "mov {cell}, qword ptr [rip + metaspy_entry_cells@GOTTPOFF]",
                "mov {cell}, qword ptr fs:[{cell}]",
                "cmp {tally}, qword ptr [{site} + {cell} + {who}]",
                "jne 22f",
                "mov {cell}, qword ptr [{site} + {cell} + {row}]",
                "inc qword ptr [{cell}]",
                "21:",
                // Behind the functions of this section: what keeps the function keeps this, and nothing else does.
                ".subsection 1",
                "22:",
                "lea rsp, [rsp - {red_zone}]",
                "push {site}",
                "mov {cell}, qword ptr [rip + metaspy_entry_cells@GOTTPOFF]",
                "add {cell}, qword ptr fs:[0]",
                "push {cell}",
                "lea {cell}, [rip + 21b]",
                "push {cell}",
                "jmp qword ptr [rip + {slowly}@GOTPCREL]",
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

    /// What the thunk removes when it returns: the red zone and two operands.
    const OPERANDS: usize = RED_ZONE + 16;

    /// The rare half, in place of a call. On the stack are the address to return to, the cells, the site and the red zone.
    #[unsafe(naked)]
    pub unsafe extern "C" fn slowly() {
        crate::keeping::call_keeping!(OPERANDS, count_slowly)
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

    use crate::Site;
    use crate::entry_cells::{EntryCell, EntryCells};

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

    #[inline(always)]
    fn count_in(cells: &EntryCells, site: &Site, tally: u64) -> bool {
        let Some(row) = row(cells, site, tally) else { return false };
        row.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// The word that calls at a site are counted in, if the cell of this thread has one.
    #[inline(always)]
    pub(crate) fn row(cells: &EntryCells, site: &Site, tally: u64) -> Option<&'static AtomicU64> {
        let distance = cells.distance();
        if distance == 0 {
            return None;
        }
        let at = core::ptr::from_ref(site).addr().wrapping_add(distance);
        // SAFETY: at this distance is the cell of the site, whose thread is this one.
        let cell = unsafe { &*core::ptr::with_exposed_provenance::<EntryCell>(at) };
        if cell.who.load(Ordering::Relaxed) != tally {
            return None;
        }
        // SAFETY: a cell with a word has a row, and rows stay.
        Some(unsafe { &*cell.row.load(Ordering::Relaxed) })
    }

    /// Not in the function itself: it would be compiled with each of them.
    #[cold]
    #[inline(never)]
    fn count_slowly(site: &'static Site, cells: &EntryCells) {
        super::count_slowly(site, cells);
    }
}
