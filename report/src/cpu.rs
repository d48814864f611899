//! Processor time, from the samples of `metaspy sample`: the table `cpu` of a recording.

use metaspy_reader::{RowKey, Store};

/// The name of the profile, which is also that of its column of time.
pub const PROFILE: &str = "cpu";
/// The column of the number of samples.
pub const SAMPLES: &str = "samples";

/// The samples of a recording, or of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// The number of samples.
    pub samples: u64,
    /// Their processor time.
    pub ns: u64,
}

/// All samples of a recording, and those in no recorded event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTotals {
    /// All samples.
    pub all: Cpu,
    /// Samples in no event.
    pub outside: Cpu,
    /// Rows that found no room in the recording.
    pub(crate) lost_rows: u64,
}

impl CpuTotals {
    /// Those of a recording; `None` without samples.
    pub fn read(store: &Store) -> Option<CpuTotals> {
        let mut totals = CpuTotals::default();
        let profiles = store.united_profiles();
        let tables = profiles
            .iter()
            .filter(|profile| profile.name == PROFILE)
            .flat_map(|profile| &profile.tables);
        for table in tables {
            totals.lost_rows += table.lost;
            for row in &table.rows {
                let value = |column: &str| table.value(row.key, column).number().unwrap_or(0);
                let cpu = Cpu { samples: value(SAMPLES), ns: value(PROFILE) };
                totals.all.add(cpu);
                if matches!(row.key, RowKey::Subject(site, _) if site.0 == 0) {
                    totals.outside.add(cpu);
                }
            }
        }
        (totals.all.samples > 0).then_some(totals)
    }
}

impl Cpu {
    fn add(&mut self, other: Cpu) {
        self.samples = self.samples.saturating_add(other.samples);
        self.ns = self.ns.saturating_add(other.ns);
    }

    /// The share of a whole, in percent.
    pub fn percent(self, whole: Cpu) -> f64 {
        if whole.samples == 0 { 0.0 } else { 100.0 * self.samples as f64 / whole.samples as f64 }
    }
}

/// The half width of the interval around `part` of `whole` samples that holds the true share with
/// 95 % probability, in percent of the whole: Wilson's interval for a share, so that 0 samples have
/// an error, too.
pub fn error_percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 100.0;
    }
    let z = 1.96_f64;
    let n = whole as f64;
    let share = part as f64 / n;
    let spread = (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    100.0 * z * spread / (1.0 + z * z / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_falls_with_the_root_of_the_samples() {
        assert!((error_percent(500, 1_000) - 3.1).abs() < 0.05);
        assert!((error_percent(50_000, 100_000) - 0.31).abs() < 0.005);
        assert!(error_percent(0, 1_000) > 0.1 && error_percent(1_000, 1_000) > 0.1);
        assert_eq!(error_percent(0, 0), 100.0);
    }
}
