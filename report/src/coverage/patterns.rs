//! The five patterns that SPY reads off its coverage blueprint, as lists (*Spy: A flexible code
//! profiling framework*, section 5.2). Tests and closures show none, and a type without a known
//! definition is never absent.

use std::cmp::Reverse;

use metaspy_format::facts::SelfKind;

use crate::program::{Element, Method, Of, Program};
use crate::text::counted;

/// A pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// A type without a method that ran.
    Absent,
    /// A long method that never ran.
    LongUntested,
    /// A complex method that ran once, or on one object though it has receivers.
    MoreTests,
    /// A method that ran often, and on many objects.
    WellTested,
    /// A short method that ran very often.
    VeryWellTested,
}

/// A pattern with the types that show it.
#[derive(Debug)]
pub struct PatternExamples<'p> {
    /// The pattern.
    pub pattern: Pattern,
    /// The types.
    pub examples: Vec<Example<'p>>,
}

/// A type that shows a pattern.
#[derive(Debug)]
pub struct Example<'p> {
    /// The type.
    pub ty: &'p Element,
    /// The methods that show it.
    pub methods: Vec<&'p Element>,
}

/// The lines of a long method at least. It also belongs to the longest tenth.
pub const LONG: u32 = 10;
/// The cyclomatic complexity of a complex method at least.
pub(crate) const COMPLEX: u32 = 5;
/// The receivers and the executions of a well tested method at least.
pub(crate) const WELL: (u64, u64) = (10, 100);
/// The lines of a very well tested method at most, and its executions at least.
pub(crate) const VERY_WELL: (u32, u64) = (5, 10_000);

impl Pattern {
    /// All patterns, the worst first.
    pub const ALL: [Pattern; 5] = [
        Pattern::Absent,
        Pattern::LongUntested,
        Pattern::MoreTests,
        Pattern::WellTested,
        Pattern::VeryWellTested,
    ];

    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Pattern::Absent => "absent",
            Pattern::LongUntested => "long-untested",
            Pattern::MoreTests => "more-tests",
            Pattern::WellTested => "well-tested",
            Pattern::VeryWellTested => "very-well-tested",
        }
    }

    /// The title of a list of this many methods that show it.
    pub fn title_of(self, methods: usize) -> String {
        format!("{} ({})", self.title(), counted(methods as u64, "method"))
    }

    /// The title in text.
    pub fn title(self) -> &'static str {
        match self {
            Pattern::Absent => "absent: no method ran",
            Pattern::LongUntested => "long and untested: never ran, of the longest tenth",
            Pattern::MoreTests => "needs more tests: complex, and ran once or on one object only",
            Pattern::WellTested => {
                "well tested: on at least 10 receivers or places and at least 100 times"
            }
            Pattern::VeryWellTested => {
                "very well tested: well tested, at least 10,000 times, at most 5 lines"
            }
        }
    }
}

/// The types that show each pattern.
pub fn patterns(program: &Program) -> Vec<PatternExamples<'_>> {
    let long = long(program);
    let types = || {
        program
            .elements
            .iter()
            .enumerate()
            .filter(|(_, it)| matches!(it.of, Of::Type { .. } | Of::Functions))
    };
    let found = Pattern::ALL.map(|pattern| {
        let examples = types().filter_map(|(at, ty)| {
            let methods = program.methods_of(at);
            let methods: Vec<&Element> = match pattern {
                Pattern::Absent if ty.types == 1 && ty.covered_types == 0 => {
                    methods.filter(|(_, method)| method.is_counted()).map(|(it, _)| it).collect()
                }
                Pattern::Absent => Vec::new(),
                _ => methods
                    .filter(|(element, method)| {
                        is_judged(method) && shown_by(element, method, long) == Some(pattern)
                    })
                    .map(|(element, _)| element)
                    .collect(),
            };
            (!methods.is_empty()).then_some(Example { ty, methods })
        });
        let mut examples: Vec<Example<'_>> = examples.collect();
        // The type with the most lines is worth the most.
        examples.sort_by_key(|example| {
            Reverse(example.methods.iter().map(|method| method.lines).sum::<u64>())
        });
        PatternExamples { pattern, examples }
    });
    found.into()
}

/// The lines from which on a method is long.
fn long(program: &Program) -> u32 {
    let judged = program
        .methods()
        .filter_map(|element| element.method.as_deref())
        .filter(|method| is_judged(method));
    let mut lines: Vec<u32> = judged.map(Method::line_count).collect();
    lines.sort_unstable_by_key(|lines| Reverse(*lines));
    let tenth = lines.len().div_ceil(10).saturating_sub(1);
    lines.get(tenth).copied().unwrap_or(0).max(LONG)
}

fn is_judged(method: &Method) -> bool {
    method.is_counted() && !method.is_closure()
}

fn shown_by(element: &Element, method: &Method, long: u32) -> Option<Pattern> {
    let executions = element.measure.count;
    let receivers = element.receivers;
    let lines = method.line_count();
    if executions == 0 {
        return (lines >= long).then_some(Pattern::LongUntested);
    }
    if receivers.magnitude() >= WELL.0 && executions >= WELL.1 {
        let is_very = lines <= VERY_WELL.0 && executions >= VERY_WELL.1;
        return Some(if is_very { Pattern::VeryWellTested } else { Pattern::WellTested });
    }
    let has_receivers = method
        .facts
        .as_ref()
        .is_some_and(|facts| matches!(facts.self_kind, SelfKind::Ref | SelfKind::Mut));
    // A lower bound of one object does not show that there was only one.
    let on_one = has_receivers && receivers.count == 1 && !receivers.is_least;
    let is_complex = method.complexity().is_some_and(|complexity| complexity >= COMPLEX);
    ((executions == 1 || on_one) && is_complex).then_some(Pattern::MoreTests)
}

#[cfg(test)]
mod tests {
    use metaspy_reader::RecordedSite;

    use super::*;
    use crate::program::testing::{builder, woven};
    use crate::program::{Identity, Receivers};

    type Case = (&'static str, u32, u32, u64, Option<(u64, bool)>);

    fn check(all: &[Case], pattern: Pattern, expected: &[&str]) {
        let site = |&(name, lines, complexity, ..): &Case| RecordedSite {
            lines: (1, lines),
            ..woven("a", &format!("Scene::{name}"), &format!("type=Scene c={complexity} self=ref"))
        };
        let mut builder = builder(&all.iter().map(|case| (site(case), case.3)).collect::<Vec<_>>());
        for (name, .., receivers) in all {
            let method = Identity::new(&format!("a::Scene::{name}"), "src/lib.rs", 1);
            let receivers =
                receivers.map(|(count, is_least)| Receivers { count, is_least, places: 0 });
            builder.profile(&method).expect("the method is there").receivers = receivers;
        }
        let program = builder.build();
        let found = patterns(&program)
            .into_iter()
            .find(|found| found.pattern == pattern)
            .expect("all are there");
        let methods = found.examples.iter().flat_map(|example| &example.methods);
        let names: Vec<&str> = methods.map(|method| method.name.as_str()).collect();
        assert_eq!(names, expected, "{pattern:?}");
    }

    #[test]
    fn each_pattern_is_found_where_its_thresholds_are_met() {
        let all: [Case; 12] = [
            ("ran", 1, 1, 1, Some((1, false))),
            ("long", 10, 1, 0, None),
            ("short", 9, 9, 0, None),
            ("once", 5, 5, 1, Some((1, false))),
            ("on_one", 5, 5, 50, Some((1, false))),
            ("on_one_at_least", 5, 5, 50, Some((1, true))),
            ("simple", 5, 4, 1, Some((1, false))),
            ("on_two", 5, 5, 2, Some((2, false))),
            ("well", 6, 1, 10_000, Some((10, false))),
            ("well_too", 5, 1, 9_999, Some((10, true))),
            ("not_well", 5, 1, 100, Some((9, false))),
            ("very_well", 5, 1, 10_000, Some((10, false))),
        ];
        check(&all, Pattern::Absent, &[]);
        check(&all, Pattern::LongUntested, &["long"]);
        check(&all, Pattern::MoreTests, &["on_one", "once"]);
        check(&all, Pattern::WellTested, &["well", "well_too"]);
        check(&all, Pattern::VeryWellTested, &["very_well"]);
        check(&all[1..3], Pattern::Absent, &["long", "short"]);
    }

    #[test]
    fn only_the_longest_tenth_is_long() {
        const NAMES: [&str; 20] = [
            "f10", "f11", "f12", "f13", "f14", "f15", "f16", "f17", "f18", "f19", "f20", "f21",
            "f22", "f23", "f24", "f25", "f26", "f27", "f28", "f29",
        ];
        let all: Vec<Case> =
            (10..30).map(|lines| (NAMES[lines as usize - 10], lines, 1, 0, None)).collect();
        check(&all, Pattern::LongUntested, &["f28", "f29"]);
    }

    #[test]
    fn a_type_without_a_known_definition_is_never_absent() {
        let unresolved = woven("a", "X::get", "type=X unresolved c=1 self=ref");
        let program = builder(&[(unresolved, 0)]).build();
        assert!(patterns(&program).iter().all(|found| found.examples.is_empty()));
    }
}
