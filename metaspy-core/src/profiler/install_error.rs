//! Errors at the installation of a profiler.

use std::fmt;

use crate::method_profilers::{Refusal, TooManyProfilers};
use crate::recorder::StartError;
use crate::store::debug_as_message;

/// Why a profiler could not be installed. Nothing of it is installed then.
#[non_exhaustive]
pub enum InstallError {
    /// A selector matches no site.
    NoSite {
        /// The selector.
        selector: String,
        /// Sites with similar names.
        nearest: Vec<String>,
    },
    /// The site cannot be observed.
    Skipped {
        /// Its path.
        site: String,
        /// Why not.
        why: &'static str,
    },
    /// The hook of the site sees only that calls begin, and more than their number is required.
    OnlyCounts {
        /// Its path.
        site: String,
    },
    /// The selector cannot be read.
    Selector(crate::select::SelectorError),
    /// There is no recording to write to.
    Recording(StartError),
    /// There is no room for another method profiler.
    TooManyProfilers(TooManyProfilers),
    /// A panicking handler would end the program, as it is built with `panic = "abort"`.
    HandlersWouldAbort,
    /// An instrumenter's own reason.
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstallError::NoSite { selector, nearest } if nearest.is_empty() => write!(
                f,
                "no site matches `{selector}`, and there is none with a similar name. Is the function annotated with \
                 #[observe], and its crate built with the feature `record`?"
            ),
            InstallError::NoSite { selector, nearest } => {
                write!(f, "no site matches `{selector}`. The nearest names: {}", nearest.join(", "))
            }
            InstallError::Skipped { site, why } => write!(f, "`{site}` cannot be observed: {why}"),
            InstallError::OnlyCounts { site } => write!(
                f,
                "`{site}` has a hook that only counts its calls, because its program was built by a command that needs no more. \
                 Build it with `cargo metaspy build`; or set METASPY_MODE=tally, which counts them"
            ),
            InstallError::Selector(error) => error.fmt(f),
            InstallError::Recording(error) => error.fmt(f),
            InstallError::TooManyProfilers(error) => error.fmt(f),
            InstallError::HandlersWouldAbort => f.write_str(
                "this program is built with panic = \"abort\": a panic in a handler would end it. Install without \
                 handlers, or insist with METASPY_HANDLERS_MAY_ABORT=1",
            ),
            InstallError::Other(error) => error.fmt(f),
        }
    }
}

debug_as_message!(InstallError);

// The message is that of the error inside, which is no source as well: whoever prints a chain would
// print it twice.
impl std::error::Error for InstallError {}

impl From<StartError> for InstallError {
    fn from(error: StartError) -> Self {
        InstallError::Recording(error)
    }
}

impl From<Refusal> for InstallError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooMany(error) => InstallError::TooManyProfilers(error),
            Refusal::OtherTree(error) => InstallError::Other(Box::new(error)),
            Refusal::Recording(error) => InstallError::Recording(error),
        }
    }
}

impl From<crate::select::SelectorError> for InstallError {
    fn from(error: crate::select::SelectorError) -> Self {
        InstallError::Selector(error)
    }
}
