#![doc = include_str!("../README.md")]

pub mod model;

pub mod recording;

#[doc(hidden)]
pub mod recorder;

#[doc(hidden)]
pub mod platform;

use metaspy_format as format;
use metaspy_reader as store;
use metaspy_reader::event;
pub use model::{causality, remote, site, subject};
#[doc(hidden)]
pub use platform::tick as clock;
