//! Removal of the cost of hooks from recorded times.

use crate::graph::recursion::groups;
use crate::graph::{Call, Graph, Method};

pub use metaspy_reader::HookCost;

impl Graph {
    /// Returns the cost of hooks that was measured while the times of calls were recorded.
    pub fn recorded_hooks(&self) -> Option<HookCost> {
        self.recorded_hooks.filter(|_| self.has_callers && !self.callers_are_causes)
    }

    /// Subtracts the cost of hooks from all times. No time falls below zero, and a caller keeps at
    /// least the time of its callees. [`Method::hooks_ns`] keeps the subtracted time.
    ///
    /// A method loses `within` for each of its calls, and `returned` if its hook sees returned
    /// values. It loses the rest of the hook's cost for each call that it makes. Its total is then
    /// its own time and its part of the totals of its callees.
    pub fn subtract_hooks(&mut self, cost: HookCost) {
        let mut calls_out = vec![0_u64; self.methods.len()];
        self.calls.iter().for_each(|call| calls_out[call.from] += call.count);
        let outside = (cost.whole_ns - cost.within_ns).max(0.0);
        let own: Vec<f64> = self
            .methods
            .iter()
            .zip(&calls_out)
            .map(|(method, &out)| {
                let returned = if method.shows_returned { cost.returned_ns } else { 0.0 };
                let hooks =
                    (cost.within_ns + returned) * method.executions as f64 + outside * out as f64;
                (method.self_ns.unwrap_or(0) as f64 - hooks).max(0.0)
            })
            .collect();
        let kept = kept_shares(&self.methods, &self.calls, &own);
        for ((method, own), &kept) in self.methods.iter_mut().zip(own).zip(&kept) {
            let Some(total) = method.total_ns else { continue };
            let own = method.self_ns.map(|_| own.round() as u64);
            // A share of the total that is exactly the own time may round to less.
            let less = ((total as f64 * kept).round() as u64).max(own.unwrap_or(0)).min(total);
            method.hooks_ns = total - less;
            method.total_ns = Some(less);
            method.self_ns = own;
        }
        for call in &mut self.calls {
            call.total_ns = (call.total_ns as f64 * kept[call.to]).round() as u64;
        }
        for (method, edge) in &mut self.entries {
            edge.total_ns = (edge.total_ns as f64 * kept[*method]).round() as u64;
        }
        self.hooks = Some(cost);
    }
}

/// Computes the share of each method's total that is left without hooks: its own time and its
/// calls. Methods that call each other have one share, because the calls between them have no time
/// of their own.
fn kept_shares(methods: &[Method], calls: &[Call], own: &[f64]) -> Vec<f64> {
    let groups = groups(methods.len(), calls);
    let mut group_of = vec![0; methods.len()];
    for (at, group) in groups.iter().enumerate() {
        group.iter().for_each(|&method| group_of[method] = at);
    }
    let mut out: Vec<Vec<&Call>> = vec![Vec::new(); groups.len()];
    for call in calls.iter().filter(|call| group_of[call.from] != group_of[call.to]) {
        out[group_of[call.from]].push(call);
    }
    let mut kept = vec![1.0; methods.len()];
    for (group, calls) in groups.iter().zip(&out) {
        let mut all: f64 =
            group.iter().map(|&method| methods[method].self_ns.unwrap_or(0) as f64).sum();
        let mut left: f64 = group.iter().map(|&method| own[method]).sum();
        for call in calls {
            all += call.total_ns as f64;
            left += call.total_ns as f64 * kept[call.to];
        }
        for &method in group {
            // The total of a method includes its own time.
            let least = own[method] / methods[method].total_ns.unwrap_or(0).max(1) as f64;
            kept[method] = if all > 0.0 { (left / all).max(least).clamp(0.0, 1.0) } else { 1.0 };
        }
    }
    kept
}
