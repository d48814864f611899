//! What was collected: samples, each with its thread and its stack, before any name is known.

use std::collections::HashMap;
use std::path::PathBuf;

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::EventId;

use crate::code_file::{CodeFile, Directory};
use crate::code_map::{CodeFunction, PerfMap};

/// A sample: a period of processor time of a thread, with its stack.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The time, in ns of the monotonic clock.
    pub time_ns: u64,
    /// The place of the thread in [`Samples::threads`].
    pub thread: u32,
    /// The place of the stack in [`Samples::stacks`].
    pub stack: u32,
    /// The place of the events around it in [`Samples::lists`]; [`NO_EVENT`] = none, [`UNKNOWN`] = not known.
    pub events: u32,
    /// The innermost of these events.
    pub event: Option<EventId>,
    /// Processor time of the thread since its last sample, in ns; 0 with perf, whose samples are a period each.
    pub cpu_ns: u32,
    /// Time since the thread's last sample, in ns; 0 with perf.
    pub wall_ns: u32,
}

/// A sample in no recorded event.
pub const NO_EVENT: u32 = 0;
/// A sample whose events left the window of their recording before they were read.
pub const UNKNOWN: u32 = u32::MAX;

/// What an event is about, in a run with recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Around {
    /// The recording's place in [`Samples::recordings`].
    pub recording: u32,
    /// The event's site.
    pub site: SiteId,
    /// The event's subject.
    pub subject: Option<Subject>,
}

/// A site with a subject that samples were in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventOf {
    /// Which.
    pub of: Around,
    /// The path of the site.
    pub site: String,
    /// The subject's label.
    pub subject: Option<String>,
}

/// A stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// Places in [`Samples::addresses`], innermost first.
    pub frames: Box<[u32]>,
    /// What the outermost frame is.
    pub end: StackEnd,
}

/// What the outermost frame of a stack is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StackEnd {
    /// The beginning of the thread.
    Whole,
    /// The end of the copied part.
    Cut,
    /// A frame whose caller cannot be found.
    Broken,
}

/// Where the code of an address lies. The address of a caller is that of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In a file: its place in [`Samples::modules`], and the address as the file has it.
    Module {
        /// The place of the file.
        module: u32,
        /// The address.
        address: u64,
    },
    /// In the kernel.
    Kernel(u64),
    /// In memory without a file: code that the process made.
    Anonymous {
        /// The process.
        pid: u32,
        /// The address.
        address: u64,
    },
    /// In code that the process made and registered: its place in [`Samples::made`], and the address.
    Made {
        /// The place of the function.
        function: u32,
        /// The address.
        address: u64,
    },
    /// Nowhere: no code is known to be there.
    Nowhere,
}

/// A thread with samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its process.
    pub pid: u32,
    /// Its number.
    pub tid: u32,
    /// Its name, as the system has it.
    pub name: String,
}

/// A file with code.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its path, or a name in brackets.
    pub path: PathBuf,
    /// True if a process was started from it.
    pub is_program: bool,
    /// The file that ran.
    pub(crate) file: CodeFile,
    /// The root directory of a process that ran it.
    pub(crate) root: Directory,
    /// Its own directory there. It may be in a mount that ends with the process.
    pub(crate) beside: Directory,
}

/// What happened besides samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Samples that found no room.
    pub lost: u64,
    /// Pauses that the kernel made, because samples took too long.
    pub throttled: u64,
    /// Processes that were seen.
    pub processes: u64,
}

/// What was collected.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// In the order of time.
    pub samples: Vec<Sample>,
    /// Distinct stacks.
    pub stacks: Vec<Stack>,
    /// Distinct addresses.
    pub addresses: Vec<Place>,
    /// Functions that the processes made and registered. One that was moved is there twice.
    pub made: Vec<CodeFunction>,
    /// Where the processes with other code that they made have its maps.
    pub(crate) perf_maps: HashMap<u32, PerfMap>,
    /// Threads with samples.
    pub threads: Vec<Thread>,
    /// Files with code.
    pub modules: Vec<Module>,
    /// What happened besides.
    pub counts: Counts,
    /// Recordings of metaspy that the processes mapped, each with its process.
    pub recordings: Vec<(u32, PathBuf)>,
    /// Distinct sites with subjects that samples were in.
    pub events: Vec<EventOf>,
    /// Distinct lists of events around a sample, outermost first: places in [`Samples::events`]. The first one is empty.
    pub lists: Vec<Box<[u32]>>,
}

impl Samples {
    /// Some of the samples, with the stacks and addresses that these have. Names of threads and files are not among them.
    pub(crate) fn part(&self, of: &[Sample]) -> Samples {
        let mut part = Samples { made: self.made.clone(), counts: self.counts, ..Samples::default() };
        part.perf_maps.clone_from(&self.perf_maps);
        part.threads.clone_from(&self.threads);
        part.recordings.clone_from(&self.recordings);
        part.events.clone_from(&self.events);
        part.lists.clone_from(&self.lists);
        let (mut stacks, mut addresses) = (HashMap::new(), HashMap::new());
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

    /// The place of a list of events, which is added if it is new.
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
