#![forbid(unsafe_code)]
//! The language server of metaspy shows beside the code which functions ran, how often and from
//! where.
//!
//! It runs beside rust-analyzer and answers only with facts from recordings. The idea is Senseo's:
//! Röthlisberger, Härry, Villazón,
//! Ansaloni, Binder, Nierstrasz, Moret, *Augmenting Static Source Views in IDEs with Dynamic
//! Metrics*. The modules, in the order in which numbers reach the editor:
//!
//! - [`workspace`] and [`runs`]: locations of recordings.
//! - [`reader`]: the thread that reads them, and [`snapshot`]: its result, by source file and by
//!   the [`versions`] of the source.
//! - [`source`], [`file_modules`] and [`matching`]: the functions of the edited text, and their
//!   recorded methods.
//! - [`declarations`]: positions of other functions, for links.
//! - [`heat`]: classes of a metric.
//! - [`findings`]: what recordings state about their programs.
//! - [`views`]: hovers, lenses, hints, findings, symbols, heat.
//! - [`server`]: the protocol.
//! - [`install`]: the plugins of editors.

pub mod declarations;
pub mod declared_traits;
pub mod document;
pub mod file_modules;
pub mod findings;
pub mod heat;
pub mod install;
pub mod markdown;
pub mod matching;
pub mod numbers;
pub mod reader;
pub mod runs;
pub mod server;
pub mod settings;
pub mod snapshot;
pub mod source;
pub mod uri;
pub mod versions;
pub mod views;
pub mod workspace;

pub use server::{run, serve};
