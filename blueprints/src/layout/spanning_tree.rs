//! Tree cut out of a call graph: each method appears once, below the caller that leads to it with
//! most time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::graph::Graph;

/// Tree of methods.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Root of the graph or its only entry, or `None` for "(program)" above all entries.
    pub root: Option<usize>,
    /// Caller of each method in the tree. `Some(None)` is the root or is below "(program)"; `None`
    /// is not in the tree.
    pub caller: Vec<Option<Option<usize>>>,
    /// Callees of each method in the tree, in descending order of time.
    pub callees: Vec<Vec<usize>>,
    /// Methods directly below "(program)", or the root.
    pub tops: Vec<usize>,
    /// Time of the root, in nanoseconds.
    pub total_ns: u64,
}

/// Call that leads out of the tree, in order of preference: time, number of calls, the callee with
/// the first path, and its caller.
type Way = (u64, u64, Reverse<usize>, Option<usize>);

/// Builds the tree of everything that ran, or of the methods that the root of the graph leads to.
pub(crate) fn spanning_tree(graph: &Graph) -> Tree {
    let count = graph.methods.len();
    let mut calls: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, call) in graph.calls.iter().enumerate().filter(|(_, call)| call.from != call.to) {
        calls[call.from].push(at);
    }
    let entries = entries(graph, graph.root);
    let time: u64 = entries.iter().map(|&(_, ns, _)| ns).sum();
    let root = match entries[..] {
        [(only, ..)] => Some(only),
        _ => None,
    };
    let mut tree = Tree {
        root,
        caller: vec![None; count],
        callees: vec![Vec::new(); count],
        tops: Vec::new(),
        total_ns: root.map_or(time, |root| graph.total(root)),
    };
    let mut ways: BinaryHeap<Way> = BinaryHeap::new();
    match root {
        Some(root) => ways.push((u64::MAX, u64::MAX, Reverse(root), None)),
        None => ways
            .extend(entries.iter().map(|&(method, ns, count)| (ns, count, Reverse(method), None))),
    }
    while let Some((_, _, Reverse(method), caller)) = ways.pop() {
        if tree.caller[method].is_some() {
            continue;
        }
        tree.caller[method] = Some(caller);
        match caller {
            Some(caller) => tree.callees[caller].push(method),
            None => tree.tops.push(method),
        }
        let out = calls[method]
            .iter()
            .map(|&at| &graph.calls[at])
            .filter(|call| tree.caller[call.to].is_none());
        ways.extend(out.map(|call| (call.total_ns, call.count, Reverse(call.to), Some(method))));
    }
    let heaviest_first = |methods: &mut Vec<usize>| {
        methods.sort_by_key(|&method| {
            (Reverse(graph.total(method)), Reverse(graph.methods[method].executions), method)
        });
    };
    tree.callees.iter_mut().for_each(heaviest_first);
    heaviest_first(&mut tree.tops);
    tree
}

/// Builds the same tree by depth: each method appears below the caller nearest to the top.
pub(crate) fn breadth_first(graph: &Graph, from: Option<usize>) -> Tree {
    let count = graph.methods.len();
    let mut calls: Vec<Vec<usize>> = vec![Vec::new(); count];
    graph.calls.iter().for_each(|call| calls[call.from].push(call.to));
    let mut tops: Vec<usize> =
        entries(graph, from).into_iter().map(|(method, ..)| method).collect();
    tops.sort_unstable();
    tops.dedup();
    let root = from.or(match tops[..] {
        [only] => Some(only),
        _ => None,
    });
    let mut tree = Tree {
        root,
        caller: vec![None; count],
        callees: vec![Vec::new(); count],
        tops,
        total_ns: 0,
    };
    tree.tops.iter().for_each(|&top| tree.caller[top] = Some(None));
    let mut open: VecDeque<usize> = tree.tops.iter().copied().collect();
    while let Some(method) = open.pop_front() {
        for &callee in &calls[method] {
            if tree.caller[callee].is_none() {
                tree.caller[callee] = Some(Some(method));
                tree.callees[method].push(callee);
                open.push_back(callee);
            }
        }
    }
    tree
}

/// Returns the methods that code without hooks calls, each with the time and the number of these
/// calls.
fn entries(graph: &Graph, from: Option<usize>) -> Vec<(usize, u64, u64)> {
    if let Some(from) = from {
        return vec![(from, graph.total(from), graph.methods[from].executions)];
    }
    let mut entries: Vec<(usize, u64, u64)> =
        graph.entries.iter().map(|&(method, edge)| (method, edge.total_ns, edge.count)).collect();
    let mut callees: Vec<Vec<usize>> = vec![Vec::new(); graph.methods.len()];
    let mut is_called = vec![false; graph.methods.len()];
    for call in graph.calls.iter().filter(|call| call.from != call.to) {
        callees[call.from].push(call.to);
        is_called[call.to] = true;
    }
    let mut is_reached = vec![false; graph.methods.len()];
    let mut reach = |from: usize| {
        let is_new = !is_reached[from];
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut is_reached[at], true) {
                open.extend(&callees[at]);
            }
        }
        is_new
    };
    graph.entries.iter().for_each(|&(method, _)| _ = reach(method));
    // A method whose caller was not recorded still belongs in the tree.
    let mut ran: Vec<usize> = graph.ran().collect();
    ran.sort_by_key(|&method| (is_called[method], Reverse(graph.total(method)), method));
    let lost = ran.into_iter().filter(|&method| reach(method));
    entries
        .extend(lost.map(|method| (method, graph.total(method), graph.methods[method].executions)));
    entries
}
