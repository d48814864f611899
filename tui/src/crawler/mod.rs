//! The event crawler: start anywhere, ask "why", and find the answer one step away.
//!
//! Keys become commands ([`keys`]), commands change state ([`state`]), state is drawn ([`draw`]).

pub mod command;
pub mod draw;
pub mod jobs;
pub mod keys;
pub mod layout;
mod run;
pub mod state;
pub mod terminal;
pub mod worker;

pub use run::run;
