//! The functions of a recording by processor time, from the samples of `metaspy sample`: with their
//! lines, their callers, and the subjects and events that they ran in.
//!
//! The profile has three kinds of tables, whose rows are numbered by hashes. Those without a name
//! have a row for each function, inlined or not; `frames` is the tree of stacks; `events` has the
//! samples of a frame in an event, or in all events of a subject if the recording has no room for
//! single ones.

mod details;
mod json;
pub mod tables;
mod text;

use std::collections::HashMap;
use std::fmt;

use metaspy_probe::{KindId, SiteId, Subject};
use metaspy_reader::{EventId, ProfileRow, ProfileTable, RowKey, Store, Value};

use crate::cpu::{Cpu, CpuTotals, error_percent};
use details::add;

pub use details::{Called, Details, InSubject, Range, Span};
pub use json::json;
pub use text::{name_of, note, span, text};

/// The name of the profile.
pub const PROFILE: &str = "functions";
/// The table of frames.
pub const FRAMES: &str = "frames";
/// The table of samples in events.
pub const EVENTS: &str = "events";

/// The number of columns of each table.
pub mod columns {
    /// Those of frames.
    pub const FRAMES: usize = 6;
    /// Those of events.
    pub const EVENTS: usize = 5;
}

/// The functions with samples.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// The functions, the most self time first.
    pub all: Vec<Function>,
    /// All samples, those of functions that found no room included.
    pub whole: Cpu,
    /// Functions, frames and events that found no room in the recording.
    pub lost: u64,
    frames: Vec<Frame>,
    places: HashMap<u64, usize>,
}

/// Why a recording has no functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoFunctions {
    /// No samples were taken.
    NoSamples,
    /// The samples are there by subject, and their functions found no room.
    NoRoom,
}

impl fmt::Display for NoFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoFunctions::NoSamples => {
                "no samples were recorded: run the program with `METASPY_RECORD=run.spy metaspy sample -- CMD`"
            }
            NoFunctions::NoRoom => "the functions of the samples found no room: record with a larger METASPY_BUDGET",
        })
    }
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Its number, the same in all recordings.
    pub number: u64,
    /// Its path.
    pub name: String,
    /// The file of its source; empty if it is not known.
    pub file: String,
    /// Whose code it is: `user code`, `std` and so on.
    pub owner: String,
    /// The file with its code.
    pub module: String,
    /// Samples in its own code.
    pub self_samples: u64,
    /// Their processor time in ns.
    pub self_ns: u64,
    /// Samples while it was on the stack, each counted once.
    pub total_samples: u64,
    /// Their processor time in ns.
    pub total_ns: u64,
}

/// A stack with the samples of its innermost frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The number of each function and the line in it, the innermost first.
    pub frames: Vec<(u64, u32)>,
    /// Samples.
    pub samples: u64,
}

/// Most frames of a stack. Samplers end a stack after some hundreds, and a page of stacks has a row
/// for each level.
pub(crate) const DEPTH_MAX: usize = 1 << 13;

/// A frame of the tree of stacks.
#[derive(Clone, Debug, Default)]
struct Frame {
    function: u64,
    /// The place of its caller.
    caller: Option<usize>,
    line: u32,
    position: Option<u64>,
    is_inlined: bool,
    /// Samples in its own code.
    samples: u64,
    events: Vec<InEvent>,
}

/// Samples of a frame in an event.
#[derive(Clone, Copy, Debug)]
struct InEvent {
    site: SiteId,
    subject: Option<Subject>,
    /// The event, if the recording has it.
    event: Option<EventId>,
    samples: u64,
}

impl Functions {
    /// Those of a recording.
    pub fn read(store: &Store) -> Result<Functions, NoFunctions> {
        let mut functions = Functions::default();
        let mut by_number: HashMap<u64, Function> = HashMap::new();
        let mut frames: Vec<(u64, u64, Frame)> = Vec::new();
        let mut events: Vec<(u64, InEvent)> = Vec::new();
        let profiles = store.united_profiles();
        // A merged recording may have tables of several processes.
        for table in profiles
            .iter()
            .filter(|profile| profile.name == PROFILE)
            .flat_map(|profile| &profile.tables)
        {
            functions.lost = functions.lost.saturating_add(table.lost);
            let read = Columns::of(table);
            for row in &table.rows {
                let RowKey::Sampled(site, kind, number) = row.key else { continue };
                match table.name.as_str() {
                    "" => read.function(row, by_number.entry(number).or_default()),
                    FRAMES => frames.push((number, read.number(row, 0), read.frame(row))),
                    EVENTS => {
                        events.push((read.number(row, 0), read.event(store, row, site, kind)))
                    }
                    _ => {}
                }
            }
        }
        functions.all =
            by_number.into_iter().map(|(number, of)| Function { number, ..of }).collect();
        functions.all.sort_by(|a, b| (b.order(), &a.name).cmp(&(a.order(), &b.name)));
        functions.places =
            functions.all.iter().enumerate().map(|(at, of)| (of.number, at)).collect();
        functions.link(frames, events);
        match CpuTotals::read(store) {
            None => Err(NoFunctions::NoSamples),
            Some(_) if functions.all.is_empty() => Err(NoFunctions::NoRoom),
            Some(CpuTotals { all, .. }) => Ok(Functions { whole: all, ..functions }),
        }
    }

    /// The place of a function in [`all`](Self::all).
    pub fn place(&self, number: u64) -> Option<usize> {
        self.places.get(&number).copied()
    }

    /// The stacks with samples, each with the functions from the innermost one outward and their
    /// lines.
    pub fn stacks(&self) -> impl Iterator<Item = Sampled> {
        self.frames.iter().enumerate().filter(|(_, frame)| frame.samples > 0).map(
            |(leaf, frame)| {
                let around = std::iter::successors(Some(leaf), |&at| self.frames[at].caller);
                let frames =
                    around.map(|at| (self.frames[at].function, self.frames[at].line)).collect();
                Sampled { frames, samples: frame.samples }
            },
        )
    }

    /// The share of samples in percent, with the half width of the interval that holds the true
    /// share with 95 % probability.
    pub fn percent(&self, samples: u64) -> (f64, f64) {
        let part = Cpu { samples, ns: 0 };
        (part.percent(self.whole), error_percent(samples, self.whole.samples))
    }

    /// The processor time of samples, in ns.
    pub fn ns(&self, samples: u64) -> u64 {
        let ns = u128::from(self.whole.ns) * u128::from(samples);
        ns.checked_div(self.whole.samples.into()).map_or(0, |ns| ns as u64)
    }

    /// Relates frames to their callers, and events to their frames.
    fn link(&mut self, frames: Vec<(u64, u64, Frame)>, events: Vec<(u64, InEvent)>) {
        let mut places: HashMap<u64, usize> = HashMap::new();
        let mut callers = Vec::new();
        for (number, caller, frame) in frames {
            match places.get(&number) {
                // The tables of two processes have the frame.
                Some(&known) => add(&mut self.frames[known].samples, frame.samples),
                None => {
                    places.insert(number, self.frames.len());
                    self.frames.push(frame);
                    callers.push(caller);
                }
            }
        }
        for (frame, caller) in self.frames.iter_mut().zip(callers) {
            frame.caller = places.get(&caller).copied();
        }
        self.end_stacks();
        for (frame, event) in events {
            if let Some(&place) = places.get(&frame) {
                self.frames[place].events.push(event);
            }
        }
    }
}

impl Functions {
    /// Ends stacks that lead around in a circle, or have more frames than a sampler takes, as
    /// damaged recordings may have.
    fn end_stacks(&mut self) {
        const UNKNOWN: usize = 0;
        const OPEN: usize = usize::MAX;
        let mut depths = vec![UNKNOWN; self.frames.len()];
        let mut path = Vec::new();
        for start in 0..self.frames.len() {
            let mut next = Some(start);
            while let Some(at) = next.filter(|&at| depths[at] == UNKNOWN) {
                depths[at] = OPEN;
                path.push(at);
                next = self.frames[at].caller;
            }
            while let Some(at) = path.pop() {
                let frame = &mut self.frames[at];
                frame.caller = frame.caller.filter(|&caller| depths[caller] < DEPTH_MAX);
                depths[at] = 1 + frame.caller.map_or(0, |caller| depths[caller]);
            }
        }
    }
}

impl Function {
    fn order(&self) -> (u64, u64) {
        (self.self_samples, self.total_samples)
    }
}

/// The columns of a table, in the order in which they were declared.
struct Columns<'a>(&'a ProfileTable);

impl<'a> Columns<'a> {
    fn of(table: &'a ProfileTable) -> Self {
        Columns(table)
    }

    fn number(&self, row: &ProfileRow, column: usize) -> u64 {
        row.value(self.0, column).number().unwrap_or(0)
    }

    fn text(&self, row: &ProfileRow, column: usize) -> String {
        match row.value(self.0, column) {
            Value::Choice(text) => text,
            _ => String::new(),
        }
    }

    /// Adds a row of the table of functions.
    fn function(&self, row: &ProfileRow, to: &mut Function) {
        let [name, file, owner, module] = std::array::from_fn(|column| self.text(row, column));
        (to.name, to.file, to.owner, to.module) = (name, file, owner, module);
        add(&mut to.self_samples, self.number(row, 4));
        add(&mut to.self_ns, self.number(row, 5));
        add(&mut to.total_samples, self.number(row, 6));
        add(&mut to.total_ns, self.number(row, 7));
    }

    fn frame(&self, row: &ProfileRow) -> Frame {
        Frame {
            function: self.number(row, 1),
            line: self.number(row, 2).try_into().unwrap_or(0),
            position: self.number(row, 3).checked_sub(1),
            is_inlined: self.number(row, 4) > 0,
            samples: self.number(row, 5),
            ..Frame::default()
        }
    }

    fn event(&self, store: &Store, row: &ProfileRow, site: SiteId, kind: KindId) -> InEvent {
        let subject = (kind.0 != 0).then(|| Subject::new(kind, self.number(row, 1)));
        // Merged recordings have numbered their events anew.
        let is_own = self.number(row, 3) == u64::from(store.header().pid);
        let event = EventId::from_raw(self.number(row, 2)).filter(|_| is_own);
        InEvent { site, subject, event, samples: self.number(row, 4) }
    }
}
