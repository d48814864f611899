//! Who calls whom, how often, and how long that takes (SPY, section 4.4; Execution profiling blueprints, section 3).

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::method_profilers::{Call, CallEnd, Count, Map, MethodProfiler, MethodSpy, Mirror, Rate, Value, json};

/// Time and calls of each method: total and self, callers and callees. Of a recursion the total counts once, with the
/// outermost call: the times of a method's callers add up to its own.
#[derive(Default)]
pub struct Calls {
    edges: Edges,
}

/// What it knows of a method.
#[derive(Debug, Default)]
pub struct Timed {
    /// How often it ran.
    pub executions: Count,
    /// Ticks that it took, with what it called.
    pub total: Count,
    /// Ticks without: see [`CallEnd::own_ticks`].
    pub own: Count,
}

/// That one method called another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Who called; `None` if it is no method of the mirror. A place in it.
    pub caller: Option<usize>,
    /// Who was called.
    pub callee: usize,
    /// How often.
    pub count: u64,
    /// Nanoseconds that these calls took, but for those within another call of the same method.
    pub total_ns: u64,
}

impl MethodProfiler for Calls {
    const NAME: &'static str = "calls";
    const TIMED: bool = true;
    const TRUSTED: bool = true;
    type Package = ();
    type Type = ();
    type Method = Timed;
    type Around = ();

    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, ended: &CallEnd<'_>) {
        spy.data.executions.add(1);
        spy.data.own.add(ended.own_ticks());
        // Time within another call of the method is a part of that one's.
        let ticks = if call.depth() == 0 { ended.ticks() } else { 0 };
        spy.data.total.add(ticks);
        self.edges.add(call.caller(), spy.place, ticks);
    }

    fn tell_all(&self, mirror: &Mirror<Self>) -> Vec<Map<String, Value>> {
        let rate = Rate::now();
        let mut callers = vec![Vec::new(); mirror.methods().len()];
        for edge in self.edges_at(rate) {
            callers[edge.callee].push(json!({ "place": edge.caller, "count": edge.count, "total_ns": edge.total_ns }));
        }
        let told = |(spy, callers): (&MethodSpy<Self>, Vec<Value>)| {
            let mut told = Map::new();
            told.insert("executions".into(), json!(spy.data.executions.get()));
            told.insert("total_ns".into(), json!(rate.ns(spy.data.total.get())));
            told.insert("self_ns".into(), json!(rate.ns(spy.data.own.get())));
            told.insert("callers".into(), json!(callers));
            told
        };
        mirror.methods().iter().zip(callers).map(told).collect()
    }

    fn report(&self, _: &Mirror<Self>) -> String {
        match self.edges.lacks_some.load(Ordering::Relaxed) {
            true => {
                "There was no room for all pairs of methods that called each other: callers are not complete.".into()
            }
            false => String::new(),
        }
    }
}

impl Calls {
    /// Who called whom.
    pub fn edges(&self) -> Vec<Edge> {
        self.edges_at(Rate::now())
    }

    fn edges_at(&self, rate: Rate) -> Vec<Edge> {
        let all = self.edges.all().into_iter();
        all.map(|((caller, callee), [count, ticks])| {
            let caller = (caller as usize).checked_sub(1);
            Edge { caller, callee: callee as usize, count, total_ns: rate.ns(ticks) }
        })
        .collect()
    }
}

/// Pairs of methods. Threads meet only when a pair is seen for the first time.
struct Edges {
    cells: Box<[Pair]>,
    /// A pair found no room.
    lacks_some: AtomicBool,
}

struct Pair {
    /// Caller + 1 and callee + 1; 0 = free.
    who: AtomicU64,
    counts: OnceLock<[Count; 2]>,
}

impl Default for Edges {
    fn default() -> Self {
        let cell = |_| Pair { who: AtomicU64::new(0), counts: OnceLock::new() };
        Edges { cells: (0..Edges::MOST).map(cell).collect(), lacks_some: AtomicBool::new(false) }
    }
}

impl Edges {
    /// Room for pairs.
    const MOST: usize = 1 << 16;
    /// Cells that a pair looks for room in.
    const STEPS: usize = 64;

    fn add(&self, caller: Option<usize>, callee: usize, ticks: u64) {
        let who = (caller.map_or(0, |caller| caller as u64 + 1)) << 32 | (callee as u64 + 1);
        let first = (who.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize;
        for step in 0..Edges::STEPS {
            let pair = &self.cells[(first + step) % Edges::MOST];
            let found = match pair.who.load(Ordering::Relaxed) {
                0 => pair
                    .who
                    .compare_exchange(0, who, Ordering::Relaxed, Ordering::Relaxed)
                    .map_or_else(|it| it, |_| who),
                found => found,
            };
            if found == who {
                let [count, total] = pair.counts.get_or_init(Default::default);
                count.add(1);
                total.add(ticks);
                return;
            }
        }
        self.lacks_some.store(true, Ordering::Relaxed);
    }

    fn all(&self) -> BTreeMap<(u32, u32), [u64; 2]> {
        let used = self.cells.iter().filter_map(|pair| {
            let who = pair.who.load(Ordering::Relaxed);
            let (caller, callee) = ((who >> 32) as u32, (who as u32).checked_sub(1)?);
            let [count, ticks] = pair.counts.get()?;
            Some(((caller, callee), [count.get(), ticks.get()]))
        });
        used.collect()
    }
}
