//! The two halves of a hook, called so that the observed function keeps its registers.
//!
//! On x86-64 Linux the adapter has two functions with a calling convention of their own
//! ([`Thunks`]). All registers but their operands stay as they are, so a function that is not armed
//! saves none. Elsewhere, and under sanitizers, the same calls are plain Rust.
//!
//! The functions are in assembly, for lean events, for dense counts and for counts of woven
//! functions. A call of plain Rust may change nine registers, which the observed function then
//! saves, armed or not. A full event takes 140 instructions in place of 192. Vector registers are
//! declared as changed: they have several widths, and the compiler saves those in use. Each frame
//! is described to unwinders.

use crate::{Cell, Entered, Frame, Object, Outcome, Site, Subject};

/// Begins a call that was not counted at once. The receiver is an address, which only this function
/// reads. The cell is that of the site, if it was found.
pub type Slowly = unsafe extern "C" fn(
    frame: *mut Frame,
    site: &'static Site,
    receiver: *const u8,
    key: u64,
    kind: u64,
    cell: Option<&Cell>,
) -> *mut u8;

/// The functions of a core that save all registers but rax, rcx, rdx, r8 to r11 and the vector
/// registers.
///
/// | | takes | returns |
/// |---|---|---|
/// | `enter` | rax: site, rcx: [`Slowly`], rdx: receiver, r8: key, r9: kind, r10: frame | rax: as [`Slowly`] |
/// | `finish` | rax: the result of `enter`, r8: [`Outcome`] | |
/// | `begin` | rax: site, rcx: 1 if the thread unwinds, rdx and r9: [`Object`], r10: frame | rax: as `enter` |
/// | `leave` | rax: the result of `begin`, rcx: 1 if the thread unwinds | |
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Thunks {
    /// Begins a call.
    pub enter: unsafe extern "C" fn(),
    /// Ends it.
    pub finish: unsafe extern "C" fn(),
    /// Begins a call of a woven function.
    pub begin: unsafe extern "C" fn(),
    /// Ends it, as [`Adapter::leave`](crate::Adapter::leave).
    pub leave: unsafe extern "C" fn(),
}

/// Assembly that calls a thunk. A thunk has no room for vector registers, whatever their width: the
/// compiler saves those in use.
#[doc(hidden)]
#[macro_export]
macro_rules! call_thunk {
    ($($operands:tt)*) => {
        $crate::library::arch::asm!(
            $($operands)*
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _,
            out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _, out("xmm13") _,
            out("xmm14") _, out("xmm15") _, out("xmm16") _, out("xmm17") _, out("xmm18") _, out("xmm19") _,
            out("xmm20") _, out("xmm21") _, out("xmm22") _, out("xmm23") _, out("xmm24") _, out("xmm25") _,
            out("xmm26") _, out("xmm27") _, out("xmm28") _, out("xmm29") _, out("xmm30") _, out("xmm31") _,
            out("k1") _, out("k2") _, out("k3") _, out("k4") _, out("k5") _, out("k6") _, out("k7") _,
        )
    };
}

/// Begins a call at an armed site, in a thread that does not unwind.
///
/// # Safety
/// The receiver must be one that `slowly` expects.
#[inline(always)]
pub unsafe fn enter<'f>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    receiver: *const u8,
    slowly: Slowly,
) -> Entered<'f> {
    // SAFETY: as the caller states. It returns the pointer that `Adapter::enter` would return, made
    // in this frame.
    unsafe { Entered::from_raw(halves::enter(frame, site, subject, receiver, slowly)) }
}

/// Begins a call about an object at an armed site.
#[inline(always)]
pub(crate) fn begin(site: &'static Site, frame: &mut Frame, object: Object) -> *mut u8 {
    halves::begin(site, frame, object)
}

/// Ends a call that was begun, if its outcome must be found.
#[inline(always)]
pub(crate) fn leave(site: &'static Site, begun: *mut u8, unwinds: bool) {
    halves::leave(site, begun, unwinds);
}

/// Ends a call at an armed site.
#[inline(always)]
pub(crate) fn finish(begun: *mut u8, outcome: Outcome, site: &'static Site) {
    halves::finish(begun, outcome, site);
}

#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
))]
mod halves {
    //! By the adapter's thunks.

    use core::mem::offset_of;

    use super::{Slowly, Thunks};
    use crate::{Adapter, Frame, Object, Outcome, Site, Subject};

    const BEGIN: usize = offset_of!(Adapter, thunks) + offset_of!(Thunks, begin);
    const LEAVE: usize = offset_of!(Adapter, thunks) + offset_of!(Thunks, leave);
    const ENTER: usize = offset_of!(Adapter, thunks) + offset_of!(Thunks, enter);
    const FINISH: usize = offset_of!(Adapter, thunks) + offset_of!(Thunks, finish);

    #[inline(always)]
    pub unsafe fn enter(
        frame: &mut Frame,
        site: &'static Site,
        subject: Subject,
        receiver: *const u8,
        slowly: Slowly,
    ) -> *mut u8 {
        let begun;
        // SAFETY: an armed site has an adapter, and the operands are those that the thunk takes.
        unsafe {
            crate::call_thunk!(
                "mov r11, [rax + {adapter}]",
                "call [r11 + {enter}]",
                adapter = const offset_of!(Site, adapter),
                enter = const ENTER,
                inlateout("rax") site => begun,
                inlateout("rcx") slowly => _,
                inlateout("rdx") receiver => _,
                inlateout("r8") subject.key => _,
                inlateout("r9") u64::from(subject.kind.0) => _,
                inlateout("r10") core::ptr::from_mut(frame) => _,
                out("r11") _,
            );
        }
        begun
    }

    #[inline(always)]
    pub fn begin(site: &'static Site, frame: &mut Frame, object: Object) -> *mut u8 {
        let begun;
        // SAFETY: as above.
        unsafe {
            crate::call_thunk!(
                "mov r11, [rax + {adapter}]",
                "call [r11 + {begin}]",
                adapter = const offset_of!(Site, adapter),
                begin = const BEGIN,
                inlateout("rax") site => begun,
                inlateout("rcx") u64::from(crate::hook::guard::is_panicking()) => _,
                inlateout("rdx") object.place => _,
                inlateout("r9") object.kind() => _,
                inlateout("r10") core::ptr::from_mut(frame) => _,
                out("r8") _,
                out("r11") _,
            );
        }
        begun
    }

    #[inline(always)]
    pub fn leave(site: &'static Site, begun: *mut u8, unwinds: bool) {
        // SAFETY: as above.
        unsafe {
            crate::call_thunk!(
                "mov r11, [{site} + {adapter}]",
                "call [r11 + {leave}]",
                adapter = const offset_of!(Site, adapter),
                leave = const LEAVE,
                site = in(reg) site,
                inlateout("rax") begun => _,
                inlateout("rcx") u64::from(unwinds) => _,
                out("rdx") _,
                out("r8") _,
                out("r9") _,
                out("r10") _,
                out("r11") _,
            );
        }
    }

    #[inline(always)]
    pub fn finish(begun: *mut u8, outcome: Outcome, site: &'static Site) {
        // SAFETY: as above.
        unsafe {
            crate::call_thunk!(
                "mov r11, [{site} + {adapter}]",
                "call [r11 + {finish}]",
                adapter = const offset_of!(Site, adapter),
                finish = const FINISH,
                site = in(reg) site,
                inlateout("rax") begun => _,
                inlateout("r8") outcome as u64 => _,
                out("rcx") _,
                out("rdx") _,
                out("r9") _,
                out("r10") _,
                out("r11") _,
            );
        }
    }
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
)))]
mod halves {
    //! By ordinary calls.

    use super::Slowly;
    use crate::{Counters, Frame, NOT_OBSERVED, Object, Outcome, Seen, Site, Subject};

    #[inline(always)]
    pub unsafe fn enter(
        frame: &mut Frame,
        site: &'static Site,
        subject: Subject,
        receiver: *const u8,
        slowly: Slowly,
    ) -> *mut u8 {
        let cell = Counters::cell(site);
        let counted = cell.and_then(|cell| cell.count_about(site, subject));
        // SAFETY: as the caller states.
        counted.unwrap_or_else(|| unsafe {
            slowly(frame, site, receiver, subject.key, subject.kind.0.into(), cell)
        })
    }

    #[inline(always)]
    pub fn begin(site: &'static Site, frame: &mut Frame, object: Object) -> *mut u8 {
        let receiver = (object.place.addr() as u64, object.kind());
        Counters::count(site, receiver).unwrap_or_else(|| ask_about(site, frame, object))
    }

    /// Not in the instrumented function itself: it would be compiled with each of them.
    #[cold]
    #[inline(never)]
    fn ask_about(site: &'static Site, frame: &mut Frame, object: Object) -> *mut u8 {
        site.adapter()
            .map_or(NOT_OBSERVED, |adapter| (adapter.enter)(site, frame, &Seen::of_object(object)))
    }

    #[cold]
    #[inline(never)]
    pub fn leave(site: &'static Site, begun: *mut u8, _unwinds: bool) {
        if let Some(adapter) = site.adapter() {
            (adapter.leave)(begun);
        }
    }

    #[inline(never)]
    pub fn finish(begun: *mut u8, outcome: Outcome, site: &'static Site) {
        if let Some(adapter) = site.adapter() {
            (adapter.finish)(begun, outcome);
        }
    }
}
