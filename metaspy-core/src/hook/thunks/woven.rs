//! The two halves of a hook of a woven function. They are here once: in the function itself they
//! would be compiled with each function, and again wherever that is inlined.
//!
//! A woven function contains two tests and two calls, and the count is behind the call. A count in
//! place would be compiled again wherever the function is inlined; this hook is half as much code.
//! Only whether the thread unwinds is tested in place, because no assembly can name that word of
//! the standard library.

use std::arch::naked_asm;
use std::mem::offset_of;

use metaspy_probe::{ANY, COUNTED, Cell, Frame, Lean, Object, Seen, Site};

use crate::event::Outcome;
use crate::hook::adapter;
use crate::hook::light_call::{self, LightCall, MARK, MARKS};
use crate::hook::thunks::slowly::begin_event;
use crate::hook::thunks::x86_64::{self, finish};
use crate::method_profilers::{Context, Tree};
use crate::recorder::{CACHED, CachedObservers, Cells, Lane, ProfilerState};
use crate::subject::receiver;

/// The context that a thread is in.
const HERE: usize = offset_of!(Lane, profilers) + offset_of!(ProfilerState, context);
/// Room in a frame for two operands, behind the call that is made there.
const OPERANDS: usize = size_of::<LightCall>();
const _: () = assert!(OPERANDS + 16 <= size_of::<Frame>() && size_of::<Option<&Context>>() == 8);

/// Begins a call, by the steps of [`Cell::count`](metaspy_probe::Cell). The fast path: only a tree
/// of contexts observes the call, and the context around has a cached child, as in `Tree::enter`.
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
        "mov r8, [r11 + {cells}]",
        "test r8, r8",
        "je 80f",
        "mov ecx, [rax + {cell}]",
        "add r8, rcx",
        "mov rcx, [rax + {counted}]",
        "mov rcx, [rcx]",
        "cmp rcx, [r8 + {who}]",
        "jne 60f",
        "test rcx, rcx",
        "jns 40f",
        "mov rax, [r8 + {rows}]",
        "30:",
        "inc qword ptr [rax - {mark}]",
        "ret",
        // It is counted for method profilers.
        "40:",
        "mov rcx, [r8 + {receiver}]",
        "cmp rcx, {any}",
        "je 50f",
        "cmp rcx, rdx",
        "jne 80f",
        "cmp r9, [r8 + {kind}]",
        "jne 80f",
        "50:",
        "mov rax, [r8 + {rows}]",
        "test al, {mark}",
        "jne 30b",
        "inc qword ptr [rax]",
        "mov rax, [r8 + {also}]",
        "test rax, rax",
        "jne 30b",
        // Nothing of the call is to be ended.
        "mov eax, {mark}",
        "ret",
        // It is in a tree alone, which the cell has cached.
        "60:",
        "bts rcx, {is_cached}",
        "cmp rcx, [r8 + {who}]",
        "jne 80f",
        "cmp qword ptr [r8 + {profilers}], 0",
        "jne 80f",
        "mov rcx, [r8 + {receiver}]",
        "cmp rcx, {any}",
        "je 62f",
        "cmp rcx, rdx",
        "jne 80f",
        "cmp r9, [r8 + {kind}]",
        "jne 80f",
        "62:",
        "mov rcx, [r11 + {here}]",
        "test rcx, rcx",
        "je 80f",
        "mov [r10 + {operands}], rdx",
        "mov [r10 + {operands} + 8], r9",
        "mov rdx, [rcx + {table}]",
        "mov r9d, [rax + {site}]",
        "shl r9d, 3",
        "and r9, [rdx + {mask_of_table}]",
        "mov rdx, [rdx + r9 + {places_of_table}]",
        "test rdx, rdx",
        "je 70f",
        "mov r9d, [rax + {site}]",
        "cmp r9d, [rdx + {site_of_node}]",
        "jne 66f",
        "64:",
        "mov r9, [r8 + {tree}]",
        "mov r9, [r9 + {written}]",
        "mov r9, [r9]",
        "cmp r9, [rdx + {written_of_node}]",
        "jne 70f",
        "mov r9, [rdx + {counted_of_node}]",
        "test r9, r9",
        "je 70f",
        "inc qword ptr [r9]",
        "mov [r11 + {here}], rdx",
        "mov rdx, [r8 + {rows}]",
        "test rdx, rdx",
        "je 65f",
        "inc qword ptr [rdx - {mark}]",
        "65:",
        "mov [r10 + {around}], rcx",
        "mov [r10 + {row}], rdx",
        "mov dword ptr [r10 + {on_stack}], 0",
        "mov ecx, [rax + {cell}]",
        "mov [r10 + {cell_of_call}], ecx",
        "mov byte ptr [r10 + {announced}], {returned}",
        "lea rax, [r10 + {light}]",
        "ret",
        // Another context is the first one in this place.
        "66:",
        "mov rdx, [rdx + {next}]",
        "test rdx, rdx",
        "je 70f",
        "cmp r9d, [rdx + {site_of_node}]",
        "jne 66b",
        "jmp 64b",
        "70:",
        "mov rdx, [r10 + {operands}]",
        "mov r9, [r10 + {operands} + 8]",
        "80:",
        "test byte ptr [rax + {arm}], {is_event}",
        "jne 82f",
        call_saving!("mov rdi, rax", "mov rsi, r10", "mov rcx, r9"; "call [rip + {enter}@GOTPCREL]"),
        // An event, and nothing looks into it: its object is its subject.
        "82:",
        "xor r8d, r8d",
        "test rdx, rdx",
        "je 84f",
        call_saving!(
            "push rax", "push r10", "mov rdi, rdx", "mov rsi, r9";
            "call [rip + {subject_of}@GOTPCREL]";
            "mov r8, rax", "pop r10", "pop rax"
        ),
        "84:",
        "mov r9, rdx",
        "mov rcx, [rip + {begin_event}@GOTPCREL]",
        "jmp {enter_about}",
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
        profilers = const offset_of!(Cell, also),
        tree = const offset_of!(Cell, buckets),
        written = const Tree::WRITTEN,
        site = const offset_of!(Site, id),
        here = const HERE,
        operands = const OPERANDS,
        table = const Context::TABLE,
        mask_of_table = const Context::MASK_OF_TABLE,
        places_of_table = const Context::PLACES_OF_TABLE,
        next = const Context::NEXT,
        site_of_node = const Context::SITE,
        written_of_node = const Context::WRITTEN,
        counted_of_node = const Context::COUNTED,
        around = const offset_of!(LightCall, around),
        row = const offset_of!(LightCall, row),
        on_stack = const offset_of!(LightCall, on_stack),
        cell_of_call = const offset_of!(LightCall, cell),
        announced = const offset_of!(LightCall, announced),
        returned = const Outcome::Returned as u8,
        is_cached = const CACHED.trailing_zeros(),
        light = const MARK,
        mark = const COUNTED,
        any = const ANY as i64,
        arm = const offset_of!(Site, arm),
        is_event = const Site::EVENTS,
        enter = sym enter,
        enter_slowly = sym enter_slowly,
        subject_of = sym subject_of,
        begin_event = sym begin_event,
        enter_about = sym x86_64::enter,
    )
}

/// Ends a call. One in a tree alone goes back to the context around; one that is an event and
/// nothing else ends as that of `#[observe]`.
#[unsafe(naked)]
pub unsafe extern "C" fn leave() {
    naked_asm!(
        ".cfi_startproc",
        "test ecx, ecx",
        "jne 80f",
        "mov ecx, eax",
        "and ecx, {marks}",
        "cmp ecx, {light}",
        "jne 60f",
        "cmp dword ptr [rax + {on_stack}], 0",
        "jne 80f",
        "cmp byte ptr [rax + {announced}], {returned}",
        "jne 80f",
        "mov r11, [rip + metaspy_thread_word@GOTTPOFF]",
        "mov r11, fs:[r11]",
        "test r11, r11",
        "je 80f",
        "mov rcx, [rax + {around}]",
        "mov [r11 + {here}], rcx",
        "ret",
        // An event and nothing else, and the outcome that it announced.
        "60:",
        "and ecx, 3",
        "cmp ecx, 2",
        "jne 80f",
        "mov r8d, eax",
        "shr r8d, {announced_at}",
        "mov ecx, {returned}",
        "and r8d, 7",
        "cmove r8d, ecx",
        "jmp {finish}",
        "80:",
        call_saving!("mov rdi, rax"; "call [rip + {leave}@GOTPCREL]"),
        ".cfi_endproc",
        leave = sym end,
        finish = sym finish,
        announced_at = const Lean::ANNOUNCED_AT,
        marks = const MARKS,
        light = const MARK,
        on_stack = const offset_of!(LightCall, on_stack) - MARK,
        announced = const offset_of!(LightCall, announced) - MARK,
        around = const offset_of!(LightCall, around) as isize - MARK as isize,
        returned = const Outcome::Returned as u8,
        here = const HERE,
    )
}

#[expect(improper_ctypes_definitions, reason = "one compiler compiles both sides")]
extern "C" fn enter(
    site: &'static Site,
    frame: *mut Frame,
    place: *const u8,
    type_name: fn() -> &'static str,
) -> *mut u8 {
    let receiver = (place.addr() as u64, type_name as usize as u64);
    let is_known = |observers: CachedObservers| {
        !observers.profilers.is_null() && observers.are_about(receiver)
    };
    let known = light_call::cached_at(site).filter(|(_, observers)| is_known(*observers));
    // SAFETY: the frame is the caller's, who holds it until the call ends.
    let of_caller = unsafe { &mut *frame };
    match known.and_then(|(lane, observers)| {
        light_call::enter_known_stack(lane, site, of_caller, observers)
    }) {
        Some(begun) => begun,
        None => match light_call::count_further(site, receiver) {
            Some(begun) => begun,
            // The last thing that the function does: it jumps there, and saves no registers.
            None => enter_slowly(site, frame, place, type_name),
        },
    }
}

/// A subject in two registers.
#[repr(C)]
struct KeyAndKind {
    key: u64,
    kind: u64,
}

#[expect(improper_ctypes_definitions, reason = "as above")]
extern "C" fn subject_of(place: *const u8, type_name: fn() -> &'static str) -> KeyAndKind {
    let subject = receiver::subject(&Object::from_parts(place, type_name).receiver());
    KeyAndKind { key: subject.key, kind: subject.kind.0.into() }
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
    // SAFETY: the hook ends the call that it began, once.
    if !unsafe { light_call::leave_known(begun) } {
        end_slowly(begun);
    }
}

#[cold]
#[inline(never)]
extern "C" fn end_slowly(begun: *mut u8) {
    adapter::leave(begun);
}
