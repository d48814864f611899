//! The two halves of a hook of a woven function. They are here once: in the function itself they would be compiled with
//! each function, and again wherever that is inlined.

use std::arch::naked_asm;
use std::mem::offset_of;

use metaspy_probe::{ANY, COUNTED, Cell, Frame, Object, Seen, Site};

use crate::hook::{adapter, light_call};
use crate::recorder::{Cells, Lane};

/// Begins a call, by the steps of [`Cell::count`](metaspy_probe::Cell).
#[unsafe(naked)]
pub unsafe extern "C" fn begin() {
    naked_asm!(
        ".cfi_startproc",
        // That its thread unwinds is remembered in the frame of a call.
        "test ecx, ecx",
        "jne 90f",
        "mov r11, [rip + metaspy_thread_word@GOTTPOFF]",
        "mov r11, fs:[r11]",
        "test r11, r11",
        "je 80f",
        "mov r11, [r11 + {cells}]",
        "test r11, r11",
        "je 80f",
        "mov ecx, [rax + {cell}]",
        "add r11, rcx",
        "mov rcx, [rax + {counted}]",
        "mov rcx, [rcx]",
        "cmp rcx, [r11 + {who}]",
        "jne 80f",
        "test rcx, rcx",
        "jns 40f",
        "mov rax, [r11 + {rows}]",
        "30:",
        "inc qword ptr [rax - {mark}]",
        "ret",
        // It is counted for method profilers.
        "40:",
        "mov rcx, [r11 + {receiver}]",
        "cmp rcx, {any}",
        "je 50f",
        "cmp rcx, rdx",
        "jne 80f",
        "cmp r9, [r11 + {kind}]",
        "jne 80f",
        "50:",
        "mov rax, [r11 + {rows}]",
        "test al, {mark}",
        "jne 30b",
        "inc qword ptr [rax]",
        "mov rax, [r11 + {also}]",
        "test rax, rax",
        "jne 30b",
        // Nothing of the call is to be ended.
        "mov eax, {mark}",
        "ret",
        "80:",
        call_saving!("mov rdi, rax", "mov rsi, r10", "mov rcx, r9"; "call [rip + {enter}@GOTPCREL]"),
        "90:",
        call_saving!("mov rdi, rax", "mov rsi, r10", "mov rcx, r9"; "call [rip + {enter_slowly}@GOTPCREL]"),
        ".cfi_endproc",
        cells = const offset_of!(Lane, cells) + Cells::SHOWN,
        cell = const offset_of!(Site, cell),
        counted = const offset_of!(Site, counted),
        who = const offset_of!(Cell, who),
        rows = const offset_of!(Cell, rows),
        receiver = const offset_of!(Cell, receiver),
        kind = const offset_of!(Cell, kind),
        also = const offset_of!(Cell, also),
        mark = const COUNTED,
        any = const ANY as i64,
        enter = sym enter,
        enter_slowly = sym enter_slowly,
    )
}

/// Ends a call.
#[unsafe(naked)]
pub unsafe extern "C" fn leave() {
    naked_asm!(
        ".cfi_startproc",
        call_saving!("mov rdi, rax"; "call [rip + {leave}@GOTPCREL]"),
        ".cfi_endproc",
        leave = sym end,
    )
}

#[expect(improper_ctypes_definitions, reason = "one compiler compiles both sides")]
extern "C" fn enter(
    site: &'static Site,
    frame: *mut Frame,
    place: *const u8,
    type_name: fn() -> &'static str,
) -> *mut u8 {
    let Some((lane, notes)) = light_call::notes_at(site) else {
        // The last thing that a function does: it jumps there, and saves no registers.
        return enter_slowly(site, frame, place, type_name);
    };
    if !notes.profilers.is_null() {
        return enter_on_stack(site, frame, place, type_name);
    }
    // SAFETY: the frame is the caller's, who holds it until the call ends.
    match light_call::enter_known_context(lane, site, unsafe { &mut *frame }, notes) {
        Some(begun) => begun,
        None => enter_slowly(site, frame, place, type_name),
    }
}

#[inline(never)]
#[expect(improper_ctypes_definitions, reason = "as above")]
extern "C" fn enter_on_stack(
    site: &'static Site,
    frame: *mut Frame,
    place: *const u8,
    type_name: fn() -> &'static str,
) -> *mut u8 {
    let known = light_call::notes_at(site);
    // SAFETY: as above.
    match known.and_then(|(lane, notes)| light_call::enter_known_stack(lane, site, unsafe { &mut *frame }, notes)) {
        Some(begun) => begun,
        None => enter_slowly(site, frame, place, type_name),
    }
}

#[cold]
#[inline(never)]
#[expect(improper_ctypes_definitions, reason = "as above")]
extern "C" fn enter_slowly(
    site: &'static Site,
    frame: *mut Frame,
    place: *const u8,
    type_name: fn() -> &'static str,
) -> *mut u8 {
    adapter::enter(site, frame, &Seen::of_object(Object::from_parts(place, type_name)))
}

extern "C" fn end(begun: *mut u8) {
    // SAFETY: the hook ends what it began, once.
    if !unsafe { light_call::leave_known(begun) } {
        end_slowly(begun);
    }
}

#[cold]
#[inline(never)]
extern "C" fn end_slowly(begun: *mut u8) {
    adapter::leave(begun);
}
