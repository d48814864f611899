//! The tree of boxes: an arena of our own, laid out by taffy.

mod cache;
mod change;
mod counts;
mod dirty;
mod introduce;
mod layout;
mod node;
mod paint;
mod requests;
mod rows;
mod scene;
mod traverse;

pub use counts::Counts;
pub use dirty::{Cause, Why};
pub use node::{Content, Node};
pub use paint::Painted;
pub use scene::{Overrun, Scene};

#[cfg(test)]
mod tests;
