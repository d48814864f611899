//! The sampler of Linux: the kernel or signals take the samples, and this process unwinds their
//! stacks.

mod back_end;
mod code_dumps;
mod collect;
mod perf;
mod priority;
mod sampler;
mod session;
mod timer;
mod watch;

pub use sampler::Sampler;
pub use session::sample;
pub use timer::threads::attach;
pub use watch::sample_live;
