//! What events are about: sites, subjects, causes, and the domain's labels and relations.

pub mod causality;
mod labels;
pub mod remote;
pub mod site;
pub mod subject;

pub use labels::{forget, label, relate, unrelate};
