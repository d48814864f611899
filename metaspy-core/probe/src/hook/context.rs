//! The hook of a woven function whose calls are counted in their calling contexts, and nothing else
//! of them is recorded.
//!
//! It counts a call when it begins, as [`Site::entered`] does, and once more in its context. When
//! the function is left, one store moves the thread back to the context around, whatever happened
//! in between.
//!
//! A run that needs calling contexts and no more has these hooks, instead of a frame of the call
//! behind two calls of a thunk. All that such a call holds is the context around it, one register.
//! One comparison with the site's word shows that a context is of this recording and epoch. Async
//! functions have the larger hooks, which leave and enter their contexts at each poll.

use core::ptr::null_mut;
use core::sync::atomic::Ordering;

use crate::{ContextWord, EntryCells, NO_CELL, Site};

/// A call in its context. Dropping it moves the thread back to the context around: this one, or
/// null if it stays where it is.
#[must_use = "dropping it leaves the context"]
pub struct InContext(*mut ());

impl Drop for InContext {
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    fn drop(&mut self) {
        if !self.0.is_null() {
            way::go_back(self.0);
        }
    }
}

impl Site {
    /// Counts a call that begins, in its context.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn enter_context(&'static self) -> InContext {
        // As in `Site::entered`.
        let tally = self.tally.load(Ordering::Relaxed);
        if tally == NO_CELL { InContext(null_mut()) } else { InContext(way::count(self, tally)) }
    }
}

/// Counts a call that the thread could not count by itself. Returns the context to go back to.
/// These words may count the next one.
fn count_slowly(site: &'static Site, cells: &EntryCells, word: &ContextWord) -> *mut () {
    match site.adapter() {
        Some(adapter) => (adapter.enter_context)(site, cells, word),
        None => null_mut(),
    }
}

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
))]
mod way {
    //! By assembly, whose rare half is no call, as that of hooks that only count.

    use core::arch::asm;
    use core::mem::{offset_of, size_of};

    use crate::Site;
    use crate::hook::context_word::{ContextHead, ContextTable, ContextWord};
    use crate::hook::entry_cells::{EntryCell, EntryCells};
    use crate::hook::keeping::{RED_ZONE, call_keeping, leave, thread_word};

    /// Counts in the cell of this thread, and in the context that the one around remembers.
    #[inline(always)]
    #[expect(named_asm_labels, reason = "it is defined once in each object file")]
    #[expect(
        clippy::pointers_in_nomem_asm_block,
        reason = "hooks and the core alone use the words that are read and written, and only as atomics"
    )]
    pub fn count(site: &'static Site, tally: u64) -> *mut () {
        let around;
        // SAFETY: as in `entry`, of two words of the thread. The second one is null or the address
        // of the thread's own word for its context, which is null or a context of this thread.
        // Contexts and their tables stay, and one with the word of the site has a word to count in.
        unsafe {
            asm!(
                thread_word!("metaspy_entry_cells"),
                thread_word!("metaspy_context"),
                "mov {here}, qword ptr [rip + metaspy_context@GOTTPOFF]",
                "mov {here}, qword ptr fs:[{here}]",
                "test {here}, {here}",
                "je 22f",
                "mov rax, qword ptr [{here}]",
                "test rax, rax",
                "je 22f",
                "mov {cell}, qword ptr [rax + {table}]",
                "mov {child:e}, dword ptr [{site} + {id}]",
                "shl {child:e}, 3",
                "and {child}, qword ptr [{cell} + {mask}]",
                "mov {child}, qword ptr [{cell} + {child} + {places}]",
                "test {child}, {child}",
                "je 22f",
                "cmp {tally}, qword ptr [{child} + {who}]",
                "jne 24f",
                "25:",
                "mov {cell}, qword ptr [rip + metaspy_entry_cells@GOTTPOFF]",
                "mov {cell}, qword ptr fs:[{cell}]",
                "cmp {tally}, qword ptr [{site} + {cell} + {who_of_cell}]",
                "jne 22f",
                "mov {cell}, qword ptr [{site} + {cell} + {row}]",
                "inc qword ptr [{cell}]",
                "mov {cell}, qword ptr [{child} + {counted}]",
                "inc qword ptr [{cell}]",
                "mov qword ptr [{here}], {child}",
                "21:",
                ".subsection 1",
                // Another context is the first one in this place.
                "24:",
                "mov {child}, qword ptr [{child} + {next}]",
                "test {child}, {child}",
                "je 22f",
                "cmp {tally}, qword ptr [{child} + {who}]",
                "jne 24b",
                "jmp 25b",
                "22:",
                "lea rsp, [rsp - {red_zone}]",
                "mov {cell}, qword ptr [rip + metaspy_context@GOTTPOFF]",
                "add {cell}, qword ptr fs:[0]",
                "push {cell}",
                "push {site}",
                leave!(),
                ".subsection 0",
                site = in(reg) site,
                tally = in(reg) tally,
                here = out(reg) _,
                child = out(reg) _,
                cell = out(reg) _,
                out("rax") around,
                id = const offset_of!(Site, id),
                table = const offset_of!(ContextHead, table),
                mask = const offset_of!(ContextTable, mask),
                places = const size_of::<ContextTable>(),
                who = const offset_of!(ContextHead, who),
                next = const offset_of!(ContextHead, next),
                counted = const offset_of!(ContextHead, counted),
                who_of_cell = const offset_of!(EntryCell, who),
                row = const offset_of!(EntryCell, row),
                red_zone = const RED_ZONE,
                slowly = sym slowly,
                options(nomem, nostack),
            );
        }
        around
    }

    /// Moves the thread back to a context.
    #[inline(always)]
    #[expect(named_asm_labels, reason = "as above")]
    #[expect(clippy::pointers_in_nomem_asm_block, reason = "as above")]
    pub fn go_back(around: *mut ()) {
        // SAFETY: as above. A call that ends on another thread than it began on may find no word
        // there.
        unsafe {
            asm!(
                thread_word!("metaspy_context"),
                "mov {here}, qword ptr [rip + metaspy_context@GOTTPOFF]",
                "mov {here}, qword ptr fs:[{here}]",
                "test {here}, {here}",
                "je 23f",
                "mov qword ptr [{here}], {around}",
                "23:",
                here = out(reg) _,
                around = in(reg) around,
                options(nomem, nostack),
            );
        }
    }

    /// Bytes that the thunk removes when it returns: the red zone and three operands.
    const OPERANDS: usize = RED_ZONE + 24;

    /// The rare half, in place of a call. On the stack are the address to return to, the cells, the
    /// site, the word of the context and the red zone.
    #[unsafe(naked)]
    pub unsafe extern "C" fn slowly() {
        call_keeping!(OPERANDS, count_slowly, then "mov [rbp - 16], rax")
    }

    extern "C" fn count_slowly(
        site: &'static Site,
        cells: &EntryCells,
        word: &ContextWord,
    ) -> *mut () {
        super::count_slowly(site, cells, word)
    }
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
)))]
mod way {
    //! By an ordinary call of the rare half.

    use core::sync::atomic::{AtomicPtr, Ordering};

    use crate::Site;
    use crate::hook::context_word::{ContextHead, ContextWord};
    use crate::hook::entry::way::{CELLS, row};
    use crate::hook::entry_cells::EntryCells;

    #[cfg(not(metaspy_bare))]
    std::thread_local! {
        // Constant and without a destructor: it exists as long as its thread.
        static WORD: ContextWord = const { ContextWord::none() };
    }

    /// Without `std` there is no core either.
    #[cfg(metaspy_bare)]
    struct NoWord;
    #[cfg(metaspy_bare)]
    static WORD: NoWord = NoWord;
    #[cfg(metaspy_bare)]
    impl NoWord {
        fn with<R>(&self, call: impl FnOnce(&ContextWord) -> R) -> R {
            call(&ContextWord::none())
        }
    }

    /// Counts in the cell of this thread, and in the context that the one around remembers.
    #[inline(always)]
    pub fn count(site: &'static Site, tally: u64) -> *mut () {
        CELLS.with(|cells| {
            WORD.with(|word| match count_in(cells, word, site, tally) {
                Some(around) => around,
                None => count_slowly(site, cells, word),
            })
        })
    }

    #[inline(always)]
    fn count_in(
        cells: &EntryCells,
        word: &ContextWord,
        site: &Site,
        tally: u64,
    ) -> Option<*mut ()> {
        // SAFETY: it is null, or a word of this thread.
        let here = unsafe { word.address().as_ref() }?;
        let around = here.load(Ordering::Relaxed);
        // SAFETY: it is null or a context, and those stay, as their tables do. The mask finds
        // places of the table.
        let mut child = unsafe {
            let table = around.cast::<ContextHead>().as_ref()?.table.load(Ordering::Relaxed);
            let place = ((site.id.load(Ordering::Relaxed) as usize) << 3) & (*table).mask;
            (*table.add(1).cast::<AtomicPtr<ContextHead>>().byte_add(place))
                .load(Ordering::Relaxed)
                .as_ref()
        }?;
        while child.who.load(Ordering::Relaxed) != tally {
            // SAFETY: as above.
            child = unsafe { child.next.load(Ordering::Relaxed).as_ref() }?;
        }
        row(cells, site, tally)?.fetch_add(1, Ordering::Relaxed);
        // SAFETY: a context with a word of a site has a word to count in, which stays.
        unsafe { &*child.counted.load(Ordering::Relaxed) }.fetch_add(1, Ordering::Relaxed);
        here.store(core::ptr::from_ref(child).cast_mut().cast(), Ordering::Relaxed);
        Some(around)
    }

    /// Not in the function itself: it would be compiled with each of them.
    #[cold]
    #[inline(never)]
    fn count_slowly(site: &'static Site, cells: &EntryCells, word: &ContextWord) -> *mut () {
        super::count_slowly(site, cells, word)
    }

    /// Moves the thread back to a context.
    #[inline(always)]
    pub fn go_back(around: *mut ()) {
        WORD.with(|word| {
            // SAFETY: it is null, or a word of this thread.
            if let Some(here) = unsafe { word.address().as_ref() } {
                here.store(around, Ordering::Relaxed);
            }
        });
    }
}
