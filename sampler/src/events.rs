//! Lookup of the events that samples were in, in the recordings of the sampled processes.
//!
//! A sample has its moment from the monotonic clock, and a recording converts that clock to its
//! ticks. So the program does nothing for this, and no hook is slower. A live recording is read on
//! while the program runs, because its ring forgets.
//!
//! Hooks do not store a word for each thread, because the calibration pairs of the recording are
//! enough, also in recordings of earlier versions. The match is exact: a sample's moment lies in an
//! interrupt, so between two readings of the thread's clock.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use metaspy_reader::{CurrentEvents, LaneId, Store};

use crate::samples::{Around, EventOf, NO_EVENT, Sample, Samples, UNKNOWN};

/// Delay between a sample and the lookup of its events, so that all events that began before the
/// sample have been written.
const SETTLED_NS: u64 = 100_000_000;
/// Time between two looks into a recording.
const LOOK_NS: u64 = 250_000_000;

/// Recordings of the sampled processes.
#[derive(Default)]
pub struct Recordings {
    all: Vec<Recording>,
    /// Number of samples that were looked up.
    joined: usize,
    looked_ns: u64,
    numbers: HashMap<Around, u32>,
    lists: HashMap<Box<[u32]>, u32>,
}

/// Recording that a sampled process maps.
struct Recording {
    pid: u32,
    path: PathBuf,
    store: Option<Store>,
    /// Lanes of each thread, with the events that were open in them.
    lanes: HashMap<u32, Vec<(LaneId, CurrentEvents)>>,
}

impl Recordings {
    /// Looks up the events of samples that are old enough, unless the last look was a moment ago.
    pub fn look(&mut self, samples: &mut Samples) {
        let newest = samples.samples.last().map_or(0, |sample| sample.time_ns);
        if samples.recordings.is_empty() || newest < self.looked_ns + LOOK_NS {
            return;
        }
        self.looked_ns = newest;
        self.open(samples);
        // Without a calibration, times are inexact. It comes within a second, and the ring holds
        // more.
        if self.all.iter().filter_map(|of| of.store.as_ref()).all(Store::is_calibrated) {
            self.join(samples, newest.saturating_sub(SETTLED_NS));
        }
    }

    /// Looks up the remaining samples, and names the events. Returns the recordings that could be
    /// opened.
    pub fn finish(mut self, samples: &mut Samples) -> Vec<(PathBuf, Store)> {
        self.open(samples);
        self.join(samples, u64::MAX);
        self.name(&mut samples.events);
        self.all.into_iter().filter_map(|of| Some((of.path, of.store?))).collect()
    }

    /// Writes the names of events.
    pub fn name(&self, events: &mut [EventOf]) {
        for event in events {
            let Some(store) = &self.all[event.of.recording as usize].store else { continue };
            store.site_path(event.of.site).clone_into(&mut event.site);
            event.subject = event.of.subject.map(|subject| store.subject_text(subject));
        }
    }

    /// Returns the samples that were looked up, or all samples if nothing records.
    pub fn known<'a>(&self, samples: &'a Samples) -> &'a [Sample] {
        &samples.samples
            [..if samples.recordings.is_empty() { samples.samples.len() } else { self.joined }]
    }

    /// Opens new recordings, and reads the additions to the others.
    fn open(&mut self, samples: &Samples) {
        for (pid, path) in &samples.recordings[self.all.len()..] {
            self.all.push(Recording {
                pid: *pid,
                path: path.clone(),
                store: None,
                lanes: HashMap::new(),
            });
        }
        for of in &mut self.all {
            match &mut of.store {
                // Mapped pages stay readable, even if the refresh fails.
                Some(store) => drop(store.refresh()),
                None => of.store = open(&of.path, of.pid),
            }
            for lane in of.store.iter().flat_map(Store::lanes) {
                let Ok(thread) = u32::try_from(lane.thread) else { continue };
                let lanes = of.lanes.entry(thread).or_default();
                if lanes.iter().all(|(id, _)| *id != lane.id) {
                    lanes.push((lane.id, CurrentEvents::new(lane.id)));
                }
            }
        }
    }

    /// Looks up the samples before a moment.
    fn join(&mut self, samples: &mut Samples, until_ns: u64) {
        let end = self.joined
            + samples.samples[self.joined..].partition_point(|sample| sample.time_ns < until_ns);
        let mut by_thread: HashMap<u32, Vec<usize>> = HashMap::new();
        for at in self.joined..end {
            by_thread.entry(samples.samples[at].thread).or_default().push(at);
        }
        self.joined = end;
        for (thread, places) in by_thread {
            let thread = &samples.threads[thread as usize];
            let pid = thread.pid;
            let tid = thread.tid;
            for number in 0..self.all.len() {
                let of = &mut self.all[number];
                let Some(store) = of.store.as_ref().filter(|_| of.pid == pid) else { continue };
                let times = places
                    .iter()
                    .map(|&at| store.tick_at_monotonic_ns(samples.samples[at].time_ns));
                let ticks: Vec<u64> = times.collect();
                for (_, events) in of.lanes.get_mut(&tid).into_iter().flatten() {
                    let mut at = places.iter();
                    events.at(store, &ticks, |_, around| {
                        let Some(&at) = at.next() else { return };
                        let event =
                            around.and_then(|around| around.last()).map(|innermost| innermost.id);
                        let list = around.map(|around| {
                            samples.list_of(
                                around.iter().map(|it| Around {
                                    recording: number as u32,
                                    site: it.site,
                                    subject: it.subject,
                                }),
                                &mut self.numbers,
                                &mut self.lists,
                            )
                        });
                        // A thread may have had several lanes, of which a single lane has the
                        // events of that time.
                        match list {
                            Some(NO_EVENT) => {}
                            Some(list) => {
                                let sample = &mut samples.samples[at];
                                (sample.events, sample.event) = (list, event);
                            }
                            None if samples.samples[at].events == NO_EVENT => {
                                samples.samples[at].events = UNKNOWN
                            }
                            None => {}
                        }
                    });
                }
            }
        }
    }
}

/// Opens the recording that a process writes. Returns `None` if it cannot be read yet, or belongs
/// to another process.
fn open(path: &Path, pid: u32) -> Option<Store> {
    Store::open(path).ok().filter(|store| store.header().pid == pid)
}
