//! The sampler of Linux: the kernel takes the samples, and this process unwinds their stacks.

mod collect;
mod perf;
mod priority;
mod session;

pub use session::sample;
