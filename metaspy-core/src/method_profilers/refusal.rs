//! Why a method profiler cannot be installed beside others.

use std::fmt;

use crate::recorder::StartError;
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

/// Two trees of calling contexts were requested at once.
#[derive(Debug)]
pub(crate) struct OtherTree;

impl fmt::Display for OtherTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profiler of calling contexts is installed; uninstall it first")
    }
}

impl std::error::Error for OtherTree {}

/// Why a method profiler was not installed.
pub(crate) enum Refusal {
    TooMany(TooManyProfilers),
    OtherTree(OtherTree),
    Recording(StartError),
}

impl From<StartError> for Refusal {
    fn from(error: StartError) -> Self {
        Refusal::Recording(error)
    }
}
