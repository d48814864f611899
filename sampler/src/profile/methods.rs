//! Self and total time of each method, and of each pair of caller and callee.
//!
//! This is the result of the time profiler of *Spy: A flexible code profiling framework*
//! (`getTimeAndCallGraph`), computed from samples.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::profile::Profile;
use crate::symbols::FunctionId;

/// Function of the source, inlined or not, with its time and its calls.
#[derive(Clone, Debug, Default)]
pub struct Method {
    /// Number of the function in [`Symbols::functions`](crate::symbols::Symbols::functions).
    pub function: FunctionId,
    /// Samples in the method's own code, and in code of the standard library that was inlined
    /// there.
    pub self_samples: u64,
    /// Samples with the method on the stack, each counted once.
    pub total_samples: u64,
    /// Processor time in the method's own code, in ns.
    pub self_cpu_ns: u64,
    /// Processor time with the method on the stack, in ns.
    pub total_cpu_ns: u64,
    /// Callers of the method, the most frequent first. Samples without a caller began with the
    /// method.
    pub callers: Vec<Edge>,
    /// Callees of the method, the most frequent first.
    pub callees: Vec<Edge>,
}

/// Caller or callee of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Number of the other function.
    pub function: FunctionId,
    /// Samples with the call on the stack.
    pub samples: u64,
}

/// Samples of a pair of caller and callee.
#[derive(Default)]
struct Call {
    samples: u64,
    /// Number of the last counted stack, plus one; 0 for none.
    counted_in: u32,
}

impl Profile {
    /// Returns the methods with samples, the largest total time first, without their callers and
    /// callees.
    pub fn methods(&self) -> Vec<Method> {
        in_order(self.counted_methods())
    }

    /// Returns the methods with samples, the largest total time first, with their callers and
    /// callees.
    pub fn methods_and_calls(&self) -> Vec<Method> {
        let mut methods = self.counted_methods();
        for ((caller, callee), Call { samples, .. }) in self.calls() {
            methods[callee as usize].callers.push(Edge { function: caller, samples });
            methods[caller as usize].callees.push(Edge { function: callee, samples });
        }
        for method in &mut methods {
            for edges in [&mut method.callers, &mut method.callees] {
                edges.sort_by_key(|edge| (std::cmp::Reverse(edge.samples), edge.function));
            }
        }
        in_order(methods)
    }

    /// Returns a method for each function, with its samples.
    fn counted_methods(&self) -> Vec<Method> {
        let mut methods: Vec<Method> = (0..self.symbols.functions.len())
            .map(|function| Method { function: function as FunctionId, ..Method::default() })
            .collect();
        // This is the last counted stack, plus one. A recursive method counts once for a stack,
        // however often it is there.
        let mut counted_in = vec![0; methods.len()];
        for (stack, (&count, &cpu_ns)) in (1_u32..).zip(self.counts.iter().zip(&self.cpu_ns)) {
            let innermost = self.run.samples.stacks[stack as usize - 1].frames.first();
            let own =
                innermost.and_then(|&at| self.own(&self.symbols.addresses[at as usize].frames));
            for (depth, function) in self.methods_of(stack - 1).enumerate() {
                let is_first =
                    std::mem::replace(&mut counted_in[function as usize], stack) != stack;
                let method = &mut methods[function as usize];
                if own == Some(depth) {
                    method.self_samples += count;
                    method.self_cpu_ns += cpu_ns;
                }
                if is_first {
                    method.total_samples += count;
                    method.total_cpu_ns += cpu_ns;
                }
            }
        }
        methods
    }

    /// Counts the samples of each pair of caller and callee.
    fn calls(&self) -> HashMap<(FunctionId, FunctionId), Call, RandomState> {
        let mut calls: HashMap<_, Call, RandomState> = HashMap::default();
        for (stack, &count) in (1_u32..).zip(&self.counts) {
            let callers = self.methods_of(stack - 1).skip(1);
            for (callee, caller) in
                self.methods_of(stack - 1).zip(callers).filter(|(callee, caller)| callee != caller)
            {
                let call = calls.entry((caller, callee)).or_default();
                if std::mem::replace(&mut call.counted_in, stack) != stack {
                    call.samples += count;
                }
            }
        }
        calls
    }
}

/// Removes methods without samples, and sorts the rest by total time, the largest first.
fn in_order(mut methods: Vec<Method>) -> Vec<Method> {
    methods.retain(|method| method.total_samples > 0);
    methods.sort_by_key(|method| {
        (
            std::cmp::Reverse(method.total_samples),
            std::cmp::Reverse(method.self_samples),
            method.function,
        )
    });
    methods
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sampled, profile};

    #[test]
    fn a_recursive_method_is_counted_once_for_each_sample() {
        let profile = profile(&[
            Sampled { count: 4, stack: "main:1 > fib:5 > fib:5 > fib:6" },
            Sampled { count: 1, stack: "main:2 > print:9" },
        ]);
        let methods = profile.methods_and_calls();
        let of = |name: &str| {
            let is =
                |method: &&Method| profile.symbols.functions[method.function as usize].name == name;
            methods.iter().find(is).expect("the method has samples")
        };
        assert_eq!((of("main").self_samples, of("main").total_samples), (0, 5));
        assert_eq!((of("fib").self_samples, of("fib").total_samples), (4, 4));
        assert_eq!(of("fib").callers, [Edge { function: of("main").function, samples: 4 }]);
        assert_eq!(of("main").callees.iter().map(|edge| edge.samples).collect::<Vec<_>>(), [4, 1]);
        assert!(methods.iter().all(|method| method.self_samples <= method.total_samples));
        let without_calls = profile.methods();
        assert!(
            without_calls
                .iter()
                .all(|method| method.callers.is_empty() && method.callees.is_empty())
        );
        let totals = |methods: &[Method]| {
            methods.iter().map(|it| (it.function, it.total_samples)).collect::<Vec<_>>()
        };
        assert_eq!(totals(&without_calls), totals(&methods));
    }
}
