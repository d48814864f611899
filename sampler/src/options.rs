//! What is sampled, how often, and how stacks are found.

use std::ffi::OsString;
use std::time::Duration;

/// The rate that is chosen if none is given, in samples a second of processor time.
pub const RATE_HZ: u32 = 1_000;
/// The highest rate.
pub const RATE_MAX_HZ: u32 = 10_000;
/// Bytes of each stack that are copied, if none are given.
pub const STACK_BYTES: u32 = 16 << 10;

/// What is sampled.
#[derive(Clone, Debug)]
pub enum Target {
    /// A program with its arguments, from its first instruction to its end, with all that it starts.
    Command(Vec<OsString>),
    /// A process that runs already, with the threads and processes that it starts from now on.
    Process(u32),
}

/// How the frames of a stack are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stacks {
    /// From a copy of the stack and the unwinding tables of the program: works for every build.
    #[default]
    Dwarf,
    /// From the chain of frame pointers, by the kernel: cheaper, and right only if all code keeps frame pointers.
    FramePointers,
    /// Not at all: only the function that runs.
    None,
}

impl Stacks {
    /// All of them.
    pub const ALL: [Stacks; 3] = [Stacks::Dwarf, Stacks::FramePointers, Stacks::None];

    /// The word for it on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Stacks::Dwarf => "dwarf",
            Stacks::FramePointers => "fp",
            Stacks::None => "none",
        }
    }

    /// A line of help.
    pub fn description(self) -> &'static str {
        match self {
            Stacks::Dwarf => "From a copy of the stack and the program's unwinding tables: for every build",
            Stacks::FramePointers => "From frame pointers: cheaper; only for code with -C force-frame-pointers=yes",
            Stacks::None => "Only the function that runs, without its callers",
        }
    }
}

/// Which time is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Processor time: threads that wait have no samples.
    #[default]
    Processor,
    /// The time of the wall clock: what threads wait for, too. Only signals in the program measure it.
    Wall,
}

impl Clock {
    /// All of them.
    pub const ALL: [Clock; 2] = [Clock::Processor, Clock::Wall];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Processor => "cpu",
            Clock::Wall => "wall",
        }
    }

    /// A line of help.
    pub fn description(self) -> &'static str {
        match self {
            Clock::Processor => "Processor time: threads that wait have no samples",
            Clock::Wall => "Wall time, with processor time beside it; for programs with metaspy's feature `sample`",
        }
    }
}

/// How the instances of a generic function are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instances {
    /// As one function.
    #[default]
    Merged,
    /// Each as a function of its own, as far as symbols distinguish them.
    Split,
}

/// What takes the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The kernel, where it is permitted and can measure the clock; otherwise signals in the program.
    #[default]
    Best,
    /// Signals in the program, which must contain metaspy's feature `sample`.
    Timer,
}

/// How a target is sampled.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which time is sampled.
    pub clock: Clock,
    /// What takes the samples.
    pub back_end: Choice,
    /// Samples a second of processor time of each thread: 1 to [`RATE_MAX_HZ`].
    pub rate_hz: u32,
    /// How the frames of a stack are found.
    pub stacks: Stacks,
    /// Bytes of each stack that are copied: a multiple of 8, below 64 KiB. Deeper frames are cut off.
    pub stack_bytes: u32,
    /// How the instances of a generic function are counted.
    pub instances: Instances,
    /// Leaves a process that ran already after this time.
    pub limit: Option<Duration>,
    /// Where a started program writes.
    pub output: Output,
}

/// Where a started program writes its standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To the standard output of this process.
    #[default]
    Shared,
    /// To the standard error of this process, because its standard output is for programs.
    StandardError,
}

impl Default for Options {
    fn default() -> Self {
        let (clock, back_end) = (Clock::default(), Choice::default());
        let (stacks, instances, output) = (Stacks::default(), Instances::default(), Output::default());
        Options { clock, back_end, rate_hz: RATE_HZ, stacks, stack_bytes: STACK_BYTES, instances, limit: None, output }
    }
}

impl Options {
    /// Processor time between two samples of a thread, in ns.
    pub fn period_ns(&self) -> u64 {
        1_000_000_000 / u64::from(self.rate_hz.clamp(1, RATE_MAX_HZ))
    }
}
