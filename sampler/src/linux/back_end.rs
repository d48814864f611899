//! What takes samples.

use crate::linux::perf::record::Record;
use crate::options::Options;

/// What takes samples: the kernel, or signals in the program.
pub trait BackEnd {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// The options that are in force.
    fn options(&self) -> &Options;

    /// False if the kernel's own code is not sampled.
    fn with_kernel(&self) -> bool;

    /// Processor time of the target so far, if the back end counts it.
    fn processor_ns(&self) -> Option<u64>;

    /// Samples that fit into its room before it is read.
    fn samples_that_fit(&self) -> u64;

    /// Processes that take part.
    fn attached(&self) -> u64;

    /// Threads that cannot be sampled.
    fn untimed(&self) -> u64;

    /// Appends the records that were written since the last call.
    fn drain(&mut self, into: &mut Vec<Record>);

    /// Stops sampling. What was sampled can still be read.
    fn disable(&mut self);
}
