//! Event crawler: start anywhere, ask "why", and find the answer one step away.
//!
//! Keys become commands ([`keys`]), commands change the state ([`state`]), the state is drawn
//! ([`draw`]). Work that takes longer than a frame is a job ([`jobs`]) on another thread
//! ([`worker`]).

#[doc(hidden)]
pub mod command;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod draw;
mod editor;
mod effects;
#[doc(hidden)]
pub mod jobs;
#[doc(hidden)]
pub mod keys;
pub(crate) mod layout;
pub(crate) mod marks;
mod panel;
mod reasons;
mod run;
pub mod state;
pub(crate) mod terminal;
#[doc(hidden)]
pub mod theme;
#[doc(hidden)]
pub mod worker;

pub use panel::{Panel, Panels};
pub use run::{crawl, run};
pub use state::Crawler;
pub use state::guide::Card;
pub use terminal::KEYS;
