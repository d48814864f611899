//! Cost of the hooks of a timed call in the recorded process.

use metaspy_format::superblock as sb;

use crate::{ColumnKind, Store};

/// Cost of the hooks of a timed call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HookCost {
    /// Nanoseconds between the two clock readings of a call, which are a part of its own time.
    pub within_ns: f64,
    /// Nanoseconds of the hooks in all. The part beyond `within_ns` is own time of the caller.
    pub whole_ns: f64,
    /// Further nanoseconds between the two clock readings, of hooks that see returned values; 0 if
    /// that was not measured.
    pub returned_ns: f64,
}

impl HookCost {
    /// Returns the lowest of the costs of several recordings; `None` if the cost of any recording
    /// is unknown.
    pub fn lowest(costs: impl IntoIterator<Item = Option<HookCost>>) -> Option<HookCost> {
        let known: Option<Vec<HookCost>> = costs.into_iter().collect();
        known?.into_iter().min_by(|a, b| a.whole_ns.total_cmp(&b.whole_ns))
    }

    /// Encodes the cost as words of the first page.
    pub(crate) fn words(self) -> [(usize, u64); 3] {
        let ps = |ns: f64| (ns * 1_000.0).round() as u64;
        [
            (sb::HOOKS_WITHIN, ps(self.within_ns)),
            (sb::HOOKS_WHOLE, ps(self.whole_ns)),
            (sb::HOOKS_RETURNED, ps(self.returned_ns)),
        ]
    }
}

impl Store {
    /// Returns the cost of the hooks of a timed call. The recorded process measured it when a
    /// profiler that times calls was installed. For several recordings with times, it is the lowest
    /// cost. `None` if it was not measured.
    pub fn hook_cost(&self) -> Option<HookCost> {
        let words = [sb::HOOKS_WITHIN, sb::HOOKS_WHOLE, sb::HOOKS_RETURNED];
        let [within_ns, whole_ns, returned_ns] =
            words.map(|at| self.words().get(at) as f64 / 1_000.0);
        (0.0 < whole_ns && within_ns <= whole_ns).then_some(HookCost {
            within_ns,
            whole_ns,
            returned_ns,
        })
    }

    /// Returns true if a table has times.
    pub(crate) fn has_times(&self) -> bool {
        let mut columns = self.names.tables.values().flat_map(|def| &def.columns);
        columns.any(|column| column.kind == ColumnKind::Ticks)
    }
}
