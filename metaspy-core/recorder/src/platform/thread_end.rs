//! The end of a thread.
//!
//! A thread joins a recording without memory and without a lock, because a signal handler may be
//! the first to call a hook in its thread. So the thread has the name that the system knows, and a
//! destructor of the C library watches it. `thread::current` and a thread-local with a destructor
//! both allocate there. Kinds are registered in the same way, and so are the stack and the pages of
//! a thread for method profilers.

pub use this::watch_this_thread;
pub(crate) use this::watch_threads;

#[cfg(target_os = "linux")]
mod this {
    //! A destructor of the system's: the C library has a place for it in each thread. A
    //! thread-local of Rust's allocates.

    use std::sync::atomic::{AtomicU32, Ordering};

    /// The key, + 1; 0 = none.
    static KEY: AtomicU32 = AtomicU32::new(0);

    /// Calls `ends` at the end of each thread that is watched. Only the first call has an effect.
    ///
    /// The C library has room for the first 32 keys of a process in each thread. For a later one it
    /// allocates.
    pub(crate) fn watch_threads(ends: fn()) {
        static ONCE: std::sync::Once = std::sync::Once::new();
        static ENDS: std::sync::OnceLock<fn()> = std::sync::OnceLock::new();
        extern "C" fn run(_: *mut libc::c_void) {
            if let Some(ends) = ENDS.get() {
                ends();
            }
        }
        ONCE.call_once(|| {
            ENDS.get_or_init(|| ends);
            let mut key = 0;
            // SAFETY: the key is a place of our own, and the destructor lives as long as the
            // process and never panics.
            if unsafe { libc::pthread_key_create(&mut key, Some(run)) } == 0 {
                KEY.store(key + 1, Ordering::Release);
            }
        });
    }

    /// Watches this thread. False if its end would not be seen.
    pub fn watch_this_thread() -> bool {
        match KEY.load(Ordering::Acquire) {
            0 => false,
            // SAFETY: the key exists. The value is never used as a pointer, only its destructor
            // depends on it.
            key => unsafe { libc::pthread_setspecific(key - 1, std::ptr::dangling()) == 0 },
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod this {
    //! A thread-local of Rust's.

    use std::cell::Cell;
    use std::sync::OnceLock;

    static ENDS: OnceLock<fn()> = OnceLock::new();

    struct End(Cell<bool>);

    impl Drop for End {
        fn drop(&mut self) {
            if let Some(ends) = ENDS.get() {
                ends();
            }
        }
    }

    thread_local! {
        static END: End = const { End(Cell::new(false)) };
    }

    /// Calls `ends` at the end of each thread that is watched. Only the first call has an effect.
    pub(crate) fn watch_threads(ends: fn()) {
        ENDS.get_or_init(|| ends);
    }

    /// Watches this thread. False if it ends already.
    pub fn watch_this_thread() -> bool {
        END.try_with(|end| end.0.set(true)).is_ok()
    }
}
