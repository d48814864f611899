//! The functions that expanded code calls: the two halves of a hook.
//!
//! Programs do not call this module themselves; `#[observe]`, [`crate::instrumenter`]s and weavers
//! do.

mod adapter;
mod address_identity;
#[cfg(feature = "allocations")]
mod allocation;
mod async_call;
mod call;
mod counting;
mod details;
mod handler;
mod instant;
mod light_call;
pub mod observed;
mod outcome;
mod pending;
mod resource;
mod span;
mod thunks;

pub use crate::arm::{CallView, Handler};
pub(crate) use adapter::address as adapter;
pub use address_identity::{AddressIdentity, RegisteredIdentity, place_of};
#[cfg(feature = "allocations")]
pub use allocation::SpiedAllocator;
pub(crate) use async_call::wants_details;
pub use async_call::{AsyncCall, show};
pub use call::{Call, count, enter, enter_in, enter_with, enter_with_in};
pub use counting::Counting;
pub(crate) use details::DetailBytes;
pub use details::{Detail, DetailKind, Reify, Returned, Shown, VALUE_MAX, read as read_details};
pub(crate) use handler::show as show_returned;
pub use instant::{instant, instant_with, missed};
pub use metaspy_probe::{Entered, Frame, Guard};
pub use outcome::OutcomeOf;
pub use pending::Pending;
pub use resource::Resource;
pub use span::{Cause, SpanCall};

#[doc(hidden)]
pub use crate::platform::fork_gate::Unforked;
pub(crate) use crate::recorder::Level;
pub use crate::recorder::{at_meta_level, meta};
use crate::subject::Subject;

/// Runs a subject expression. A panic in it is caught and counted, and the call has no subject.
#[inline]
pub fn subject(expression: impl FnOnce() -> Subject) -> Subject {
    at_meta_level(expression).unwrap_or(Subject::NONE)
}
