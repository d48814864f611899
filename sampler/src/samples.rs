//! Collected samples, each with its thread and its stack, before any address is named.

use std::collections::HashMap;
use std::path::PathBuf;

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::EventId;

use crate::code_file::{CodeFile, Directory};
use crate::code_map::{CodeFunction, PerfMap};

/// Sample of a thread: a period of time, with its stack.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Time of the sample, in ns of the monotonic clock.
    pub time_ns: u64,
    /// Index of the thread in [`Samples::threads`].
    pub thread: u32,
    /// Index of the stack in [`Samples::stacks`].
    pub stack: u32,
    /// Index of the enclosing events in [`Samples::lists`], or [`NO_EVENT`], or [`UNKNOWN`].
    pub events: u32,
    /// Innermost enclosing event; `None` outside all events or if it is not known.
    pub event: Option<EventId>,
    /// Processor time of the thread since its last sample, in ns; 0 with perf, whose samples are a
    /// period each.
    pub cpu_ns: u32,
    /// Wall time since the thread's last sample, in ns; 0 with perf.
    pub wall_ns: u32,
}

/// Value of [`Sample::events`] for a sample outside all recorded events.
pub const NO_EVENT: u32 = 0;
/// Value of [`Sample::events`] if the events left the window of their recording before they were
/// read.
pub const UNKNOWN: u32 = u32::MAX;

/// Site and subject of an enclosing event, in a run with recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Around {
    /// Index of the recording in [`Samples::recordings`].
    pub recording: u32,
    /// Site of the event.
    pub site: SiteId,
    /// Subject of the event, if it has any.
    pub subject: Option<Subject>,
}

/// Named site and subject of sampled events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventOf {
    /// Recording, site and subject by number.
    pub of: Around,
    /// Path of the site, such as `Scene::layout`.
    pub site: String,
    /// Label of the subject.
    pub subject: Option<String>,
}

/// Distinct stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// Indices into [`Samples::addresses`], innermost first.
    pub frames: Box<[u32]>,
    /// State of the outermost frame.
    pub end: StackEnd,
}

/// State of the outermost frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StackEnd {
    /// The outermost frame is the beginning of the thread.
    Whole,
    /// The outermost frames are beyond the copied part of the stack.
    Cut,
    /// The caller of the outermost frame cannot be found.
    Broken,
}

/// Location of an address. A caller's address is in its call instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeLocation {
    /// Address in a code file.
    Module {
        /// Index of the file in [`Samples::modules`].
        module: u32,
        /// Address as the file's symbols have it.
        address: u64,
    },
    /// Address in the kernel.
    Kernel(u64),
    /// Address in memory without a file: code that the process made.
    Anonymous {
        /// Number of the process.
        pid: u32,
        /// Address in the memory of the process.
        address: u64,
    },
    /// Address in code that the process made and registered.
    Made {
        /// Index of the function in [`Samples::made`].
        function: u32,
        /// Address in the memory of the process.
        address: u64,
    },
    /// Address at which no code is known.
    Nowhere,
}

/// Thread with samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Number of the thread's process.
    pub pid: u32,
    /// Number of the thread in the system.
    pub tid: u32,
    /// Name of the thread, from the system.
    pub name: String,
}

/// File with code.
#[derive(Clone, Debug)]
pub struct Module {
    /// Path of the file, or a name in brackets.
    pub path: PathBuf,
    /// True if a process was started from this file.
    pub is_program: bool,
    /// Handle on the file that ran, which may have been replaced since.
    pub(crate) file: CodeFile,
    /// Root directory of a process that ran the file.
    pub(crate) root: Directory,
    /// Directory of the file in that root. It may be in a mount that ends with the process.
    pub(crate) beside: Directory,
}

/// Numbers of other records than samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Samples that found no room in a ring.
    pub lost: u64,
    /// Pauses that the kernel made, because samples took too long.
    pub throttled: u64,
    /// Processes that the sampler saw.
    pub processes: u64,
}

/// Samples of a run, with their threads, stacks and files.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Samples in the order of time.
    pub samples: Vec<Sample>,
    /// Distinct stacks.
    pub stacks: Vec<Stack>,
    /// Distinct addresses.
    pub addresses: Vec<CodeLocation>,
    /// Functions that the processes made and registered. A function that was moved is there twice.
    pub made: Vec<CodeFunction>,
    /// Locations of the maps of other generated code, by process.
    pub(crate) perf_maps: HashMap<u32, PerfMap>,
    /// Threads with samples.
    pub threads: Vec<Thread>,
    /// Files with code, by number.
    pub modules: Vec<Module>,
    /// Numbers of other records than samples.
    pub counts: Counts,
    /// Recordings that the processes mapped, each with its process.
    pub recordings: Vec<(u32, PathBuf)>,
    /// Distinct sites and subjects of the sampled events.
    pub events: Vec<EventOf>,
    /// Distinct lists of enclosing events, outermost first: indices into [`Samples::events`]. The
    /// first list is empty.
    pub lists: Vec<Box<[u32]>>,
}

impl Samples {
    /// Copies some of the samples, with the stacks and addresses that they use. Names of threads
    /// and files are left out.
    pub(crate) fn part(&self, of: &[Sample]) -> Samples {
        let mut part =
            Samples { made: self.made.clone(), counts: self.counts, ..Samples::default() };
        part.perf_maps.clone_from(&self.perf_maps);
        part.threads.clone_from(&self.threads);
        part.recordings.clone_from(&self.recordings);
        part.events.clone_from(&self.events);
        part.lists.clone_from(&self.lists);
        let mut stacks = HashMap::new();
        let mut addresses = HashMap::new();
        for sample in of {
            let stack = *stacks.entry(sample.stack).or_insert_with(|| {
                let Stack { frames, end } = &self.stacks[sample.stack as usize];
                let frames = frames.iter().map(|&frame| {
                    *addresses.entry(frame).or_insert_with(|| {
                        part.addresses.push(self.addresses[frame as usize]);
                        part.addresses.len() as u32 - 1
                    })
                });
                part.stacks.push(Stack { frames: frames.collect(), end: *end });
                part.stacks.len() as u32 - 1
            });
            part.samples.push(Sample { stack, ..*sample });
        }
        part
    }

    /// Returns the index of a list of events, and adds a new list.
    pub(crate) fn list_of(
        &mut self,
        around: impl Iterator<Item = Around>,
        numbers: &mut HashMap<Around, u32>,
        lists: &mut HashMap<Box<[u32]>, u32>,
    ) -> u32 {
        if self.lists.is_empty() {
            self.lists.push(Box::default());
        }
        let mut list = Vec::new();
        for of in around {
            list.push(*numbers.entry(of).or_insert_with(|| {
                self.events.push(EventOf { of, site: String::new(), subject: None });
                self.events.len() as u32 - 1
            }));
        }
        if list.is_empty() {
            return NO_EVENT;
        }
        *lists.entry(list.into()).or_insert_with_key(|list| {
            self.lists.push(list.clone());
            self.lists.len() as u32 - 1
        })
    }
}
