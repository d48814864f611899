//! What tests cover: how often each method ran, on how many objects, and in which tests (SPY,
//! section 5.1).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::format::profile::{Column, built_in};
use crate::method_profilers::{
    Call, CallEnd, Choice, Columns, Count, Data, Facts, IdentitySet, Interest, MethodProfiler,
    MethodSpy, Returns, SubjectTable, Tables,
};

/// Counts executions, receivers and tests of each method; with deep weaving, finds the methods that
/// always return the same.
///
/// Executions are those of the [tally](crate::Profile::counts). It has two tables: the methods,
/// with the columns `receivers`, `identity`, `returns` and `calls made`, and `tests`, with a row
/// for each method and test. Without deep weaving, `calls made` is a lower bound, because no more
/// calls are looked at once the receivers are counted.
#[derive(Default)]
pub struct TestCoverage {
    /// A method shows what it returns: then the calls that each makes are counted, too.
    is_deep: AtomicBool,
    tests: SubjectTable,
}

/// Distinguished objects of a method.
const RECEIVERS: usize = 100;

/// How receivers are distinguished. With an address, their number is a lower bound: values move,
/// and memory is reused.
const IDENTITIES: [&str; 2] = ["key", built_in::ADDRESS];

/// The coverage of a method.
pub struct Covered {
    /// On how many objects, at least.
    pub receivers: IdentitySet<RECEIVERS>,
    /// What it returned.
    pub returns: Returns,
    /// How many calls it made to other methods of the mirror, where all are seen: with deep
    /// weaving. Methods of other profilers count, too, while those are installed.
    pub calls: Count,
    receiver_count: Count,
    identity: Choice,
    returned: Choice,
    /// The test that was written last.
    last_test: AtomicU32,
}

impl Data for Covered {
    fn new(columns: &mut Columns<'_>) -> Self {
        Covered {
            receiver_count: columns.sum(Column::new("receivers").at_most(RECEIVERS as u64)),
            identity: columns.choice("identity", &IDENTITIES),
            returned: columns.choice("returns", &Returns::NAMES),
            calls: columns.sum("calls made"),
            receivers: IdentitySet::default(),
            returns: Returns::default(),
            last_test: AtomicU32::new(0),
        }
    }
}

impl MethodProfiler for TestCoverage {
    const NAME: &'static str = built_in::COVERAGE;
    const TRUSTED: bool = true;
    const ONLY_BEGINNINGS: bool = true;
    type Package = ();
    type Type = ();
    type Method = Covered;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.tests = tables.by_many_subjects("tests", [Column::flags("ran", &["ran"])]);
    }

    #[inline]
    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        if spy.data.receivers.see(call) {
            spy.data.receiver_count.add(1);
            spy.data.identity.see(usize::from(call.is_by_address()));
        }
        if let Some(test) = call.test()
            && spy.data.last_test.swap(test.number(), Ordering::Relaxed) != test.number()
        {
            self.tests.row(spy.site, test.subject()).put(0, 1);
        }
    }

    fn selects(&self, facts: &Facts) -> bool {
        self.is_deep.fetch_or(facts.is_deep, Ordering::Relaxed);
        true
    }

    fn interest<'s>(&self, spy: &'s MethodSpy<Self>, _: &Call<'_>) -> Interest<'s> {
        if self.is_deep.load(Ordering::Relaxed) {
            Interest::Each
        } else if spy.data.receivers.is_full() {
            Interest::Nothing(None)
        } else {
            Interest::OtherObjects(None)
        }
    }

    #[inline]
    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, end: &CallEnd<'_>) {
        if spy.data.returns.see(call, end)
            && let Some(verdict) = spy.data.returns.verdict(spy.facts)
            && let Some(name) = Returns::NAMES.iter().position(|name| *name == verdict)
        {
            spy.data.returned.see(name);
        }
        if end.calls() != 0 {
            spy.data.calls.add(end.calls());
        }
    }
}
