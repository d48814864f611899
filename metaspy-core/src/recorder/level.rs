//! The meta level of a thread: it keeps the profiler out of its own profile.

use crate::recorder::lane;

/// Changes the meta level of this thread, and returns the one before.
pub(crate) fn enter_level(level: u8) -> u8 {
    let lane = lane::here();
    let before = lane.level();
    lane.set_level(level.min(3));
    before
}

/// A raised meta level; dropping it restores the one before.
pub(crate) struct Level(u8);

impl Level {
    pub fn raise(to: u8) -> Self {
        Level(enter_level(to))
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        enter_level(self.0);
    }
}
