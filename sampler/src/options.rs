//! Options of a sampler: its target, clock, rate and stacks.

use std::ffi::OsString;
use std::time::Duration;

/// Default rate, in samples per second of processor time.
pub const RATE_HZ: u32 = 1_000;
/// Highest rate, in samples per second of processor time.
pub(crate) const RATE_MAX_HZ: u32 = 10_000;
/// Default size of the copied part of a stack, in bytes.
pub const STACK_BYTES: u32 = 16 << 10;

/// Target of a sampler.
#[derive(Clone, Debug)]
pub enum Target {
    /// Program with its arguments. It is sampled from its first instruction to its end, with all
    /// processes that it starts.
    Command(Vec<OsString>),
    /// Number of a running process. It is sampled with the threads and processes that it starts
    /// from now on.
    Process(u32),
}

/// Method of finding the frames of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stacks {
    /// Unwinds a copy of the stack with the program's unwinding tables, which works for every
    /// build.
    #[default]
    Dwarf,
    /// Lets the kernel follow frame pointers. This is cheaper, and right only if all code keeps
    /// frame pointers.
    FramePointers,
    /// Records only the running function, without callers.
    None,
}

impl Stacks {
    /// All methods, in the order of the help.
    pub const ALL: [Stacks; 3] = [Stacks::Dwarf, Stacks::FramePointers, Stacks::None];

    /// Returns the word for the command line and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Stacks::Dwarf => "dwarf",
            Stacks::FramePointers => "fp",
            Stacks::None => "none",
        }
    }

    /// Returns a line of help.
    pub fn description(self) -> &'static str {
        match self {
            Stacks::Dwarf => {
                "From a copy of the stack and the program's unwinding tables: for every build"
            }
            Stacks::FramePointers => {
                "From frame pointers: cheaper; only for code with -C force-frame-pointers=yes"
            }
            Stacks::None => "Only the function that runs, without its callers",
        }
    }
}

/// Clock that is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Processor time: threads that wait have no samples.
    #[default]
    Processor,
    /// Wall time, which includes waits. Only signals in the program measure it.
    Wall,
}

impl Clock {
    /// All clocks, in the order of the help.
    pub const ALL: [Clock; 2] = [Clock::Processor, Clock::Wall];

    /// Returns the word for the command line.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Processor => "cpu",
            Clock::Wall => "wall",
        }
    }

    /// Returns a line of help.
    pub fn description(self) -> &'static str {
        match self {
            Clock::Processor => "Processor time: threads that wait have no samples",
            Clock::Wall => {
                "Wall time, with processor time beside it; for programs with metaspy's feature `sample`"
            }
        }
    }
}

/// Treatment of the instances of a generic function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instances {
    /// All instances are counted as a single function.
    #[default]
    Merged,
    /// Each instance is a function of its own, as far as symbols distinguish them.
    Split,
}

/// Selection of the source of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The kernel, where it is permitted and can measure the clock; otherwise signals in the
    /// program.
    #[default]
    Best,
    /// Signals in the program, which must be built with metaspy's feature `sample`.
    Timer,
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Clock that is sampled.
    pub clock: Clock,
    /// Source of the samples.
    pub back_end: Choice,
    /// Samples per second of processor time of each thread: 1 to 10,000.
    pub rate_hz: u32,
    /// Method of finding the frames of a stack.
    pub stacks: Stacks,
    /// Bytes of each stack that are copied: a multiple of 8, below 64 KiB. Deeper frames are cut
    /// off.
    pub stack_bytes: u32,
    /// Treatment of the instances of a generic function.
    pub instances: Instances,
    /// Time after which a running process is left; `None` for no limit.
    pub limit: Option<Duration>,
    /// Destination of a started program's standard output.
    pub output: Output,
}

/// Destination of a started program's standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Standard output of this process.
    #[default]
    Shared,
    /// Standard error of this process, whose standard output is reserved for a report that programs
    /// read.
    StandardError,
}

impl Default for Options {
    fn default() -> Self {
        let clock = Clock::default();
        let back_end = Choice::default();
        let (stacks, instances, output) =
            (Stacks::default(), Instances::default(), Output::default());
        Options {
            clock,
            back_end,
            rate_hz: RATE_HZ,
            stacks,
            stack_bytes: STACK_BYTES,
            instances,
            limit: None,
            output,
        }
    }
}

impl Options {
    /// Returns the processor time between two samples of a thread, in ns.
    pub(crate) fn period_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.rate_hz.clamp(1, RATE_MAX_HZ))
    }
}
