//! Guard against truncated files. Access to a mapped page that the file has lost raises SIGBUS. The
//! guard replaces the page by zeros and counts it.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Maximum number of guarded ranges.
const RANGES: usize = 64;

struct Range {
    start: AtomicUsize,
    end: AtomicUsize,
}

static GUARDED: [Range; RANGES] =
    [const { Range { start: AtomicUsize::new(0), end: AtomicUsize::new(0) } }; RANGES];
static HITS: AtomicU64 = AtomicU64::new(0);
/// Previous handler. It is boxed and never freed.
static PREVIOUS: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

/// Returns the number of pages that were missing at an access.
pub fn hits() -> u64 {
    HITS.load(Ordering::Relaxed)
}

/// Guards a mapping. If there is no room for it, it stays unguarded.
pub fn guard(address: *const u8, bytes: usize) {
    let start = address as usize;
    for range in &GUARDED {
        // The end word claims the entry. The handler reads `start` last, so it never sees half a
        // range.
        if range.end.load(Ordering::Relaxed) == 0
            && range
                .end
                .compare_exchange(0, start + bytes, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        {
            range.start.store(start, Ordering::Release);
            return;
        }
    }
}

/// Removes a mapping, before it is unmapped.
pub fn unguard(address: *const u8) {
    for range in &GUARDED {
        if range.start.load(Ordering::Acquire) == address as usize && !address.is_null() {
            range.start.store(0, Ordering::Release);
            range.end.store(0, Ordering::Release);
        }
    }
}

/// Installs the handler, once. It passes signals for other addresses to the previous handler.
#[cfg(unix)]
pub fn install() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        super::library::stay_loaded();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            on_bus_error;
        // SAFETY: both structures are owned here, and zero is a valid state for them. The handler
        // only loads atomics, makes system calls, and calls the previous handler.
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

/// Does nothing, because the system has no such signal.
#[cfg(not(unix))]
pub fn install() {}

#[cfg(unix)]
extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler installed with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let ours = GUARDED.iter().any(|range| {
        let start = range.start.load(Ordering::Acquire);
        start != 0 && (start..range.end.load(Ordering::Acquire)).contains(&address)
    });
    if ours {
        HITS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: reads the page size of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        // SAFETY: the page lies in a mapping of a recording whose file has lost it, so it has no
        // content.
        if unsafe { super::map::cover((address & !(page - 1)) as *mut u8, page) } {
            return;
        }
    }
    let previous = PREVIOUS.load(Ordering::Acquire).cast::<libc::sigaction>();
    // SAFETY: `install` boxed `previous`, and it is never freed. It is called in the form in which
    // it was installed.
    unsafe {
        if !previous.is_null() {
            let action = (*previous).sa_sigaction;
            if action != libc::SIG_DFL && action != libc::SIG_IGN {
                if (*previous).sa_flags & libc::SA_SIGINFO != 0 {
                    let chained: extern "C" fn(
                        libc::c_int,
                        *mut libc::siginfo_t,
                        *mut libc::c_void,
                    ) = std::mem::transmute(action);
                    return chained(signal, info, context);
                }
                let chained: extern "C" fn(libc::c_int) = std::mem::transmute(action);
                return chained(signal);
            }
        }
        // There is no other handler: restore the default action of the signal.
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
}
