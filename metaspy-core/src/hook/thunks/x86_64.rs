//! By assembly: the common paths of [`recorder::begin_lean`] and [`recorder::end_lean`], and of a
//! count by a dense key.
//!
//! A thunk takes its operands in the registers that [`Thunks`] lists, and changes no others. Every
//! rare case leaves the common path before anything is written, or with the gate closed, and is an
//! ordinary call in a frame of its own. The frame is described to unwinders, so a backtrace passes
//! through it; no panic does, because the called functions are `extern "C"`.
//!
//! The order of loads and stores is that of the Rust functions: the gate closes, the slot is found,
//! its words are written, word 0 commits them, the gate opens. A signal handler between two of
//! these instructions finds the gate closed, so it neither takes this slot nor leaves its block.

use std::arch::naked_asm;
use std::mem::offset_of;

use metaspy_probe::{COUNTED, Cell, Lean, Site, Thunks, hash};

use crate::format::slot::{self, FLAG_BITS, START_BITS};
use crate::hook::thunks::slowly::{begin_next_timed, begin_timed, begin_untimed, finish_slowly};
use crate::hook::thunks::woven::{begin, leave};
use crate::recorder::{Cells, EPOCH, Gate, Lane};

pub(in crate::hook) const THUNKS: Thunks = Thunks { enter, finish, begin, leave };

/// The constant of [`Subject::hash`](crate::subject::Subject::hash), as an operand.
static SCATTERING: u64 = hash::SCATTERING;

/// Closes the gate and takes a slot. rcx: the event's id, rdx: its slot. Leaves if the gate is not
/// open, or, with the gate closed, if no slot is left.
macro_rules! take_slot {
    ($otherwise:literal, $full:literal) => {
        concat!(
            "mov rdx, [rip + {epoch}@GOTPCREL]\n",
            "mov edx, [rdx]\n",
            "cmp rdx, [r11 + {gate}]\n",
            "jne ",
            $otherwise,
            "\n",
            "mov qword ptr [r11 + {gate}], -1\n",
            "mov rcx, [r11 + {next}]\n",
            "mov edx, ecx\n",
            "and edx, 127\n",
            "je ",
            $full,
            "\n",
            "shl edx, 5\n",
            "add rdx, [r11 + {block}]\n",
        )
    };
}

/// Writes cause, key and the running word into the slot at rdx.
macro_rules! write_slot {
    ($flags:literal) => {
        concat!(
            "mov [rdx + 16], r8\n",
            "mov r8, [r11 + {current}]\n",
            "mov [rdx + 8], r8\n",
            "or r9, [r11 + {running}]\n",
            "or r9, ",
            $flags,
            "\n",
            "mov [rdx + 24], r9\n",
        )
    };
}

/// Commits the slot at r9, whose stamp is in rax and whose site is at r8, makes it the current
/// event and opens the gate.
macro_rules! commit_slot {
    ($marks:literal) => {
        concat!(
            "mov edx, [r8 + {config}]\n",
            "shl edx, 12\n",
            "shr edx, 4\n",
            "or rax, rdx\n",
            "mov [r9], rax\n",
            "lea rax, [rcx + 1]\n",
            "mov [r11 + {next}], rax\n",
            "mov [r11 + {current}], rcx\n",
            "mov rax, [r11 + {at_rest}]\n",
            "mov [r11 + {gate}], rax\n",
            "shl rcx, 8\n",
            "or rcx, [r11 + {common}]\n",
            "lea rax, [rcx + ",
            $marks,
            "]\n",
            "ret\n",
        )
    };
}

/// Begins a call.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn enter() {
    naked_asm!(
        ".cfi_startproc",
        "mov r11, [rip + metaspy_thread_word@GOTTPOFF]",
        "mov r11, fs:[r11]",
        "test r11, r11",
        "je 80f",
        "test byte ptr [rax + {arm}], {is_event}",
        "jne 30f",
        // A call that is counted.
        "mov r11, [r11 + {cells}]",
        "test r11, r11",
        "je 80f",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "mov esi, [rax + {cell}]",
        "add r11, rsi",
        "mov rsi, [rax + {counted}]",
        "mov rsi, [rsi]",
        "shl r9, 20",
        "or rsi, r9",
        "cmp rsi, [r11 + {who}]",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "jne 78f",
        "cmp r8, [r11 + {length}]",
        "jae 78f",
        "mov rax, r8",
        "shl rax, 4",
        "add rax, [r11 + {rows}]",
        "inc qword ptr [rax - 1]",
        "ret",
        "30:",
        "test byte ptr [rax + {arm}], {is_timed}",
        "je 20f",
        // An event that is timed.
        take_slot!("70f", "68f"),
        write_slot!("{timed_flags}"),
        "mov r9, rdx",
        "mov r8, rax",
        "rdtsc",
        "shl rdx, 32",
        "or rax, rdx",
        "sub rax, [r11 + {base}]",
        "mov rdx, rax",
        "shr rdx, {start_bits}",
        "jne 60f",
        "shl rax, 28",
        "or rax, [r11 + {lap}]",
        "mov [r11 + {stamp}], rax",
        commit_slot!("{timed_mark}"),
        "20:",
        // An event that may be timed.
        "mov rdx, [r11 + {untimed}]",
        "sub rdx, 1",
        "jb 72f",
        "mov [r11 + {untimed}], rdx",
        take_slot!("74f", "73f"),
        write_slot!("{untimed_flags}"),
        "mov r9, rdx",
        "mov r8, rax",
        "mov rax, [r11 + {stamp}]",
        commit_slot!("0"),
        // The start is out of range: nothing is committed. The overwritten words are in the slot.
        "60:",
        "mov rax, [r11 + {at_rest}]",
        "mov [r11 + {gate}], rax",
        "mov rax, r8",
        "mov r8, [r9 + 16]",
        "movzx r9, word ptr [r9 + 24]",
        "jmp 70f",
        "68:",
        "mov rdx, [r11 + {at_rest}]",
        "mov [r11 + {gate}], rdx",
        "70:",
        "mov rcx, [rip + {begin_timed}@GOTPCREL]",
        "jmp 80f",
        "72:",
        "mov rcx, [rip + {begin_next_timed}@GOTPCREL]",
        "jmp 80f",
        "73:",
        "mov rdx, [r11 + {at_rest}]",
        "mov [r11 + {gate}], rdx",
        "74:",
        "mov rcx, [rip + {begin_untimed}@GOTPCREL]",
        "jmp 80f",
        "78:",
        "shr r9, 20",
        "jmp 82f",
        "80:",
        "xor r11d, r11d",
        "82:",
        "test byte ptr [rax + {arm}], {is_filtered}",
        "je 86f",
        // Most calls at such a site are about other subjects: nothing observes them.
        "mov r11, r9",
        "shl r11, 48",
        "xor r11, r8",
        "imul r11, [rip + {scattering}]",
        "shr r11, 58",
        "push rcx",
        ".cfi_adjust_cfa_offset 8",
        "mov rcx, [rax + {filter}]",
        "bt rcx, r11",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        // The flags stay.
        "mov r11d, 0",
        "jc 86f",
        "mov eax, {not_observed}",
        "ret",
        "86:",
        call_saving!(
            "mov rdi, r10", "mov rsi, rax", "mov rax, rcx", "mov rcx, r8", "mov r8, r9", "mov r9, r11"; "call rax"
        ),
        ".cfi_endproc",
        arm = const offset_of!(Site, arm),
        is_timed = const Site::TIMED,
        is_event = const Site::EVENTS,
        is_filtered = const Site::FILTERED,
        filter = const offset_of!(Site, filter),
        scattering = sym SCATTERING,
        not_observed = const COUNTED,
        epoch = sym EPOCH,
        gate = const offset_of!(Lane, gate) + Gate::NOW,
        at_rest = const offset_of!(Lane, gate) + Gate::AT_REST,
        next = const offset_of!(Lane, next),
        block = const offset_of!(Lane, block),
        current = const offset_of!(Lane, current),
        running = const offset_of!(Lane, running),
        base = const offset_of!(Lane, base),
        lap = const offset_of!(Lane, lap),
        stamp = const offset_of!(Lane, stamp),
        common = const offset_of!(Lane, common),
        untimed = const offset_of!(Lane, untimed),
        cells = const offset_of!(Lane, cells) + Cells::SHOWN,
        timed_flags = const slot::held(slot::flags(0, true)),
        untimed_flags = const slot::held(slot::flags(0, false)),
        start_bits = const START_BITS,
        timed_mark = const Lean::TIMED,
        config = const offset_of!(Site, config),
        cell = const offset_of!(Site, cell),
        counted = const offset_of!(Site, counted),
        who = const offset_of!(Cell, who),
        length = const offset_of!(Cell, length),
        rows = const offset_of!(Cell, rows),
        begin_timed = sym begin_timed,
        begin_next_timed = sym begin_next_timed,
        begin_untimed = sym begin_untimed,
    )
}

/// Ends a call.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn finish() {
    naked_asm!(
        ".cfi_startproc",
        "mov ecx, eax",
        "and ecx, 3",
        "cmp ecx, 2",
        "jne 80f",
        "mov r11, [rip + metaspy_thread_word@GOTTPOFF]",
        "mov r11, fs:[r11]",
        // It began on another thread, whose stack is resumed on this one.
        "test r11, r11",
        "je 65f",
        "mov r9, rax",
        "test al, {timed_mark}",
        "je 20f",
        // Read first, so that the hook's own work is not in the event's time.
        "rdtsc",
        "shl rdx, 32",
        "or rax, rdx",
        find_slot!("70f"),
        "mov r10, rax",
        "sub r10, [r11 + {base}]",
        "mov rdx, [rcx]",
        "shr rdx, 28",
        "neg rdx",
        "add rdx, r10",
        // Out of range, or another core's counter is behind.
        "mov rax, r10",
        "or rax, rdx",
        "shr rax, {start_bits}",
        "jne 60f",
        "shl r10, 28",
        "or r10, [r11 + {lap}]",
        "mov [r11 + {stamp}], r10",
        "shl rdx, {flag_bits}",
        "shl r8d, 16",
        "or rdx, r8",
        "mov eax, [rcx + 24]",
        "and eax, {kept}",
        "or rax, rdx",
        "mov [rcx + 24], rax",
        "mov rax, [rcx + 8]",
        "mov [r11 + {current}], rax",
        "mov rax, [r11 + {at_rest}]",
        "mov [r11 + {gate}], rax",
        "ret",
        "20:",
        find_slot!("72f"),
        "shl r8d, 16",
        "mov eax, [rcx + 24]",
        "and eax, {kept}",
        "or rax, r8",
        "mov [rcx + 24], rax",
        "mov rax, [rcx + 8]",
        "mov [r11 + {current}], rax",
        "mov rax, [r11 + {at_rest}]",
        "mov [r11 + {gate}], rax",
        "ret",
        "60:",
        "mov rax, r10",
        "add rax, [r11 + {base}]",
        "jmp 70f",
        "65:",
        "xor edx, edx",
        "jmp 80f",
        "72:",
        "xor eax, eax",
        "70:",
        "mov rdx, [r11 + {at_rest}]",
        "mov [r11 + {gate}], rdx",
        "mov rdx, rax",
        "mov rax, r9",
        "80:",
        call_saving!("mov rdi, rax", "mov rsi, r8"; "call [rip + {finish_slowly}@GOTPCREL]"),
        ".cfi_endproc",
        timed_mark = const Lean::TIMED,
        gate = const offset_of!(Lane, gate) + Gate::NOW,
        at_rest = const offset_of!(Lane, gate) + Gate::AT_REST,
        held = const offset_of!(Lane, held),
        current = const offset_of!(Lane, current),
        block = const offset_of!(Lane, block),
        base = const offset_of!(Lane, base),
        lap = const offset_of!(Lane, lap),
        stamp = const offset_of!(Lane, stamp),
        start_bits = const START_BITS,
        flag_bits = const FLAG_BITS,
        kept = const slot::without_details(u64::MAX),
        finish_slowly = sym finish_slowly,
    )
}

/// Closes the gate and finds the slot of the event in r9, in rcx. Leaves if the lane does not hold
/// its block, or is in another event.
macro_rules! find_slot {
    ($otherwise:literal) => {
        concat!(
            "mov qword ptr [r11 + {gate}], -1\n",
            "mov rcx, r9\n",
            "shr rcx, 15\n",
            "cmp rcx, [r11 + {held}]\n",
            "jne ",
            $otherwise,
            "\n",
            "mov rcx, r9\n",
            "shl rcx, 8\n",
            "shr rcx, 16\n",
            "cmp rcx, [r11 + {current}]\n",
            "jne ",
            $otherwise,
            "\n",
            "and ecx, 127\n",
            "shl ecx, 5\n",
            "add rcx, [r11 + {block}]\n",
        )
    };
}
use find_slot;
