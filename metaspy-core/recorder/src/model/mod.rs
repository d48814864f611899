//! The objects of events: sites, subjects, causes, and the domain's labels and relations.

pub mod causality;
mod ends;
mod labels;
pub mod remote;

#[doc(hidden)]
pub use ends::{when_ended, when_gone};
pub use labels::{forget, label, relate, unrelate};
