//! Samples by source line of a function, in its own code or in its callees.

use std::collections::{BTreeMap, HashMap};

use crate::profile::Profile;
use crate::symbols::FunctionId;

impl Profile {
    /// Counts the samples by line for each function, inlined or not.
    ///
    /// A sample counts once for a function, at its innermost call. Code without a line is not
    /// counted.
    pub fn lines(&self) -> HashMap<FunctionId, BTreeMap<u32, u64>> {
        let mut lines: HashMap<FunctionId, BTreeMap<u32, u64>> = HashMap::new();
        let mut seen = Vec::new();
        for (stack, &count) in self.run.samples.stacks.iter().zip(&self.counts) {
            seen.clear();
            let frames =
                stack.frames.iter().flat_map(|&at| &self.symbols.addresses[at as usize].frames);
            for frame in frames {
                if !seen.contains(&frame.function) {
                    seen.push(frame.function);
                    if frame.line > 0 {
                        *lines.entry(frame.function).or_default().entry(frame.line).or_default() +=
                            count;
                    }
                }
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sampled, profile};

    #[test]
    fn a_recursive_function_counts_once_at_the_line_of_its_innermost_call() {
        let profile = profile(&[
            Sampled { count: 3, stack: "main:1 > f:10 > f:11 [inner:99]" },
            Sampled { count: 2, stack: "main:2 > f:10" },
        ]);
        let lines = profile.lines();
        let of = |name: &str| {
            let function = profile
                .symbols
                .functions
                .iter()
                .position(|of| of.name == name)
                .expect("it is there");
            lines[&(function as u32)]
                .iter()
                .map(|(&line, &samples)| (line, samples))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            (of("main"), of("f"), of("inner")),
            (vec![(1, 3), (2, 2)], vec![(10, 2), (11, 3)], vec![(99, 3)])
        );
    }
}
