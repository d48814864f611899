//! Details of one function: the places of its samples, its callers, its callees, and the subjects
//! that it ran for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::EventId;

use super::Functions;

/// Details of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Its parts with samples, in the order of the source.
    pub ranges: Vec<Range>,
    /// Its callers, the most frequent first.
    pub callers: Vec<Called>,
    /// Its callees, the most frequent first.
    pub callees: Vec<Called>,
    /// The subjects that it ran for, the most frequent first.
    pub subjects: Vec<InSubject>,
    /// The innermost events around its samples, the most frequent first.
    pub events: Vec<(EventId, u64)>,
    /// Samples in no recorded event.
    pub outside: u64,
}

/// Neighbouring lines of a function, or positions of a code map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Which.
    pub span: Span,
    /// Samples in its own code there.
    pub self_samples: u64,
    /// Samples there, or in functions that were called there.
    pub total_samples: u64,
}

/// A part of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Span {
    /// Code without a line.
    NoLine,
    /// The first and the last line.
    Lines(u32, u32),
    /// A position of a code map.
    Position(u64),
}

/// The other end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// The function.
    pub function: u64,
    /// True if the callee was inlined at every call.
    pub is_inlined: bool,
    /// Samples while the call was on the stack.
    pub samples: u64,
}

/// Samples in the events of a subject at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InSubject {
    /// The site.
    pub site: SiteId,
    /// The subject.
    pub subject: Option<Subject>,
    /// Samples in the function's own code.
    pub self_samples: u64,
    /// Samples while the function was on the stack.
    pub total_samples: u64,
}

/// The samples of calls of a function, and true if all of them are inlined.
type Calls = HashMap<u64, (u64, bool)>;
/// Self and total samples.
type Both = (u64, u64);

impl Functions {
    /// Returns the details of a function. Every sample counts once, at the innermost frame of the
    /// function.
    pub fn details(&self, function: u64) -> Details {
        let mut spans: BTreeMap<Span, Both> = BTreeMap::new();
        let mut callers = Calls::new();
        let mut callees = Calls::new();
        let mut subjects = HashMap::new();
        let mut events = HashMap::new();
        let mut outside = 0;
        for leaf in 0..self.frames.len() {
            let samples = self.frames[leaf].samples;
            if samples == 0 {
                continue;
            }
            let Some((at, callee)) = self.innermost(leaf, function) else { continue };
            let frame = &self.frames[at];
            let own = if at == leaf { samples } else { 0 };
            let span = match (frame.position, frame.line) {
                (Some(position), _) => Span::Position(position),
                (None, 0) => Span::NoLine,
                (None, line) => Span::Lines(line, line),
            };
            add(&mut spans.entry(span).or_default().0, own);
            add(&mut spans.entry(span).or_default().1, samples);
            if let Some(callee) = callee.map(|callee| &self.frames[callee]) {
                count_call(&mut callees, callee.function, samples, callee.is_inlined);
            }
            if let Some(caller) = self.caller(at) {
                count_call(&mut callers, caller, samples, frame.is_inlined);
            }
            let mut within = 0;
            for event in &self.frames[leaf].events {
                add(&mut within, event.samples);
                let own = if at == leaf { event.samples } else { 0 };
                let both: &mut Both = subjects.entry((event.site, event.subject)).or_default();
                add(&mut both.0, own);
                add(&mut both.1, event.samples);
                if let Some(id) = event.event {
                    add(events.entry(id).or_insert(0), event.samples);
                }
            }
            add(&mut outside, samples.saturating_sub(within));
        }
        let subjects = sorted(subjects, |both: &Both| (both.1, both.0)).into_iter();
        let subjects = subjects.map(|((site, subject), (self_samples, total_samples))| InSubject {
            site,
            subject,
            self_samples,
            total_samples,
        });
        let called = |calls: Calls| {
            let calls = sorted(calls, |call| call.0).into_iter();
            calls
                .map(|(function, (samples, is_inlined))| Called { function, is_inlined, samples })
                .collect()
        };
        Details {
            ranges: ranges(spans),
            callers: called(callers),
            callees: called(callees),
            subjects: subjects.collect(),
            events: sorted(events, |samples| *samples),
            outside,
        }
    }

    /// The innermost frame of a function on the stack above a frame, and the frame that it called.
    fn innermost(&self, leaf: usize, function: u64) -> Option<(usize, Option<usize>)> {
        let mut at = leaf;
        let mut callee = None;
        while self.frames[at].function != function {
            (at, callee) = (self.frames[at].caller?, Some(at));
        }
        Some((at, callee))
    }

    /// The function that called a frame's, calls of itself left out.
    fn caller(&self, at: usize) -> Option<u64> {
        let function = self.frames[at].function;
        let callers = std::iter::successors(self.frames[at].caller, |&at| self.frames[at].caller);
        callers.map(|at| self.frames[at].function).find(|&caller| caller != function)
    }
}

/// Adds samples. A damaged recording may have any number of them.
pub(super) fn add(to: &mut u64, samples: u64) {
    *to = to.saturating_add(samples);
}

fn count_call(calls: &mut Calls, function: u64, samples: u64, is_inlined: bool) {
    let call = calls.entry(function).or_insert((0, true));
    add(&mut call.0, samples);
    call.1 &= is_inlined;
}

/// The entries of a map, the largest first.
fn sorted<K: Ord + Copy + Hash + Eq, V, O: Ord>(
    of: HashMap<K, V>,
    order: impl Fn(&V) -> O,
) -> Vec<(K, V)> {
    let mut all: Vec<(K, V)> = of.into_iter().collect();
    all.sort_by_key(|(key, value)| (Reverse(order(value)), *key));
    all
}

/// Ranges of lines: neighbours are one range.
fn ranges(spans: BTreeMap<Span, Both>) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    for (span, (self_samples, total_samples)) in spans {
        let joined = match (ranges.last().map(|range| range.span), span) {
            (Some(Span::Lines(first, last)), Span::Lines(line, _)) if line - last <= 1 => {
                Some(Span::Lines(first, line))
            }
            _ => None,
        };
        match (joined, ranges.last_mut()) {
            (Some(joined), Some(range)) => {
                range.span = joined;
                add(&mut range.self_samples, self_samples);
                add(&mut range.total_samples, total_samples);
            }
            _ => ranges.push(Range { span, self_samples, total_samples }),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Function};
    use super::*;
    use crate::cpu::Cpu;

    /// A stack, outermost first: functions with their lines. All samples are in the innermost
    /// frame.
    fn stack(functions: &mut Functions, frames: &[(u64, u32)], samples: u64) {
        let mut caller = None;
        for &(function, line) in frames {
            functions.frames.push(Frame { function, caller, line, ..Frame::default() });
            caller = Some(functions.frames.len() - 1);
        }
        functions.frames.last_mut().expect("a stack has frames").samples = samples;
    }

    #[test]
    fn a_circle_and_an_endless_stack_end() {
        let frame = |number: u64, caller: u64, samples| {
            (number, caller, Frame { function: number, samples, ..Frame::default() })
        };
        let mut functions = Functions::default();
        functions
            .link(vec![frame(1, 3, 1), frame(2, 1, 1), frame(3, 2, 1), frame(4, 4, 1)], Vec::new());
        let lengths = |functions: &Functions| {
            functions.stacks().map(|stack| stack.frames.len()).collect::<Vec<_>>()
        };
        assert_eq!(lengths(&functions), [3, 1, 2, 1]);
        let mut functions = Functions::default();
        let deepest = 2 * super::super::DEPTH_MAX as u64 + 1;
        functions.link(
            (1..=deepest).map(|at| frame(at, at - 1, u64::from(at == deepest))).collect(),
            Vec::new(),
        );
        assert_eq!(lengths(&functions), [1]);
    }

    #[test]
    fn a_sample_counts_once_at_the_innermost_call_of_a_function() {
        let mut functions =
            Functions { whole: Cpu { samples: 10, ns: 1_000 }, ..Functions::default() };
        functions.all =
            vec![Function { number: 2, self_samples: 10, self_ns: 1_000, ..Function::default() }];
        stack(&mut functions, &[(1, 5), (2, 20), (2, 21), (3, 90)], 4);
        stack(&mut functions, &[(1, 6), (2, 22)], 5);
        stack(&mut functions, &[(1, 6), (2, 40)], 1);
        let details = functions.details(2);
        let range = |first, last, own, total| Range {
            span: Span::Lines(first, last),
            self_samples: own,
            total_samples: total,
        };
        assert_eq!(details.ranges, [range(21, 22, 5, 9), range(40, 40, 1, 1)]);
        let call = |function, samples| Called { function, is_inlined: false, samples };
        assert_eq!((details.callers, details.callees), (vec![call(1, 10)], vec![call(3, 4)]));
        assert_eq!(
            (details.outside, functions.details(1).ranges.len(), functions.ns(5)),
            (10, 1, 500)
        );
    }

    #[test]
    fn frames_in_a_circle_end() {
        let mut functions = Functions::default();
        let frame =
            |caller| Frame { function: 1, caller: Some(caller), samples: 1, ..Frame::default() };
        functions.frames = vec![frame(1), frame(0)];
        functions.end_stacks();
        assert_eq!(functions.details(7), Details::default());
        assert_eq!(functions.details(1).outside, 2);
    }
}
