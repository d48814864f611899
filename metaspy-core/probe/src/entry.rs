//! The hook of a woven function of which only the number of calls is recorded.
//!
//! It counts a call when it begins, and that is all: nothing is held while the function runs, and nothing runs when it is
//! left. So it does not see how a call ends, on which object it is, or how long it takes.

use crate::{Counters, Site};

impl Site {
    /// Counts a call that begins.
    #[cfg_attr(metaspy_called, inline(never))]
    #[cfg_attr(not(metaspy_called), inline(always))]
    pub fn entered(&'static self) {
        if self.is_armed() {
            way::count(self);
        }
    }
}

/// Counts a call that the thread could not count by itself. These counters may count the next one.
fn count_slowly(site: &'static Site, counters: *const Counters) {
    if let Some(adapter) = site.adapter() {
        (adapter.entered)(site, counters);
    }
}

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
))]
mod way {
    //! By assembly: eleven instructions in two registers.
    //!
    //! A function that may call another one saves what it has in registers and aligns its stack, also if it does not call it.
    //! So the rare half of this hook is no call to the compiler. It leaves the function by a jump, saves all registers, and
    //! comes back.

    use core::arch::{asm, naked_asm};
    use core::mem::offset_of;
    use core::sync::atomic::AtomicU8;

    use crate::lean::COUNTED;
    use crate::{Cell, Counters, Site};

    /// By the steps of [`Cell::count_entry`].
    ///
    /// The counters are a word of each thread at a fixed distance from the thread pointer. Each program and library that
    /// contains such hooks has one: its object files define it, and the linker keeps one of them.
    #[inline(always)]
    #[expect(named_asm_labels, reason = "it is defined once in each object file")]
    pub fn count(site: &'static Site) {
        // SAFETY: the linker resolves the symbol to the distance of a word that every thread has. What is read and counted up
        // is as in `Cell::count_entry`, and nothing that the compiler knows of. What is rare keeps all registers, and what
        // lies below the stack pointer.
        unsafe {
            asm!(
                ".ifndef metaspy_entry_counters",
                ".pushsection .tbss.metaspy_entry_counters,\"awGT\",@nobits,metaspy_entry_counters,comdat",
                ".weak metaspy_entry_counters",
                ".hidden metaspy_entry_counters",
                ".type metaspy_entry_counters, @object",
                ".size metaspy_entry_counters, 8",
                ".p2align 3",
                "metaspy_entry_counters:",
                ".zero 8",
                ".popsection",
                ".endif",
                "mov {cell}, qword ptr [rip + metaspy_entry_counters@GOTTPOFF]",
                "mov {cell}, qword ptr fs:[{cell}]",
                "test {cell}, {cell}",
                "je 22f",
                "mov {word:e}, dword ptr [{site} + {place}]",
                "add {cell}, {word}",
                "mov {word}, qword ptr [{site} + {tally}]",
                "cmp {word}, qword ptr [{cell} + {who}]",
                "jne 22f",
                "mov {cell}, qword ptr [{cell} + {rows}]",
                "inc qword ptr [{cell} - {mark}]",
                "21:",
                // Behind the functions of this section: what keeps the function keeps this, and nothing else does.
                ".subsection 1",
                "22:",
                "lea rsp, [rsp - {red_zone}]",
                "push {site}",
                "mov {cell}, qword ptr [rip + metaspy_entry_counters@GOTTPOFF]",
                "add {cell}, qword ptr fs:[0]",
                "push {cell}",
                "lea {cell}, [rip + 21b]",
                "push {cell}",
                "jmp qword ptr [rip + {slowly}@GOTPCREL]",
                ".subsection 0",
                site = in(reg) site,
                cell = out(reg) _,
                word = out(reg) _,
                place = const offset_of!(Site, cell),
                tally = const offset_of!(Site, tally),
                who = const offset_of!(Cell, who),
                rows = const offset_of!(Cell, rows),
                mark = const COUNTED,
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
    /// How this processor saves all of them at once: 0 = not yet known, else [`BY_FXSAVE`] or more.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    /// It saves only those of SSE, and has no others.
    const BY_FXSAVE: u32 = 1;

    /// The rare half, in place of a call. On the stack are the address to return to, the counters, the site and the red zone.
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

    extern "C" fn count_slowly(site: &'static Site, counters: *const Counters) {
        super::count_slowly(site, counters);
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

    use crate::{Counters, Site};

    #[inline(always)]
    pub fn count(site: &'static Site) {
        if !Counters::count_entry(site) {
            count_slowly(site);
        }
    }

    /// Not in the function itself: it would be compiled with each of them.
    #[cold]
    #[inline(never)]
    fn count_slowly(site: &'static Site) {
        super::count_slowly(site, Counters::of_thread());
    }
}
