//! Subjects: the domain objects that events are about, by identity.
//!
//! Identity is kind and key together. `NodeId(5)` of two trees, and `Entity(5)`, are three
//! subjects: the kind says whose key it is. It belongs to the [`Identify`] impl, never to the site.

mod identify;
mod kind;
mod object_id;
#[doc(hidden)]
pub mod receiver;
mod registry;
#[doc(hidden)]
pub mod residents;
mod type_kinds;

pub use identify::{Identify, Key};
pub use kind::{Kind, KindId, Owner};
pub use metaspy_probe::Subject;
pub use object_id::ObjectId;
pub(crate) use registry::registered_since;
#[doc(hidden)]
pub use registry::{Nature, register};
#[doc(hidden)]
pub use type_kinds::kind_of_type;
