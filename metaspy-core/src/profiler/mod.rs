//! Profilers: instrumenters composed for one question, the sites that they arm, and their profiles.

mod before_main;
mod composition;
pub(crate) mod control;
#[doc(hidden)]
pub mod environment;
mod factory;
mod here;
mod install_error;
pub mod instrumenter;
mod keep;
mod method_profiler;
pub mod profile;
pub mod subscription;
pub mod trigger;

pub use composition::*;
pub use factory::{FACTORIES, ProfilerFactory};
pub use here::InstalledHere;
pub use install_error::InstallError;
