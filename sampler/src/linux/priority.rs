//! Priority of the thread that reads the rings.

/// Highest priority of an ordinary thread, as a nice value.
const FIRST: i32 = -20;

/// Raised priority of the calling thread. Dropping it restores the earlier priority.
pub struct Priority {
    before: i32,
}

impl Priority {
    /// Raises the priority of the calling thread as far as the system permits.
    pub fn raise() -> Priority {
        // SAFETY: both calls concern the calling thread's own priority only, and no memory. On
        // Linux 0 is the thread.
        unsafe {
            let before = libc::getpriority(libc::PRIO_PROCESS, 0);
            libc::setpriority(libc::PRIO_PROCESS, 0, FIRST);
            Priority { before }
        }
    }
}

impl Drop for Priority {
    fn drop(&mut self) {
        // SAFETY: the call only changes the calling thread's priority. A failure leaves it
        // unchanged.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, self.before) };
    }
}
