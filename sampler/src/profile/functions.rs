//! Sections of samples by owner of the code, with the executed functions, their ranges of lines,
//! and the functions that were inlined there.
//!
//! These are the columns of *A detailed VM profiler for the Cog VM* (figure 7). A sample is counted
//! at the line of the executed function, and there again at each function that was inlined at its
//! address. So both questions have an answer: in which part of the function the time is spent, and
//! in whose code.
//!
//! Debug information alone gives only the innermost line, and with inlining most time is in code
//! whose line says nothing about the function that is slow.
//!
//! Inlined code of the standard library is its caller's own, although it is the innermost frame.
//! Most time of a loop is in `<u64>::lt`, and the program's functions, which its reader can change,
//! would have none.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use crate::profile::Profile;
use crate::symbols::{Category, Frame, FunctionId};

/// Functions of a single owner.
#[derive(Clone, Debug)]
pub struct Section {
    /// Owner of the code.
    pub category: Category,
    /// Samples in the owner's code.
    pub samples: u64,
    /// Functions of the owner, the most frequent first.
    pub functions: Vec<FunctionRow>,
}

/// Executed function, with all that was inlined into it.
#[derive(Clone, Debug)]
pub struct FunctionRow {
    /// Number of the function.
    pub function: FunctionId,
    /// Samples in the function's code.
    pub samples: u64,
    /// Ranges of the function, in the order of the source.
    pub ranges: Vec<RangeRow>,
}

/// Part of a function, with its samples.
#[derive(Clone, Debug)]
pub struct RangeRow {
    /// Lines or positions of the part.
    pub span: Span,
    /// Samples in the part.
    pub samples: u64,
    /// Samples of each line. Positions of code maps have none.
    pub lines: Vec<(u32, u64)>,
    /// Samples of functions that were inlined there, the most frequent first, but the standard
    /// library last. A sample counts once for each function around it.
    pub inlined: Vec<InlinedRow>,
}

/// Function that was inlined into a part of another function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlinedRow {
    /// Number of the function.
    pub function: FunctionId,
    /// Samples in the inlined function.
    pub samples: u64,
}

/// Part of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// Code without a line: the compiler made it, or there is no debug information.
    NoLine,
    /// First and last line, both included.
    Lines(u32, u32),
    /// Positions of a code map; the second is excluded, and `u64::MAX` is the end of the function.
    Positions(u64, u64),
}

/// Largest distance of lines that are joined to a range.
const NEAR: u32 = 1;

/// Samples of a function by part.
#[derive(Default)]
struct Parts {
    samples: u64,
    at: BTreeMap<Span, Part>,
}

/// Samples of a part, and of each function that was inlined there.
#[derive(Default)]
struct Part {
    samples: u64,
    inlined: HashMap<FunctionId, u64, RandomState>,
}

impl Profile {
    /// Returns the sections with samples, the most frequent first.
    pub fn sections(&self) -> Vec<Section> {
        let mut functions: HashMap<FunctionId, Parts, RandomState> = HashMap::default();
        for (stack, &count) in self.run.samples.stacks.iter().zip(&self.counts) {
            let Some(&address) = stack.frames.first() else { continue };
            let resolved = &self.symbols.addresses[address as usize];
            let Some(at) = self.executed(&resolved.frames) else { continue };
            let executed = &resolved.frames[at];
            let parts = functions.entry(executed.function).or_default();
            parts.samples += count;
            let span = match (resolved.range, executed.line) {
                (Some((from, to)), _) => Span::Positions(from, to),
                (None, 0) => Span::NoLine,
                (None, line) => Span::Lines(line, line),
            };
            let part = parts.at.entry(span).or_default();
            part.samples += count;
            let inlined = &resolved.frames[..at];
            for (depth, frame) in inlined.iter().enumerate() {
                let is_counted =
                    inlined[..depth].iter().any(|inner| inner.function == frame.function);
                if !is_counted {
                    *part.inlined.entry(frame.function).or_default() += count;
                }
            }
        }
        let mut sections: HashMap<Category, Section> = HashMap::new();
        for (function, parts) in functions {
            let category = self.category(function);
            let new = || Section { category, samples: 0, functions: Vec::new() };
            let section = sections.entry(category).or_insert_with(new);
            section.samples += parts.samples;
            section.functions.push(FunctionRow {
                function,
                samples: parts.samples,
                ranges: self.ranges(parts.at),
            });
        }
        let mut sections: Vec<Section> = sections.into_values().collect();
        for section in &mut sections {
            section.functions.sort_by_key(|row| (std::cmp::Reverse(row.samples), row.function));
        }
        sections.sort_by_key(|section| (std::cmp::Reverse(section.samples), section.category));
        sections
    }

    /// Returns the frame that a sample counts for.
    ///
    /// It is the executed function, unless that belongs to the standard library and has other code
    /// inlined into it, as the beginning of each thread does. Then it is the inlined function. An
    /// inlined hook is not a part of the function's code: it counts separately, as a called hook
    /// does.
    fn executed(&self, frames: &[Frame]) -> Option<usize> {
        let own = self.own(frames)?;
        let is_hook = |frame: &&Frame| self.category(frame.function) == Category::Metaspy;
        let hooks = frames[own..].iter().take_while(is_hook).count();
        if hooks > 0 {
            return Some(own + hooks - 1);
        }
        frames
            .iter()
            .rposition(|frame| !self.is_std(frame.function))
            .or(frames.len().checked_sub(1))
    }

    /// Returns the frame whose self time a sample is.
    ///
    /// It is the innermost frame, unless that is inlined code of the standard library. Such code is
    /// a part of the function around it: for the reader, an addition or the step of a loop is not a
    /// method.
    pub(crate) fn own(&self, frames: &[Frame]) -> Option<usize> {
        frames.iter().position(|frame| !self.is_std(frame.function)).or(frames.len().checked_sub(1))
    }

    fn category(&self, function: FunctionId) -> Category {
        self.symbols.functions[function as usize].category
    }

    fn is_std(&self, function: FunctionId) -> bool {
        self.category(function) == Category::Std
    }

    /// Joins neighbouring lines with samples to ranges.
    fn ranges(&self, at: BTreeMap<Span, Part>) -> Vec<RangeRow> {
        let mut rows: Vec<(RangeRow, HashMap<FunctionId, u64, RandomState>)> = Vec::new();
        for (span, Part { samples, inlined }) in at {
            match (rows.last_mut(), span) {
                (
                    Some((RangeRow { span: Span::Lines(_, last), samples: sum, lines, .. }, all)),
                    Span::Lines(line, _),
                ) if line - *last <= NEAR => {
                    *last = line;
                    *sum += samples;
                    lines.push((line, samples));
                    inlined
                        .into_iter()
                        .for_each(|(function, count)| *all.entry(function).or_default() += count);
                }
                _ => {
                    let lines = if let Span::Lines(line, _) = span {
                        vec![(line, samples)]
                    } else {
                        Vec::new()
                    };
                    rows.push((RangeRow { span, samples, lines, inlined: Vec::new() }, inlined));
                }
            }
        }
        rows.into_iter()
            .map(|(row, inlined)| {
                let row_of = |(function, samples)| InlinedRow { function, samples };
                let mut inlined: Vec<InlinedRow> = inlined.into_iter().map(row_of).collect();
                inlined.sort_by_key(|row| {
                    (self.is_std(row.function), std::cmp::Reverse(row.samples), row.function)
                });
                RangeRow { inlined, ..row }
            })
            .collect()
    }
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
        let spans: Vec<(Span, u64)> =
            outer.ranges.iter().map(|range| (range.span, range.samples)).collect();
        assert_eq!(spans, [(Span::Lines(10, 11), 9), (Span::Lines(20, 20), 1)]);
        assert_eq!(outer.ranges[0].lines, [(10, 6), (11, 3)]);
        let inner = outer.ranges[0].inlined[0];
        assert_eq!(
            (&*profile.symbols.functions[inner.function as usize].name, inner.samples),
            ("inner", 3)
        );
    }

    #[test]
    fn a_sample_counts_for_each_function_that_was_inlined_around_it_and_std_is_part_of_its_caller()
    {
        let profile = profile(&[
            Sampled { count: 7, stack: "main:4 [hot:2 std::lt:9]" },
            Sampled { count: 1, stack: "main:4 [hot:2]" },
            Sampled { count: 2, stack: "main:4 [cold:3 std::next:8 std::lt:9]" },
            Sampled { count: 5, stack: "main:4 > std::sort:1 [std::lt:9]" },
        ]);
        let name = |function: FunctionId| &*profile.symbols.functions[function as usize].name;
        let sections = profile.sections();
        let inlined = &sections[0].functions[0].ranges[0].inlined;
        let rows: Vec<(&str, u64)> =
            inlined.iter().map(|row| (name(row.function), row.samples)).collect();
        assert_eq!(rows, [("hot", 8), ("cold", 2), ("std::lt", 9), ("std::next", 2)]);
        let methods = profile.methods();
        let own: Vec<(&str, u64)> =
            methods.iter().map(|of| (name(of.function), of.self_samples)).collect();
        assert_eq!(
            own,
            [
                ("main", 0),
                ("std::lt", 0),
                ("hot", 8),
                ("std::sort", 5),
                ("cold", 2),
                ("std::next", 0)
            ]
        );
    }

    #[test]
    fn a_hook_belongs_to_metaspy_and_what_it_runs_to_the_program() {
        let profile = profile(&[
            Sampled { count: 3, stack: "main:4 [std::drop:2 metaspy_woven::leave:9 std::lt:9]" },
            Sampled { count: 2, stack: "main:4 [metaspy::observe:2 body:9]" },
        ]);
        let of = |category| {
            let sections = profile.sections();
            let section = sections
                .into_iter()
                .find(|section| section.category == category)
                .expect("it has samples");
            let row = &section.functions[0];
            (profile.symbols.functions[row.function as usize].name.clone(), row.samples)
        };
        assert_eq!(of(Category::Metaspy), ("metaspy_woven::leave".to_owned(), 3));
        assert_eq!(of(Category::User), ("main".to_owned(), 2));
    }
}
