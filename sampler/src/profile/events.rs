//! Samples by recorded event: processor time of domain objects.

use std::collections::{HashMap, HashSet};

use crate::profile::Profile;
use crate::samples::{NO_EVENT, UNKNOWN};

/// Samples of a run, by recorded event.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// A row for each site and subject, the most self time first.
    pub rows: Vec<EventRow>,
    /// Number of samples outside all events.
    pub outside: u64,
    /// Number of samples whose events left the window of their recording before they were read.
    pub unknown: u64,
}

/// Samples of a site and a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Index of the site and the subject in [`Samples::events`](crate::samples::Samples::events).
    pub event: u32,
    /// Samples in these events, but not in nested events.
    pub self_samples: u64,
    /// Samples in these events and in nested events, each sample counted once.
    pub total_samples: u64,
}

impl Profile {
    /// Counts the samples by event.
    pub fn events(&self) -> Events {
        let mut lists: HashMap<u32, u64> = HashMap::new();
        for sample in &self.run.samples.samples {
            *lists.entry(sample.events).or_default() += 1;
        }
        let mut events = Events::default();
        let mut rows: HashMap<u32, EventRow> = HashMap::new();
        let mut seen = HashSet::new();
        for (list, count) in lists {
            let around = match list {
                NO_EVENT => &[][..],
                UNKNOWN => {
                    events.unknown += count;
                    continue;
                }
                list => &self.run.samples.lists[list as usize],
            };
            seen.clear();
            let Some(&innermost) = around.last() else {
                events.outside += count;
                continue;
            };
            for &event in around.iter().filter(|event| seen.insert(**event)) {
                let row = rows.entry(event).or_insert(EventRow {
                    event,
                    self_samples: 0,
                    total_samples: 0,
                });
                row.total_samples += count;
                row.self_samples += if event == innermost { count } else { 0 };
            }
        }
        events.rows = rows.into_values().collect();
        events.rows.sort_by_key(|row| {
            (std::cmp::Reverse(row.self_samples), std::cmp::Reverse(row.total_samples), row.event)
        });
        events
    }
}
