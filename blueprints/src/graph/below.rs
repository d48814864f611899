//! Part of a run below a root method: for each method, the calls and the time within the calls of
//! the root.
//!
//! Recorded calling contexts give this part exactly. Without them, only direct callers are known. A
//! number is then exact if all callers lead to the root, and an upper bound if a caller is also
//! called from elsewhere.

use std::collections::HashMap;

use metaspy_report::contexts::Values;
use metaspy_report::program::Edge;
use metaspy_report::text::counted;

use super::recursion::groups;
use super::{Call, Graph};

/// Numbers of a graph below a root that are upper bounds, by method; empty for a whole program,
/// which has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// True where the number of calls is an upper bound.
    pub calls: Vec<bool>,
    /// True where the total time is an upper bound.
    pub times: Vec<bool>,
    /// True where the own time, and the numbers of the calls that the method makes, are upper
    /// bounds.
    pub own: Vec<bool>,
}

impl Graph {
    /// Restricts the graph to the calls and times within the calls of one method. Methods that this
    /// method does not lead to keep their numbers, but nothing calls them.
    ///
    /// Receivers, tests, objects and returned values still cover all calls.
    ///
    /// # Errors
    ///
    /// If the path is not the end of the path of one method.
    pub fn below(mut self, path: &str) -> Result<Graph, String> {
        let root = self.find(path)?;
        let mut below = Below::new(&self, root);
        if let Some(recorded) = Recorded::new(&self, root) {
            recorded.replace(&mut self, &mut below);
        }
        let is_bound = |of: fn(&Share) -> bool| {
            below.shares.iter().map(|share| share.as_ref().is_some_and(of)).collect()
        };
        self.bounds = Bounds {
            calls: is_bound(|share| share.are_calls_most),
            times: is_bound(|share| share.is_time_most),
            own: is_bound(|share| !share.is_all && !share.is_recorded),
        };
        for (method, share) in self.methods.iter_mut().zip(&below.shares) {
            let Some(share) = share.as_ref().filter(|share| !share.is_all) else { continue };
            method.executions = share.calls;
            method.total_ns = method.total_ns.map(|_| share.total_ns);
            method.self_ns =
                method.self_ns.map(|own| own.min(share.self_ns.unwrap_or(share.total_ns)));
            method.hooks_ns = 0;
        }
        let share_of = |at: usize| below.shares[at].as_ref();
        self.calls.retain(|call| share_of(call.from).is_some());
        for call in &mut self.calls {
            let most = share_of(call.from)
                .filter(|share| !share.is_all)
                .map_or(u64::MAX, |share| share.total_ns);
            call.total_ns = call.total_ns.min(most);
        }
        let count = self.methods[root].executions;
        let total_ns = self.total(root);
        let from_root = Edge { count, total_ns, is_least: false };
        self.entries = vec![(root, from_root)];
        self.root = Some(root);
        let bounded = below
            .shares
            .iter()
            .flatten()
            .filter(|share| share.are_calls_most || share.is_time_most)
            .count();
        if below.shares.iter().flatten().any(|share| !share.is_all) {
            self.notes.push(
                "receivers, tests and returned values are those of all calls, also from elsewhere"
                    .into(),
            );
        }
        if bounded > 0 {
            self.notes.push(format!(
                "≤: {} with a caller that is called from elsewhere as well: its part below this root is not known",
                counted(bounded as u64, "method")
            ));
        }
        Ok(self)
    }

    /// Clears the numbers of methods that the root does not lead to, as if they had not run.
    pub(crate) fn without_the_rest(mut self) -> Graph {
        let mut is_below = vec![false; self.methods.len()];
        self.root
            .into_iter()
            .chain(self.calls.iter().map(|call| call.to))
            .for_each(|at| is_below[at] = true);
        for (method, _) in self.methods.iter_mut().zip(is_below).filter(|(_, is_below)| !is_below) {
            method.executions = 0;
            method.total_ns = method.total_ns.map(|_| 0);
            method.self_ns = method.self_ns.map(|_| 0);
        }
        self
    }

    /// Returns `≤` if the number of calls of a method is an upper bound.
    pub fn calls_sign(&self, method: usize) -> &'static str {
        sign(&self.bounds.calls, method)
    }

    /// Returns `≤` if the time of a method is an upper bound.
    pub fn time_sign(&self, method: usize) -> &'static str {
        sign(&self.bounds.times, method)
    }

    /// Returns `≤` if the own time of a method, and the numbers of the calls that it makes, are
    /// upper bounds.
    pub fn own_sign(&self, method: usize) -> &'static str {
        sign(&self.bounds.own, method)
    }
}

fn sign(bounds: &[bool], method: usize) -> &'static str {
    if bounds.get(method) == Some(&true) { "≤" } else { "" }
}

/// Part of a method that lies within the calls of the root.
#[derive(Clone, Debug)]
struct Share {
    calls: u64,
    are_calls_most: bool,
    total_ns: u64,
    is_time_most: bool,
    /// True if all calls of the method are within the calls of the root.
    is_all: bool,
    /// True if the calling contexts contain its times and the calls that it makes.
    is_recorded: bool,
    /// Own time within the calls of the root, if it is known.
    self_ns: Option<u64>,
}

struct Below {
    /// Part of each method; `None` for methods that the root does not lead to.
    shares: Vec<Option<Share>>,
}

/// Calls of a method whose callers were not recorded.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    calls: u64,
    total_ns: u64,
}

impl Below {
    fn new(graph: &Graph, root: usize) -> Below {
        let count = graph.methods.len();
        let mut callers: Vec<Vec<&Call>> = vec![Vec::new(); count];
        let mut callees: Vec<Vec<usize>> = vec![Vec::new(); count];
        for call in &graph.calls {
            callers[call.to].push(call);
            callees[call.from].push(call.to);
        }
        let is_reached = reached(&callees, root);
        let lost = lost(graph, &callers);
        let is_all = only_from(graph, root, &callers, &callees, &is_reached, &lost);
        let whole = graph.total(root);
        let mut shares: Vec<Option<Share>> = (0..count)
            .map(|at| {
                is_reached[at].then(|| Share {
                    calls: graph.methods[at].executions,
                    are_calls_most: false,
                    total_ns: if is_all[at] { graph.total(at) } else { graph.total(at).min(whole) },
                    is_time_most: !is_all[at],
                    is_all: is_all[at],
                    is_recorded: false,
                    self_ns: None,
                })
            })
            .collect();
        // Callers come first, so that the bound of a caller also applies to its callees.
        for group in groups(count, &graph.calls).iter().rev() {
            // A call within another call of its method has no time of its own, and the outer call
            // may be above the root.
            let is_around_root = group.contains(&root);
            for &at in group.iter().filter(|&&at| is_reached[at] && !is_all[at]) {
                let ways: Vec<&Call> =
                    callers[at].iter().copied().filter(|call| is_reached[call.from]).collect();
                let calls = lost[at].calls + ways.iter().map(|call| call.count).sum::<u64>();
                let of_caller =
                    |call: &Call| shares[call.from].as_ref().map_or(0, |share| share.total_ns);
                let time = lost[at].total_ns
                    + ways.iter().map(|call| call.total_ns.min(of_caller(call))).sum::<u64>();
                let is_known = |way: &&Call| is_all[way.from];
                let are_all_known = lost[at].calls == 0;
                let Some(share) = &mut shares[at] else { continue };
                share.calls = share.calls.min(calls);
                share.are_calls_most =
                    !(are_all_known && ways.iter().filter(|way| way.count > 0).all(is_known));
                if !is_around_root {
                    share.total_ns = share.total_ns.min(time);
                    share.is_time_most = !(are_all_known
                        && ways.iter().filter(|way| way.total_ns > 0).all(is_known));
                }
            }
        }
        Below { shares }
    }
}

/// Exact numbers below a root, taken from the calling contexts.
struct Recorded {
    methods: Vec<Values>,
    /// Calls by caller and callee.
    calls: HashMap<(usize, usize), Edge>,
    has_times: bool,
}

impl Recorded {
    /// Returns `None` if there are no contexts, or if they lack calls that the graph has.
    fn new(graph: &Graph, root: usize) -> Option<Recorded> {
        let contexts = graph.contexts.as_ref().filter(|contexts| contexts.lost == 0)?;
        let all = contexts.all();
        let places: HashMap<&str, usize> =
            graph.methods.iter().map(|it| it.path.as_str()).zip(0..).collect();
        // Methods that share a path share their contexts, which cannot be divided between them.
        if places.len() < graph.methods.len() || all.iter().any(|context| context.values.cut > 0) {
            return None;
        }
        let place = |at: usize| places.get(all[at].name.as_str()).copied();
        let mut is_within = vec![false; all.len()];
        let mut whole = vec![0; graph.methods.len()];
        let has_times =
            graph.hooks.is_none() && all.iter().any(|context| context.values.total_ns > 0);
        let mut below = Recorded {
            methods: vec![Values::default(); whole.len()],
            calls: HashMap::new(),
            has_times,
        };
        for (at, context) in all.iter().enumerate().skip(1) {
            let around = context.parent.unwrap_or(0);
            is_within[at] = is_within[around] || place(at) == Some(root);
            let Some(method) = place(at) else { continue };
            whole[method] += context.values.calls;
            if !is_within[at] {
                continue;
            }
            // Time is counted once: the outer call of a method includes the time of its inner
            // calls.
            let outer = std::iter::successors(Some(around), |&at| all[at].parent)
                .take_while(|&at| is_within[at]);
            let is_outermost = outer.into_iter().all(|outer| place(outer) != Some(method));
            let total_ns = if is_outermost { context.values.total_ns } else { 0 };
            let values = &mut below.methods[method];
            values.calls += context.values.calls;
            values.self_ns += context.values.self_ns;
            values.total_ns += total_ns;
            if let Some(caller) = place(around).filter(|_| is_within[around]) {
                below.calls.entry((caller, method)).or_default().add(Edge {
                    count: context.values.calls,
                    total_ns,
                    is_least: false,
                });
            }
        }
        let is_complete =
            whole.iter().zip(&graph.methods).all(|(&calls, method)| calls == method.executions);
        (is_complete && whole[root] > 0).then_some(below)
    }

    /// Replaces the bounds by these exact numbers.
    fn replace(&self, graph: &mut Graph, below: &mut Below) {
        for (share, recorded) in below.shares.iter_mut().zip(&self.methods) {
            let Some(found) = share else { continue };
            (found.calls, found.are_calls_most) = (recorded.calls, false);
            if self.has_times && !found.is_all {
                found.total_ns = found.total_ns.min(recorded.total_ns);
                (found.is_time_most, found.is_recorded) = (false, true);
                found.self_ns = Some(recorded.self_ns);
            }
            if recorded.calls == 0 {
                *share = None;
            }
        }
        graph.calls.retain_mut(|call| {
            let Some(edge) = self.calls.get(&(call.from, call.to)) else { return false };
            call.count = edge.count;
            call.total_ns =
                if self.has_times { call.total_ns.min(edge.total_ns) } else { call.total_ns };
            true
        });
    }
}

/// Marks the methods that a method leads to, and the method itself.
fn reached(callees: &[Vec<usize>], root: usize) -> Vec<bool> {
    let mut is_reached = vec![false; callees.len()];
    is_reached[root] = true;
    let mut open = vec![root];
    while let Some(at) = open.pop() {
        for &callee in callees[at].iter() {
            if !std::mem::replace(&mut is_reached[callee], true) {
                open.push(callee);
            }
        }
    }
    is_reached
}

/// Computes the calls and the time of each method that its recorded callers do not explain.
fn lost(graph: &Graph, callers: &[Vec<&Call>]) -> Vec<Lost> {
    let mut known = vec![Lost::default(); callers.len()];
    let calls = callers.iter().flatten().map(|call| (call.to, call.count, call.total_ns));
    for (to, count, total_ns) in
        calls.chain(graph.entries.iter().map(|&(to, edge)| (to, edge.count, edge.total_ns)))
    {
        known[to].calls += count;
        known[to].total_ns += total_ns;
    }
    known
        .iter()
        .enumerate()
        .map(|(at, known)| match graph.methods[at].executions.saturating_sub(known.calls) {
            0 => Lost::default(),
            calls => Lost { calls, total_ns: graph.total(at).saturating_sub(known.total_ns) },
        })
        .collect()
}

/// Marks the methods all of whose calls are within the calls of the root.
fn only_from(
    graph: &Graph,
    root: usize,
    callers: &[Vec<&Call>],
    callees: &[Vec<usize>],
    is_reached: &[bool],
    lost: &[Lost],
) -> Vec<bool> {
    let mut is_all = is_reached.to_vec();
    let is_called_elsewhere = |at: usize| {
        lost[at].calls > 0
            || callers[at].iter().any(|call| call.count > 0 && !is_reached[call.from])
    };
    let entered = graph.entries.iter().filter(|(_, edge)| edge.count > 0).map(|&(at, _)| at);
    let elsewhere = (0..is_all.len()).filter(|&at| is_reached[at] && is_called_elsewhere(at));
    let mut open: Vec<usize> = entered.chain(elsewhere).collect();
    while let Some(at) = open.pop() {
        if at != root && std::mem::replace(&mut is_all[at], false) {
            open.extend(callees[at].iter().copied());
        }
    }
    is_all
}
