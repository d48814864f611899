//! Self and total time of each method, and of each pair of caller and callee: what the time profiler of *Spy: A flexible
//! code profiling framework* shows (`getTimeAndCallGraph`), from samples.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::profile::Profile;
use crate::symbols::FunctionId;

/// A method: a function of the source, inlined or not.
#[derive(Clone, Debug, Default)]
pub struct Method {
    /// The function.
    pub function: FunctionId,
    /// Samples in its own code.
    pub self_samples: u64,
    /// Samples while it was on the stack, counted once for each sample.
    pub total_samples: u64,
    /// Processor time in its own code, in ns.
    pub self_cpu_ns: u64,
    /// Processor time while it was on the stack, in ns.
    pub total_cpu_ns: u64,
    /// Its callers, the most frequent first. Samples without a caller began with it.
    pub callers: Vec<Edge>,
    /// The methods that it called, the most frequent first.
    pub callees: Vec<Edge>,
}

/// The other end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The method.
    pub function: FunctionId,
    /// Samples while the call was on the stack.
    pub samples: u64,
}

/// A pair of caller and callee.
#[derive(Default)]
struct Call {
    samples: u64,
    /// The stack that was counted last, plus one.
    counted_in: u32,
}

impl Profile {
    /// The methods with samples, the largest total time first.
    pub fn methods(&self) -> Vec<Method> {
        let new = |function| Method { function: function as FunctionId, ..Method::default() };
        let mut methods: Vec<Method> = (0..self.symbols.functions.len()).map(new).collect();
        // The stack that was counted last, plus one: a recursive method is on a stack once, however often it is there.
        let mut counted_in = vec![0; methods.len()];
        let mut calls: HashMap<(FunctionId, FunctionId), Call, RandomState> = HashMap::default();
        for (stack, (&count, &cpu_ns)) in (1_u32..).zip(self.counts.iter().zip(&self.cpu_ns)) {
            let mut callee = None;
            for function in self.methods_of(stack - 1) {
                let method = &mut methods[function as usize];
                if callee.is_none() {
                    method.self_samples += count;
                    method.self_cpu_ns += cpu_ns;
                }
                if std::mem::replace(&mut counted_in[function as usize], stack) != stack {
                    method.total_samples += count;
                    method.total_cpu_ns += cpu_ns;
                }
                if let Some(callee) = callee.filter(|&callee| callee != function) {
                    let call = calls.entry((function, callee)).or_default();
                    if std::mem::replace(&mut call.counted_in, stack) != stack {
                        call.samples += count;
                    }
                }
                callee = Some(function);
            }
        }
        for ((caller, callee), Call { samples, .. }) in calls {
            methods[callee as usize].callers.push(Edge { function: caller, samples });
            methods[caller as usize].callees.push(Edge { function: callee, samples });
        }
        methods.retain(|method| method.total_samples > 0);
        for method in &mut methods {
            for edges in [&mut method.callers, &mut method.callees] {
                edges.sort_by_key(|edge| (std::cmp::Reverse(edge.samples), edge.function));
            }
        }
        methods.sort_by_key(|method| {
            (std::cmp::Reverse(method.total_samples), std::cmp::Reverse(method.self_samples), method.function)
        });
        methods
    }
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
        let methods = profile.methods();
        let of = |name: &str| {
            let is = |method: &&Method| profile.symbols.functions[method.function as usize].name == name;
            methods.iter().find(is).expect("the method has samples")
        };
        assert_eq!((of("main").self_samples, of("main").total_samples), (0, 5));
        assert_eq!((of("fib").self_samples, of("fib").total_samples), (4, 4));
        assert_eq!(of("fib").callers, [Edge { function: of("main").function, samples: 4 }]);
        assert_eq!(of("main").callees.iter().map(|edge| edge.samples).collect::<Vec<_>>(), [4, 1]);
        assert!(methods.iter().all(|method| method.self_samples <= method.total_samples));
    }
}
