//! The profilers that hooks call at present.

use crate::method_profilers::observer::Observer;

/// The profilers that hooks call. It is replaced and never changed, because running calls refer to it.
pub(crate) struct Present {
    pub observers: Vec<&'static dyn Observer>,
    /// For each site number, a bit for each interested observer; the highest bit marks a test.
    pub interests: Vec<u32>,
    /// A bit for each observer that is called before a call, and that may lose its interest in calls.
    pub before: u32,
    pub timed: bool,
}

impl Present {
    /// True if a profiler needs the time of calls.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.timed
    }
}
