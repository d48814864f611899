//! What tests cover: how often each method ran, on how many objects, and in which tests (SPY, section 5.1).

use std::sync::atomic::{AtomicBool, Ordering};

use crate::method_profilers::{
    Call, CallEnd, Count, Facts, IdentitySet, Interest, Map, MethodProfiler, MethodSpy, Returns, TestId, Tests, Value,
    json,
};

/// Counts executions, receivers and tests of each method; with deep weaving, tells which always return the same. A
/// [`Ratio`](crate::method_profilers::Ratio) says how much of a type or a package that is.
#[derive(Debug, Default)]
pub struct TestCoverage {
    /// Whether any method shows what it returns: then the calls that each makes are counted, too.
    is_deep: AtomicBool,
}

/// What it knows of a method.
#[derive(Default)]
pub struct Covered {
    /// How often it ran.
    pub executions: Count,
    /// On how many objects, at least.
    pub receivers: IdentitySet<100>,
    /// In which tests.
    pub tests: Tests,
    /// What it returned.
    pub returns: Returns,
    /// How many calls it made to other methods of the mirror, where all are seen: with deep weaving. Another profiler's
    /// methods count, too, while that is installed.
    pub calls: Count,
}

impl MethodProfiler for TestCoverage {
    const NAME: &'static str = "coverage";
    const TRUSTED: bool = true;
    type Package = ();
    type Type = ();
    type Method = Covered;
    type Around = ();

    #[inline]
    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        spy.data.executions.add(1);
        spy.data.receivers.see(call);
        spy.data.tests.see(call);
    }

    fn selects(&self, facts: &Facts) -> bool {
        self.is_deep.fetch_or(facts.is_deep, Ordering::Relaxed);
        true
    }

    fn settles<'s>(&self, spy: &'s MethodSpy<Self>, _: &Call<'_>) -> Interest<'s> {
        match self.is_deep.load(Ordering::Relaxed) {
            true => Interest::No,
            false if spy.data.receivers.is_full() => Interest::All(&spy.data.executions),
            false => Interest::Same(&spy.data.executions),
        }
    }

    #[inline]
    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, ended: &CallEnd<'_>) {
        spy.data.returns.see(call, ended);
        if ended.calls() != 0 {
            spy.data.calls.add(ended.calls());
        }
    }

    fn tell(&self, spy: &MethodSpy<Self>, told: &mut Map<String, Value>) {
        let Covered { executions, receivers, tests, returns, calls } = &spy.data;
        told.insert("executions".into(), json!(executions.get()));
        let has_identity = spy.facts.self_kind.has_place() || !receivers.is_empty();
        told.insert("receivers".into(), json!(has_identity.then(|| receivers.len())));
        told.insert("receivers_exact".into(), json!(!receivers.is_full()));
        told.insert("returns".into(), json!(returns.verdict(&spy.facts)));
        told.insert("calls".into(), json!(calls.get()));
        told.insert("tests".into(), json!(tests.all().into_iter().map(TestId::name).collect::<Vec<_>>()));
    }
}
