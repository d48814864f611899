#![forbid(unsafe_code)]
//! The language server of metaspy shows beside the code which functions ran, how often and from
//! where.
//!
//! It runs beside rust-analyzer and answers only with facts from recordings. The idea is Senseo's:
//! Röthlisberger, Härry, Villazón,
//! Ansaloni, Binder, Nierstrasz, Moret, *Augmenting Static Source Views in IDEs with Dynamic
//! Metrics*. The modules, in the order in which numbers reach the editor:
//!
//! - `workspace` and `runs`: locations of recordings.
//! - `reader`: the thread that reads them, and `snapshot`: its result, by source file and by
//!   the `versions` of the source.
//! - `source`, `file_modules` and `matching`: the functions of the edited text, and their
//!   recorded methods.
//! - `outliner`: the thread that reads long texts.
//! - `declarations`: positions of other functions, for links.
//! - `heat`: classes of a metric.
//! - `findings`: statements of recordings about their programs.
//! - `views`: hovers, lenses, hints, findings, symbols, heat.
//! - `server`: the protocol.
//! - [`install`]: the plugins of editors.

mod declarations;
mod declared_traits;
mod document;
mod file_modules;
mod findings;
mod heat;
pub mod install;
mod markdown;
mod matching;
mod numbers;
mod outliner;
mod reader;
mod runs;
mod server;
mod settings;
mod snapshot;
mod source;
mod uri;
mod versions;
mod views;
mod workspace;

pub use server::{run, serve};
