//! Sampling of the program by itself, with the feature `sample`: where its processor time or wall
//! time goes.
//!
//! [`Sampler`] samples a part of a program. `METASPY_SAMPLE=1kHz` in the environment samples all of
//! it, and writes the report to standard error at its exit. [`CodeMap`] and [`Bytecode`] attribute
//! samples of code that the program makes. See `docs/sampling.md`.

pub use metaspy_sampler::code_map::{Bytecode, CodeMap, Kind, register_wasm};
pub use metaspy_sampler::options::{Choice, Clock};
pub use metaspy_sampler::text;
pub use metaspy_sampler::{Options, Profile, SampleError, Sampler, Stacks};
