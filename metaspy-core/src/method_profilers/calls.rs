//! Callers, callees, counts and times (SPY, section 4.4; Execution profiling blueprints, section
//! 3).

use crate::format::profile::{Column, built_in};
use crate::method_profilers::table::CallTimes;
use crate::method_profilers::{
    Call, CallEnd, CallerTable, Columns, Count, Data, MethodProfiler, MethodSpy, Tables,
};

/// Time of each method, total and self, and its callers. The total of a recursion counts once, with
/// the outermost call: the times of a method's callers add up to its own.
///
/// Executions are those of the [tally](crate::Profile::counts). It has two tables: the methods,
/// with the columns `total` and `self`, and `callers`, with `calls` and `total`.
#[derive(Default)]
pub struct Calls {
    callers: CallerTable,
}

/// The times of a method.
pub struct Timed {
    /// Ticks of its calls, including the calls that they made.
    pub total: Count,
    /// Ticks of its calls without those: see [`CallEnd::own_ticks`].
    pub own: Count,
}

impl Data for Timed {
    fn new(columns: &mut Columns<'_>) -> Self {
        Timed {
            total: columns.sum(Column::ticks("total")),
            own: columns.sum(Column::ticks("self")),
        }
    }
}

impl MethodProfiler for Calls {
    const NAME: &'static str = built_in::CALLS;
    const TIMED: bool = true;
    const TRUSTED: bool = true;
    const ONLY_ENDS: bool = true;
    type Package = ();
    type Type = ();
    type Method = Timed;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.callers = tables.by_caller("callers", [Column::new("calls"), Column::ticks("total")]);
    }

    fn times(&self) -> Option<&CallerTable> {
        Some(&self.callers)
    }

    #[inline]
    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, end: &CallEnd<'_>) {
        // Time within another call of the method is a part of the outer call's time.
        let total = if call.depth() == 0 { end.ticks() } else { 0 };
        let times = CallTimes { total, own: end.own_ticks() };
        self.callers.add([&spy.data.total, &spy.data.own], spy.site, call.caller_site(), &times);
    }
}
