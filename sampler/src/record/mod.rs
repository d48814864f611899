//! Samples in a recording: tables of processor time by site and subject, and by function.
//!
//! The tables are declared and laid out as those of method profilers are
//! ([`metaspy_format::profile`]), instead of a file beside the recording. So every front end shows
//! them, and merged recordings add them up. They are appended when the process has ended: nobody
//! else writes then, and the counts are stored last. Functions and frames are numbered by hashes of
//! their identity, so those of several processes are the same rows.

mod functions;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use metaspy_format::profile::{Column, Key, KeyKind, TableDef};
use metaspy_reader::{EndState, Store};
use metaspy_report::append::{AppendedRow, Room};
use metaspy_report::cpu::{PROFILE, SAMPLES};

use crate::profile::Profile;
use crate::samples::{Sample, UNKNOWN};

/// Site number of samples outside all events.
const NO_SITE: u32 = 0;

/// Result of appending samples to a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The recording has the samples by subject and by function.
    All,
    /// The recording has the samples by subject; its budget was too small for their functions.
    WithoutFunctions,
    /// The process still writes the recording.
    StillWritten,
    /// No sample was taken in the recording's process.
    NoSamples,
    /// The recording has no room: its budget was small.
    NoRoom,
}

/// Recording with the samples of its process.
struct Recorded<'a> {
    profile: &'a Profile,
    path: &'a Path,
    store: &'a Store,
}

/// Appends the samples of a run to each recording of its processes.
pub fn append(profile: &Profile) -> Vec<(&Path, io::Result<Appended>)> {
    let recordings = profile.run.recordings.iter();
    recordings
        .map(|(path, store)| (path.as_path(), Recorded { profile, path, store }.append()))
        .collect()
}

impl Recorded<'_> {
    fn append(&self) -> io::Result<Appended> {
        if self.store.end_state() == EndState::Live {
            return Ok(Appended::StillWritten);
        }
        let rows = self.rows();
        if rows.is_empty() {
            return Ok(Appended::NoSamples);
        }
        let def = TableDef {
            profile: PROFILE.to_owned(),
            key: KeyKind::Subject,
            columns: vec![Column::new(SAMPLES), Column::ticks(PROFILE)],
            ..TableDef::default()
        };
        let mut room = Room::of(self.store);
        if room.add(def, &rows, 0)? == 0 {
            return Ok(Appended::NoRoom);
        }
        let functions = functions::add(self, &mut room)?;
        room.write(self.path)?;
        Ok(if functions == 0 { Appended::WithoutFunctions } else { Appended::All })
    }

    /// Returns the samples of the recording's process.
    fn samples(&self) -> impl Iterator<Item = &Sample> {
        let samples = &self.profile.run.samples;
        let pid = self.store.header().pid;
        samples
            .samples
            .iter()
            .filter(move |sample| samples.threads[sample.thread as usize].pid == pid)
    }

    /// Converts a number of samples to ticks of the recording's clock.
    fn ticks(&self, samples: u64) -> u64 {
        self.store.tick_at_ns(self.profile.ns(samples)).saturating_sub(self.store.tick_at_ns(0))
    }

    /// Returns site and subject of the innermost event in a list of events, or `None` if the list
    /// has no event of this recording.
    fn innermost(&self, events: u32) -> Option<Key> {
        let samples = &self.profile.run.samples;
        let list = if events == UNKNOWN { None } else { samples.lists.get(events as usize) };
        let of = samples.events[*list?.last()? as usize].of;
        if samples.recordings[of.recording as usize].1 != self.path {
            return None;
        }
        let subject = of.subject.map_or((0, 0), |subject| (u32::from(subject.kind.0), subject.key));
        Some(Key { site: of.site.0, second: subject.0, key: subject.1 })
    }

    /// Counts the samples by site and subject of the innermost event, the most frequent first.
    /// Samples outside all events have no site.
    fn rows(&self) -> Vec<AppendedRow> {
        let mut counts: BTreeMap<Key, u64> = BTreeMap::new();
        let mut keys: HashMap<u32, Key> = HashMap::new();
        let none = Key { site: NO_SITE, second: 0, key: 0 };
        for sample in self.samples() {
            let key = keys
                .entry(sample.events)
                .or_insert_with(|| self.innermost(sample.events).unwrap_or(none));
            *counts.entry(*key).or_default() += 1;
        }
        let mut rows: Vec<(Key, u64)> = counts.into_iter().collect();
        rows.sort_by_key(|&(key, samples)| (std::cmp::Reverse(samples), key));
        rows.into_iter().map(|(key, samples)| (key, vec![samples, self.ticks(samples)])).collect()
    }
}
