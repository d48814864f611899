//! Interface of the two sources of samples: perf events and timer signals.

use crate::linux::perf::record::Record;
use crate::options::Options;

/// Source of samples: the kernel's perf events, or signals in the program.
pub trait BackEnd {
    /// Name for reports.
    fn name(&self) -> &'static str;

    /// Returns the options in force, which may differ from the requested options.
    fn options(&self) -> &Options;

    /// Returns false if the kernel's own code is not sampled.
    fn with_kernel(&self) -> bool;

    /// Returns the processor time of the target so far, or `None` if the back end does not count
    /// it.
    fn processor_ns(&self) -> Option<u64>;

    /// Number of samples that fit into the ring before it must be read.
    fn samples_that_fit(&self) -> u64;

    /// Number of processes that write samples.
    fn attached(&self) -> u64;

    /// Number of threads that cannot be sampled.
    fn untimed(&self) -> u64;

    /// Appends the records that were written since the last call.
    fn drain(&mut self, into: &mut Vec<Record>);

    /// Stops sampling. Samples in the ring can still be read.
    fn disable(&mut self);
}
