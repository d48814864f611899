//! A file that its owner truncates while it is mapped kills whoever touches it (SIGBUS). The guard lays zeros there
//! instead, and counts.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Ranges that the guard answers for.
const RANGES: usize = 64;

struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
}

static GUARDED: [Range; RANGES] = [const { Range { start: AtomicUsize::new(0), end: AtomicUsize::new(0) } }; RANGES];
static HITS: AtomicU64 = AtomicU64::new(0);
/// The handler that was there before, boxed and kept.
static PREVIOUS: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Pages that were missing when somebody touched them.
pub fn hits() -> u64 {
    HITS.load(Ordering::Relaxed)
}

/// Adds a mapping to those that the guard answers for; without room it stays unguarded.
pub fn guard(address: *const u8, bytes: usize) {
    let start = address as usize;
    for range in &GUARDED {
        // Claimed by its end word, so that the handler, which reads `start` last, never sees half a range.
        if range.end.load(Ordering::Relaxed) == 0
            && range.end.compare_exchange(0, start + bytes, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            range.start.store(start, Ordering::Release);
            return;
        }
    }
}

/// Takes a mapping back before it is unmapped.
pub fn unguard(address: *const u8) {
    for range in &GUARDED {
        if range.start.load(Ordering::Acquire) == address as usize && !address.is_null() {
            range.start.store(0, Ordering::Release);
            range.end.store(0, Ordering::Release);
        }
    }
}

/// Installs the handler, once; it hands on what is not ours.
#[cfg(unix)]
pub fn install() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
        // SAFETY: both structures are owned here and zero is a valid state of them; the handler only loads atomics
        // and makes system calls, and chains to the one that was there.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            let mut previous: Box<libc::sigaction> = Box::new(std::mem::zeroed());
            if libc::sigaction(libc::SIGBUS, &action, &mut *previous) == 0 {
                PREVIOUS.store(Box::into_raw(previous).cast(), Ordering::Release);
            }
        }
    });
}

/// Nothing to install where there is no such signal.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler installed with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = GUARDED.iter().any(|range| {
        let start = range.start.load(Ordering::Acquire);
        start != 0 && (start..range.end.load(Ordering::Acquire)).contains(&address)
    });
    if ours {
        HITS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: asks the system for its page size.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // SAFETY: the page lies in a mapping of a recording whose file lost it: nobody expects its content.
        if unsafe { super::map::cover((address & !(page - 1)) as *mut u8, page) } {
            return;
        }
    }
    let previous = PREVIOUS.load(Ordering::Acquire).cast::<libc::sigaction>();
    // SAFETY: `previous` was boxed by `install` and is never freed; it is called in the form that it was installed in.
    unsafe {
        if !previous.is_null() {
            let action = (*previous).sa_sigaction;
            if action != libc::SIG_DFL && action != libc::SIG_IGN {
                if (*previous).sa_flags & libc::SA_SIGINFO != 0 {
                    let chained: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                        std::mem::transmute(action);
                    return chained(signal, info, context);
                }
                let chained: extern "C" fn(libc::c_int) = std::mem::transmute(action);
                return chained(signal);
            }
        }
        // Nobody else wants it: let the signal do what it does without us.
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
}
