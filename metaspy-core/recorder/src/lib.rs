#![doc = include_str!("../README.md")]

pub mod model;
pub mod site;
pub mod subject;

pub mod recording;

#[doc(hidden)]
pub mod recorder;

mod identity;

#[doc(hidden)]
pub mod platform;

use metaspy_format as format;
use metaspy_reader as store;
use metaspy_reader::event;
pub use model::{causality, remote};
#[doc(hidden)]
pub use platform::tick as clock;
