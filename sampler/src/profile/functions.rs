//! Where the processor was: sections by owner of the code, functions as the machine executes them, and in each function
//! ranges of lines with the functions that were inlined there.
//!
//! These are the columns of *A detailed VM profiler for the Cog VM* (figure 7). A sample is counted at the line of the
//! executed function, and there again at the innermost function that was inlined at its address. So both questions have
//! an answer: in which part of the function the time is spent, and in whose code.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use crate::profile::Profile;
use crate::symbols::{Category, Frame, FunctionId};

/// The functions of one owner.
#[derive(Clone, Debug)]
pub struct Section {
    /// The owner.
    pub category: Category,
    /// Samples in its code.
    pub samples: u64,
    /// Its functions, the most frequent first.
    pub functions: Vec<FunctionRow>,
}

/// A function as the machine executes it, with all that was inlined into it.
#[derive(Clone, Debug)]
pub struct FunctionRow {
    /// The function.
    pub function: FunctionId,
    /// Samples in its code.
    pub samples: u64,
    /// Its ranges, in the order of the source.
    pub ranges: Vec<RangeRow>,
}

/// A part of a function.
#[derive(Clone, Debug)]
pub struct RangeRow {
    /// Which part.
    pub span: Span,
    /// Samples in it.
    pub samples: u64,
    /// Samples of each line. Positions of code maps have none.
    pub lines: Vec<(u32, u64)>,
    /// Samples of functions that were inlined there, the most frequent first.
    pub inlined: Vec<InlinedRow>,
}

/// A function that was inlined into a part of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlinedRow {
    /// The function.
    pub function: FunctionId,
    /// Samples in it.
    pub samples: u64,
}

/// A part of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// Code without a line: the compiler made it, or there is no debug information.
    NoLine,
    /// Lines, first and last.
    Lines(u32, u32),
    /// Positions of a code map, from one to before the next; `u64::MAX` is the end of the function.
    Positions(u64, u64),
}

/// Lines that are nearer than this are in one range.
const NEAR: u32 = 1;

/// The samples of a function by the part that they are in, and there by the innermost inlined function.
#[derive(Default)]
struct Parts {
    samples: u64,
    at: BTreeMap<Span, HashMap<Option<FunctionId>, u64, RandomState>>,
}

impl Profile {
    /// The sections with samples, the most frequent first.
    pub fn sections(&self) -> Vec<Section> {
        let mut functions: HashMap<FunctionId, Parts, RandomState> = HashMap::default();
        for (stack, &count) in self.run.samples.stacks.iter().zip(&self.counts) {
            let Some(&address) = stack.frames.first() else { continue };
            let resolved = &self.symbols.addresses[address as usize];
            let (Some(at), Some(innermost)) = (self.executed(&resolved.frames), resolved.frames.first()) else {
                continue;
            };
            let executed = &resolved.frames[at];
            let parts = functions.entry(executed.function).or_default();
            parts.samples += count;
            let span = match (resolved.range, executed.line) {
                (Some((from, to)), _) => Span::Positions(from, to),
                (None, 0) => Span::NoLine,
                (None, line) => Span::Lines(line, line),
            };
            let inlined = (at > 0).then_some(innermost.function);
            *parts.at.entry(span).or_default().entry(inlined).or_default() += count;
        }
        let mut sections: HashMap<Category, Section> = HashMap::new();
        for (function, parts) in functions {
            let category = self.symbols.functions[function as usize].category;
            let new = || Section { category, samples: 0, functions: Vec::new() };
            let section = sections.entry(category).or_insert_with(new);
            section.samples += parts.samples;
            section.functions.push(FunctionRow { function, samples: parts.samples, ranges: ranges(parts.at) });
        }
        let mut sections: Vec<Section> = sections.into_values().collect();
        for section in &mut sections {
            section.functions.sort_by_key(|row| (std::cmp::Reverse(row.samples), row.function));
        }
        sections.sort_by_key(|section| (std::cmp::Reverse(section.samples), section.category));
        sections
    }
}

impl Profile {
    /// The frame that a sample counts for: the function that the machine executes, unless that is one of the standard
    /// library with another one's code inlined into it, as the beginning of each thread is. Then it is that other one.
    fn executed(&self, frames: &[Frame]) -> Option<usize> {
        let is_others = |frame: &Frame| self.symbols.functions[frame.function as usize].category != Category::Std;
        frames.iter().rposition(is_others).or(frames.len().checked_sub(1))
    }
}

/// Ranges of the lines that have samples: neighbours are one range.
fn ranges(at: BTreeMap<Span, HashMap<Option<FunctionId>, u64, RandomState>>) -> Vec<RangeRow> {
    let mut rows: Vec<(RangeRow, HashMap<FunctionId, u64>)> = Vec::new();
    for (span, counts) in at {
        let samples = counts.values().sum();
        let inlined = counts.into_iter().filter_map(|(function, count)| Some((function?, count)));
        match (rows.last_mut(), span) {
            (Some((RangeRow { span: Span::Lines(_, last), samples: sum, lines, .. }, all)), Span::Lines(line, _))
                if line - *last <= NEAR =>
            {
                *last = line;
                *sum += samples;
                lines.push((line, samples));
                inlined.for_each(|(function, count)| *all.entry(function).or_default() += count);
            }
            _ => {
                let lines = if let Span::Lines(line, _) = span { vec![(line, samples)] } else { Vec::new() };
                rows.push((RangeRow { span, samples, lines, inlined: Vec::new() }, inlined.collect()));
            }
        }
    }
    let finish = |(row, inlined): (RangeRow, HashMap<FunctionId, u64>)| {
        let row_of = |(function, samples)| InlinedRow { function, samples };
        let mut inlined: Vec<InlinedRow> = inlined.into_iter().map(row_of).collect();
        inlined.sort_by_key(|row| (std::cmp::Reverse(row.samples), row.function));
        RangeRow { inlined, ..row }
    };
    rows.into_iter().map(finish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sampled, profile};

    #[test]
    fn a_function_is_split_by_its_lines_and_by_what_was_inlined_there() {
        // Lines 10 and 11 are neighbours; 20 is apart. `inner` was inlined at line 11.
        let profile = profile(&[
            Sampled { count: 6, stack: "main:1 > outer:10" },
            Sampled { count: 3, stack: "main:1 > outer:11 [inner:99]" },
            Sampled { count: 1, stack: "main:1 > outer:20" },
        ]);
        let sections = profile.sections();
        let [section] = &sections[..] else { panic!("{sections:?}") };
        let [outer] = &section.functions[..] else { panic!("{section:?}") };
        assert_eq!((section.samples, outer.samples), (10, 10));
        let spans: Vec<(Span, u64)> = outer.ranges.iter().map(|range| (range.span, range.samples)).collect();
        assert_eq!(spans, [(Span::Lines(10, 11), 9), (Span::Lines(20, 20), 1)]);
        assert_eq!(outer.ranges[0].lines, [(10, 6), (11, 3)]);
        let inner = outer.ranges[0].inlined[0];
        assert_eq!((&*profile.symbols.functions[inner.function as usize].name, inner.samples), ("inner", 3));
    }
}
