//! The priority of the thread that reads the rings.

/// The highest priority of an ordinary thread.
const FIRST: i32 = -20;

/// A raised priority of the calling thread. Dropping it restores the one before.
pub struct Priority {
    before: i32,
}

impl Priority {
    /// Raises the priority of the calling thread as far as the system permits.
    pub fn raise() -> Priority {
        // SAFETY: both calls concern the calling thread's own priority only, and no memory. On Linux 0 is the thread.
        unsafe {
            let before = libc::getpriority(libc::PRIO_PROCESS, 0);
            libc::setpriority(libc::PRIO_PROCESS, 0, FIRST);
            Priority { before }
        }
    }
}

impl Drop for Priority {
    fn drop(&mut self) {
        // SAFETY: as above. A failure leaves the thread where it was.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, self.before) };
    }
}
