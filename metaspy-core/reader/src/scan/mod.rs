//! Loops over the events of the window: all of them or a part, resolved or counted.

pub(crate) mod current;
pub(crate) mod event_rows;
pub(crate) mod losses;
pub(crate) mod parts;
pub(crate) mod resolved;
pub(crate) mod survey;
mod unit_walk;
