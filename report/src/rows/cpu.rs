//! Processor time of rows.

use metaspy_reader::Store;

use super::{By, Report, ReportRow};
use crate::cpu::{Cpu, CpuTotals, PROFILE, SAMPLES};

impl ReportRow {
    /// The samples in its own events: not in those inside them.
    pub fn cpu(&self) -> Cpu {
        let column =
            |name: &str| match self.profiles.get(PROFILE).and_then(|columns| columns.get(name)) {
                Some(found) => found.value.number().unwrap_or(0),
                None => 0,
            };
        Cpu { samples: column(SAMPLES), ns: column(PROFILE) }
    }
}

impl Report {
    /// Sorts the rows by processor time, the largest first.
    pub fn sort_by_cpu(&mut self) {
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.cpu().samples));
    }

    /// Returns the totals that rows are shares of. Rows by cause have none: samples are in an
    /// event, not in its effects.
    pub(super) fn cpu_of(store: &Store, by: By) -> Option<CpuTotals> {
        CpuTotals::read(store).filter(|_| !by.is_of_causes())
    }
}
