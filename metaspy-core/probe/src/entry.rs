//! The hook of a woven function whose calls are only counted.
//!
//! It counts a call when it begins, and that is all: nothing is held while the function runs, and nothing runs when it is
//! left. So it does not see how a call ends, on which object it is, or how long it takes.

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

    use core::arch::{asm, naked_asm};
    use core::mem::offset_of;
    use core::sync::atomic::AtomicU8;

    use crate::Site;
    use crate::entry_cells::{EntryCell, EntryCells};

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
                ".ifndef metaspy_entry_cells",
                ".pushsection .tbss.metaspy_entry_cells,\"awGT\",@nobits,metaspy_entry_cells,comdat",
                ".weak metaspy_entry_cells",
                ".hidden metaspy_entry_cells",
                ".type metaspy_entry_cells, @object",
                ".size metaspy_entry_cells, 8",
                ".p2align 3",
                "metaspy_entry_cells:",
                ".zero 8",
                ".popsection",
                ".endif",
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

    /// Bytes below the stack pointer that belong to a function.
    const RED_ZONE: usize = 128;
    /// What the thunk removes when it returns: the red zone and two operands.
    const OPERANDS: usize = RED_ZONE + 16;
    /// Room for the states of vector registers: the largest of known processors takes 2,688 bytes.
    const STATES: usize = 2752;
    /// The states that are saved: SSE, AVX, and the three of AVX-512. No Rust code has values in others.
    const SAVED: u32 = 0xE6;
    /// How this processor saves them: 0 = not yet known, else [`BY_FXSAVE`] or more.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    /// It has the registers of SSE only.
    const BY_FXSAVE: u32 = 1;

    /// The rare half, in place of a call. On the stack are the address to return to, the cells, the site and the red zone.
    /// It keeps all registers, and unwinders pass through it.
    #[unsafe(naked)]
    pub unsafe extern "C" fn slowly() {
        naked_asm!(
            ".cfi_startproc",
            ".cfi_def_cfa rsp, {operands} + 8",
            ".cfi_offset rip, -({operands} + 8)",
            "push rbp",
            ".cfi_def_cfa_offset {operands} + 16",
            ".cfi_offset rbp, -({operands} + 16)",
            "mov rbp, rsp",
            ".cfi_def_cfa_register rbp",
            "push rbx",
            "push rax",
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "push r8",
            "push r9",
            "push r10",
            "push r11",
            "sub rsp, {states}",
            "and rsp, -64",
            "movzx ebx, byte ptr [rip + {known}]",
            "test ebx, ebx",
            "jne 30f",
            "mov eax, 1",
            "xor ecx, ecx",
            "cpuid",
            "bt ecx, {has_xsave}",
            "mov ebx, {by_fxsave}",
            "adc ebx, 0",
            "mov byte ptr [rip + {known}], bl",
            "30:",
            "cmp ebx, {by_fxsave}",
            "je 31f",
            // The head of the states must be zero.
            "xor eax, eax",
            "lea rdi, [rsp + 512]",
            "mov ecx, 8",
            "rep stosq",
            "mov eax, {saved}",
            "xor edx, edx",
            "xsave64 [rsp]",
            "jmp 32f",
            "31:",
            "fxsave64 [rsp]",
            "32:",
            "mov rsi, [rbp + 16]",
            "mov rdi, [rbp + 24]",
            "call {count}",
            "cmp ebx, {by_fxsave}",
            "je 33f",
            "mov eax, {saved}",
            "xor edx, edx",
            "xrstor64 [rsp]",
            "jmp 34f",
            "33:",
            "fxrstor64 [rsp]",
            "34:",
            "lea rsp, [rbp - 80]",
            "pop r11",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            "pop rax",
            "pop rbx",
            "pop rbp",
            ".cfi_def_cfa rsp, {operands} + 8",
            ".cfi_restore rbp",
            "ret {operands}",
            ".cfi_endproc",
            operands = const OPERANDS,
            states = const STATES,
            saved = const SAVED,
            known = sym KNOWN,
            by_fxsave = const BY_FXSAVE,
            has_xsave = const 27,
            count = sym count_slowly,
        )
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
mod way {
    //! By an ordinary call of the rare half.

    use core::sync::atomic::Ordering;

    use crate::Site;
    use crate::entry_cells::{EntryCell, EntryCells};

    #[cfg(not(metaspy_bare))]
    std::thread_local! {
        // Constant and without a destructor: it exists as long as its thread.
        static CELLS: EntryCells = const { EntryCells::none() };
    }

    /// Without `std` threads have no cells: the core counts each call.
    #[cfg(metaspy_bare)]
    struct NoCells;
    #[cfg(metaspy_bare)]
    static CELLS: NoCells = NoCells;
    #[cfg(metaspy_bare)]
    impl NoCells {
        fn with(&self, call: impl FnOnce(&EntryCells)) {
            call(&EntryCells::none());
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
        let distance = cells.distance();
        if distance == 0 {
            return false;
        }
        let at = core::ptr::from_ref(site).addr().wrapping_add(distance);
        // SAFETY: at this distance is the cell of the site, whose thread is this one.
        let cell = unsafe { &*core::ptr::with_exposed_provenance::<EntryCell>(at) };
        if cell.who.load(Ordering::Relaxed) != tally {
            return false;
        }
        // SAFETY: a cell with a word has a row, and rows stay.
        unsafe { &*cell.row.load(Ordering::Relaxed) }.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Not in the function itself: it would be compiled with each of them.
    #[cold]
    #[inline(never)]
    fn count_slowly(site: &'static Site, cells: &EntryCells) {
        super::count_slowly(site, cells);
    }
}
