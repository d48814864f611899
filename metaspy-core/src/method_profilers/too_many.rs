//! The bound on installed method profilers.

use std::fmt;

use crate::store::debug_as_message;

/// Method profilers that can be installed at once: a site has a bit for each.
pub(super) const MOST: usize = 31;

/// Too many method profilers are installed at once.
pub struct TooManyProfilers;

impl fmt::Display for TooManyProfilers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{MOST} method profilers are installed, the most that there can be; uninstall one first"
        )
    }
}

debug_as_message!(TooManyProfilers);

impl std::error::Error for TooManyProfilers {}
