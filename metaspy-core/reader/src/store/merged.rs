//! Facts of a merged recording: its processes, its sources, and their common state.

use std::ops::Range;

use crate::event::LaneId;
use crate::open::header::EndState;
use crate::store::{Medium, Store};

/// Process of a merged recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Label on screens: the name of the program, with the process number if several processes have
    /// this name.
    pub label: String,
    /// Name of the program.
    pub name: String,
    /// Process number.
    pub pid: u32,
    /// Source of the recording, as it was given.
    pub source: String,
    /// Lanes of the process.
    pub lanes: Range<u32>,
    /// State of the recording when it was read. A live recording is a snapshot.
    pub ended: EndState,
    /// Clock domain. The order of events in one domain is certain. 0 = the domain of the first
    /// process.
    pub clock: usize,
    /// Shift of the clock in nanoseconds, in addition to the difference of the wall clocks, so that
    /// no message is received before it is sent.
    pub moved_ns: i64,
}

/// Facts of a merged recording beyond its words.
pub(crate) struct Merged {
    pub processes: Vec<Process>,
    pub sources: Vec<Store>,
    /// Sentences about the parts that could not be copied.
    pub damage: Vec<String>,
    /// False if rows of an input that is being written found no room.
    pub has_room: bool,
    /// True if each call of an input that is being written is counted once.
    pub exact: bool,
    pub order_is_uncertain: bool,
}

impl Merged {
    /// Returns the common end state of the inputs.
    pub fn end_state(&self) -> EndState {
        let any = |ended| self.processes.iter().any(|process| process.ended == ended);
        if any(EndState::Live) || any(EndState::Snapshot) {
            return EndState::Snapshot;
        }
        [EndState::Unknown, EndState::Killed]
            .into_iter()
            .find(|&ended| any(ended))
            .unwrap_or(EndState::Closed)
    }

    /// Returns the missing parts of each input.
    pub fn missing(&self) -> Vec<String> {
        let sources = self.processes.iter().zip(&self.sources);
        let missing = sources.flat_map(|(process, store)| {
            store.missing().iter().map(move |text| format!("{}: {text}", process.source))
        });
        missing.chain(self.damage.iter().cloned()).collect()
    }
}

impl Store {
    /// Returns the processes of a merged recording; empty for any other.
    pub fn processes(&self) -> &[Process] {
        self.as_merged().map_or(&[], |merged| &merged.processes)
    }

    /// Returns the merged recordings.
    pub(crate) fn sources(&self) -> &[Store] {
        self.as_merged().map_or(&[], |merged| &merged.sources)
    }

    /// Returns the process of a lane, if this is a merged recording.
    pub fn process_of(&self, lane: LaneId) -> Option<&Process> {
        self.processes().iter().find(|process| process.lanes.contains(&lane.0))
    }

    /// Returns true if the processes have different clocks, so that the order of their events is
    /// not certain.
    pub fn order_is_uncertain(&self) -> bool {
        self.as_merged().is_some_and(|merged| merged.order_is_uncertain)
    }

    pub(crate) fn as_merged(&self) -> Option<&Merged> {
        match &self.medium {
            Medium::Merged(merged) => Some(merged),
            _ => None,
        }
    }
}
