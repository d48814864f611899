//! Several recordings read as one: of processes that belong together.
//!
//! They are written once more, into one recording in the ordinary layout, so that every reader knows it already. The
//! blocks of each go to places of their own in their laps, so ids and causes change by arithmetic; a cause in another of
//! the processes becomes the event there.

mod blocks;
mod clock;
mod cross_process;
mod names;
mod notes;
pub(crate) mod output;
mod profiles;
mod remap;
mod rows;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use crate::Store;
use crate::event::LaneId;
use crate::open::Mapped;
use crate::open::header::EndState;
use crate::store::Medium;
use crate::tally::fold::Pending;
use clock::AlignedClock;
use metaspy_format::CHUNK_BLOCKS;
use metaspy_format::superblock::{self as sb, lane as lane_row};
use output::OutputMemory;
use remap::{Input, MergedRing};
use rows::Rows;

/// One of the processes whose recordings are read as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// What it is called here: its program's name, and its number where another one has the same.
    pub label: String,
    /// Its program's name.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// What its recording was given as.
    pub source: String,
    /// Its lanes.
    pub lanes: Range<u32>,
    /// How its recording stood when it was read; a live one is a snapshot.
    pub ended: EndState,
    /// Which clock it has: between those of one clock the order of events is certain. 0 = that of the first.
    pub clock: usize,
    /// ns by which it was moved, beside what the clocks on the wall say, so that no receipt precedes its sending.
    pub moved_ns: i64,
}

/// What is known of a recording that was several, beyond its words.
pub(crate) struct Merged {
    pub processes: Vec<Process>,
    pub sources: Vec<Store>,
    /// What could not be copied, as sentences.
    pub damage: Vec<String>,
    /// Whether nothing moved while it was copied.
    pub exact: bool,
    pub order_is_uncertain: bool,
}

/// Why recordings cannot be read as one.
#[derive(Debug)]
#[non_exhaustive]
pub enum MergeError {
    /// There is nothing to read.
    Nothing,
    /// The same recording is given twice.
    Twice(String, String),
    /// Two recordings of one process, one after the other.
    SameProcess(String, String, u32),
    /// There are more of these than one recording can tell apart.
    TooMany(&'static str),
    /// There is no room for the whole.
    Room(io::Error),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Nothing => f.write_str("there is no recording to read: give at least one"),
            MergeError::Twice(first, second) => {
                write!(f, "{first} and {second} are the same recording: give each once")
            }
            MergeError::SameProcess(first, second, pid) => write!(
                f,
                "{first} and {second} are two recordings of process {pid}, one after the other: open them one by one"
            ),
            MergeError::TooMany(what) => write!(f, "together they have more {what} than can be told apart: give fewer"),
            MergeError::Room(error) => write!(
                f,
                "there is no room to read them as one ({error}): make room in the temporary directory, or set TMPDIR"
            ),
        }
    }
}

impl std::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MergeError::Room(error) => Some(error),
            _ => None,
        }
    }
}

/// Times that live recordings are copied again because they moved on meanwhile.
const TRIES: usize = 4;

impl Store {
    /// Reads several recordings as one, each with what it was given as. Live ones are taken as they are now.
    ///
    /// Sites of one path, kind and file are one site. Subjects are those of their process, as keys mean something there
    /// only, but for kinds that are [across processes](crate::Kind::across_processes). Times are those of the first
    /// recording's clock; [`Store::order_is_uncertain`] says where clocks differ.
    pub fn merged(sources: Vec<(String, Store)>) -> Result<Store, MergeError> {
        if sources.len() < 2 {
            return sources.into_iter().next().map(|(_, store)| store).ok_or(MergeError::Nothing);
        }
        notes::check_apart(&sources)?;
        let mut tries = 0;
        loop {
            tries += 1;
            let states: Vec<_> = sources.iter().map(|(_, store)| store.ring().fold_state()).collect();
            let (output, mut merged) = merge(&sources)?;
            merged.exact = sources.iter().zip(&states).all(|((_, store), state)| store.ring().fold_state() == *state);
            if merged.exact || tries == TRIES {
                let mapped = Mapped::memory(output.region());
                let whole = Store::mapped(mapped, Medium::Merged(Arc::new(merged)));
                return Ok(whole.expect("it was written as recordings are"));
            }
        }
    }

    /// The processes whose recordings are read as one here; none where it is one recording.
    pub fn processes(&self) -> &[Process] {
        self.as_merged().map_or(&[], |merged| &merged.processes)
    }

    /// Their recordings.
    pub(crate) fn sources(&self) -> &[Store] {
        self.as_merged().map_or(&[], |merged| &merged.sources)
    }

    /// The process that a lane belongs to, where there are several.
    pub fn process_of(&self, lane: LaneId) -> Option<&Process> {
        self.processes().iter().find(|process| process.lanes.contains(&lane.0))
    }

    /// Whether processes have clocks that differ, so that which of their events came first is not known for sure.
    pub fn order_is_uncertain(&self) -> bool {
        self.as_merged().is_some_and(|merged| merged.order_is_uncertain)
    }

    fn as_merged(&self) -> Option<&Merged> {
        match &self.medium {
            Medium::Merged(merged) => Some(merged),
            _ => None,
        }
    }
}

impl Merged {
    /// How the recordings ended, all in all.
    pub fn end_state(&self) -> EndState {
        let any = |ended| self.processes.iter().any(|process| process.ended == ended);
        match (any(EndState::Live) || any(EndState::Snapshot), any(EndState::Killed)) {
            (true, _) => EndState::Snapshot,
            (_, true) => EndState::Killed,
            _ => EndState::Closed,
        }
    }

    /// What is missing of each, by its name.
    pub fn missing(&self) -> Vec<String> {
        let sources = self.processes.iter().zip(&self.sources);
        let missing = sources
            .flat_map(|(process, store)| store.missing().iter().map(move |text| format!("{}: {text}", process.source)));
        missing.chain(self.damage.iter().cloned()).collect()
    }
}

/// Everything but the blocks, before it is written.
struct Plan {
    inputs: Vec<Input>,
    pending: Vec<Option<Pending>>,
    rows: Vec<Rows>,
    arena: names::Arena,
    tables: profiles::Tables,
    whole: MergedRing,
    lanes: u32,
    epochs: u32,
}

fn merge(sources: &[(String, Store)]) -> Result<(OutputMemory, Merged), MergeError> {
    let stores: Vec<Store> = sources.iter().map(|(_, store)| store.clone()).collect();
    let mut processes = notes::processes(sources);
    let mut placed = clock::place(&stores);
    let mut plan = self::plan(&stores, &placed, &mut processes)?;
    let (crossings, has_remote) = cross_process::crossings(&plan.inputs);
    let bounds = clock::settle(&mut placed, &crossings);
    for ((input, placed), has_remote) in plan.inputs.iter_mut().zip(&placed).zip(has_remote) {
        input.line = placed.line.clone();
        input.has_remote = has_remote;
    }
    let origin = plan.inputs.iter().map(|input| input.line.ns(input.store.header().first_tick)).min().unwrap_or(0);
    plan.inputs.iter_mut().for_each(|input| input.origin = origin - BEFORE_NS);
    for (process, placed) in processes.iter_mut().zip(&placed) {
        process.clock = placed.domain;
        process.moved_ns = bounds[placed.domain].moved.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    }
    let clocks = notes::clocks(&processes, &placed, &bounds, &crossings);
    plan.arena.program(&processes);
    for sentence in notes::snapshots(&processes).chain(clocks.sentences) {
        plan.arena.note(&sentence);
    }
    plan.arena.sites(&mut plan.inputs)?;
    plan.arena.kinds(&mut plan.inputs, &processes)?;
    for (input, process) in plan.inputs.iter().zip(&processes) {
        plan.arena.rest(input, process);
    }
    plan.rows =
        plan.inputs.iter().zip(&plan.pending).map(|(input, pending)| Rows::of(input, pending.as_ref())).collect();
    plan.tables = profiles::merged(&plan.inputs);
    plan.arena.tables(&plan.tables);
    let (output, copied) = write::write(&plan)?;
    let mut damage = Vec::new();
    for ((process, copied), rows) in processes.iter().zip(&copied).zip(&plan.rows) {
        if copied.beyond > 0 {
            damage.push(format!("{}: {} blocks have numbers that cannot be", process.source, copied.beyond));
        }
        if !rows.whole {
            damage.push(format!("{}: the tallies of the lanes cannot be read to their end", process.source));
        }
    }
    let order_is_uncertain = clocks.order_is_uncertain;
    Ok((output, Merged { processes, sources: stores, damage, exact: true, order_is_uncertain }))
}

/// How long before the first recording the common clock begins: ticks a little earlier are told apart.
const BEFORE_NS: i128 = 1_000_000;

fn plan(stores: &[Store], placed: &[AlignedClock], processes: &mut [Process]) -> Result<Plan, MergeError> {
    let mut plan = Plan {
        inputs: Vec::new(),
        pending: Vec::new(),
        rows: Vec::new(),
        arena: names::Arena::default(),
        tables: profiles::Tables::default(),
        whole: MergedRing { blocks: 0 },
        lanes: 0,
        epochs: 0,
    };
    for ((store, placed), process) in stores.iter().zip(placed).zip(processes) {
        let rows = (store.layout().lanes.len / lane_row::WORDS) as u64;
        let lanes = store.words().acquire(sb::LANES_USED).min(rows) as u32;
        let places = store.ring().places();
        plan.inputs.push(Input {
            store: store.clone(),
            place: plan.whole.blocks,
            places,
            lane: plan.lanes,
            lanes,
            epoch: plan.epochs,
            line: placed.line.clone(),
            origin: 0,
            sites: Vec::new(),
            nameless: 0,
            kinds: Default::default(),
            has_remote: false,
        });
        plan.pending.push(store.ring().pending());
        process.lanes = plan.lanes..plan.lanes + lanes;
        plan.whole.blocks += places.next_multiple_of(CHUNK_BLOCKS as u64);
        // One more stands for lanes that there cannot be.
        plan.lanes += lanes + 1;
        plan.epochs = plan.epochs.wrapping_add(store.header().epoch).wrapping_add(1);
    }
    // The places behind are never filled: what cannot be stands there.
    plan.whole.blocks += CHUNK_BLOCKS as u64;
    Ok(plan)
}
