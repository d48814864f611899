//! Assembly that leaves an observed function by a jump, for the rare paths of a hook, and keeps all
//! registers.
//!
//! A function that may call another one saves its registers and aligns its stack, also if it does
//! not call it. So the rare half of a hook is no call to the compiler. Plain Rust runs elsewhere
//! and under sanitizers.

use core::sync::atomic::AtomicU8;

/// Bytes below the stack pointer that belong to a function.
pub(crate) const RED_ZONE: usize = 128;
/// Room for the states of vector registers: the largest of known processors takes 2,688 bytes.
pub(crate) const STATES: usize = 2752;
/// The states that are saved: SSE, AVX, and the three of AVX-512. No Rust code has values in
/// others.
pub(crate) const SAVED: u32 = 0xE6;
/// How this processor saves them: 0 = not yet known, else [`BY_FXSAVE`] or more.
pub(crate) static KNOWN: AtomicU8 = AtomicU8::new(0);
/// It has the registers of SSE only.
pub(crate) const BY_FXSAVE: u32 = 1;

/// Defines a word of each thread at a fixed distance from the thread pointer. The object files of a
/// program or library define it, and the linker keeps one definition.
#[rustfmt::skip]
macro_rules! thread_word {
    ($name:literal) => {
        concat!(
            ".ifndef ", $name, "\n",
            ".pushsection .tbss.", $name, ",\"awGT\",@nobits,", $name, ",comdat\n",
            ".weak ", $name, "\n",
            ".hidden ", $name, "\n",
            ".type ", $name, ", @object\n",
            ".size ", $name, ", 8\n",
            ".p2align 3\n",
            $name, ":\n",
            ".zero 8\n",
            ".popsection\n",
            ".endif",
        )
    };
}

/// Leaves a hook for its rare half, `{slowly}`, which comes back to the label 21. The operands of
/// the rare half but the last one, the cells of this thread, are on the stack. `{cell}` is free.
#[rustfmt::skip]
macro_rules! leave {
    () => {
        concat!(
            "mov {cell}, qword ptr [rip + metaspy_entry_cells@GOTTPOFF]\n",
            "add {cell}, qword ptr fs:[0]\n",
            "push {cell}\n",
            "lea {cell}, [rip + 21b]\n",
            "push {cell}\n",
            "jmp qword ptr [rip + {slowly}@GOTPCREL]",
        )
    };
}

/// The body of a naked function that calls another one and keeps all registers; unwinders pass
/// through it. On the stack are the address to return to, the second, the first and maybe two
/// further operands, and the red zone: so many bytes, which it removes. With `then` this is done
/// before the registers come back: rax is the result, and `[rbp - 16]` becomes rax.
macro_rules! call_keeping {
    ($operands:expr, $function:ident $(, then $result:literal)?) => {
        core::arch::naked_asm!(
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
            "mov rdx, [rbp + 32]",
            "mov rcx, [rbp + 40]",
            "call {function}",
            $($result,)?
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
            operands = const $operands,
            states = const $crate::hook::keeping::STATES,
            saved = const $crate::hook::keeping::SAVED,
            known = sym $crate::hook::keeping::KNOWN,
            by_fxsave = const $crate::hook::keeping::BY_FXSAVE,
            has_xsave = const 27,
            function = sym $function,
        )
    };
}

pub(crate) use {call_keeping, leave, thread_word};
