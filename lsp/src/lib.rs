#![forbid(unsafe_code)]
//! The language server of metaspy: what ran, how often and from where, beside the code.
//!
//! It runs beside rust-analyzer and answers only what recordings show. The idea is Senseo's: Röthlisberger, Härry, Villazón,
//! Ansaloni, Binder, Nierstrasz, Moret, *Augmenting Static Source Views in IDEs with Dynamic Metrics*. The modules, in the
//! order in which numbers reach the editor:
//!
//! - [`workspace`] and [`runs`]: where recordings are.
//! - [`reader`]: the thread that reads them, and [`snapshot`]: what it found, by source file and by the [`versions`] of the
//!   source.
//! - [`source`], [`file_modules`] and [`matching`]: the functions of the edited text, and the recorded methods that they
//!   are.
//! - [`declarations`]: where other functions are, for links.
//! - [`heat`]: classes of a metric.
//! - [`views`]: hovers, lenses, hints, symbols, heat.
//! - [`server`]: the protocol.
//! - [`install`]: the plugins of editors.

pub mod declarations;
pub mod declared_traits;
pub mod document;
pub mod file_modules;
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
