//! The five patterns that SPY reads off its coverage blueprint, as lists (*Spy: A flexible code profiling framework*,
//! section 5.2). Tests and closures show none.

use std::cmp::Reverse;

use metaspy_weave::source::SelfKind;

use crate::cargo_metaspy::results::{Ran, Type};

/// A pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// A type none of whose methods ran.
    Absent,
    /// A long method that never ran.
    LongUntested,
    /// A method that is not simple and ran once, or on one object though it has receivers.
    MoreTests,
    /// A method that ran often, and on many objects.
    WellTested,
    /// A short one that ran very often.
    VeryWellTested,
}

/// Where a pattern was found.
#[derive(Debug)]
pub struct Found<'r, 't> {
    /// The pattern.
    pub pattern: Pattern,
    /// The types that show it.
    pub examples: Vec<Example<'r, 't>>,
}

/// A type that shows a pattern.
#[derive(Debug)]
pub struct Example<'r, 't> {
    /// The type.
    pub ty: &'t Type<'r>,
    /// The methods that show it.
    pub methods: Vec<&'r Ran>,
}

/// A method is long if it is one of the longest tenth, and has as many lines as this.
pub const LONG: u32 = 10;
/// A method is not simple if it is as complex as this.
pub const COMPLEX: u32 = 5;
/// It is well tested if it ran on as many objects, and as often.
pub const WELL: (u64, u64) = (10, 100);
/// It is very well tested if it has no more lines, and ran as often.
pub const VERY_WELL: (u32, u64) = (5, 10_000);

impl Pattern {
    /// All of them, the worst first.
    pub const ALL: [Pattern; 5] =
        [Pattern::Absent, Pattern::LongUntested, Pattern::MoreTests, Pattern::WellTested, Pattern::VeryWellTested];

    /// For programs.
    pub fn word(self) -> &'static str {
        match self {
            Pattern::Absent => "absent",
            Pattern::LongUntested => "long-untested",
            Pattern::MoreTests => "more-tests",
            Pattern::WellTested => "well-tested",
            Pattern::VeryWellTested => "very-well-tested",
        }
    }

    /// For people.
    pub fn meaning(self) -> &'static str {
        match self {
            Pattern::Absent => "absent: nothing of it ran",
            Pattern::LongUntested => "long and untested: never ran, of the longest tenth",
            Pattern::MoreTests => "more tests wanted: not simple, and ran once or on one object only",
            Pattern::WellTested => "well tested: on 10 objects and 100 times at least",
            Pattern::VeryWellTested => "very well tested: that, 10,000 times, at 5 lines at most",
        }
    }
}

/// Where each pattern is found.
pub fn patterns<'r, 't>(types: &[&'t Type<'r>]) -> Vec<Found<'r, 't>> {
    let long = long(types);
    let found = Pattern::ALL.map(|pattern| {
        let shows = |ran: &&&'r Ran| is_judged(ran) && shown_by(ran, long) == Some(pattern);
        let examples = types.iter().filter_map(|ty| {
            let methods: Vec<&'r Ran> = match pattern {
                Pattern::Absent => is_absent(ty).then(|| ty.methods.clone())?,
                _ => ty.methods.iter().filter(shows).copied().collect(),
            };
            (!methods.is_empty()).then_some(Example { ty, methods })
        });
        let mut examples: Vec<Example<'r, 't>> = examples.collect();
        // What is worth most is where most of it stands.
        examples.sort_by_key(|example| Reverse(example.methods.iter().map(|ran| ran.method.lines).sum::<u32>()));
        Found { pattern, examples }
    });
    found.into()
}

/// Free functions are no type.
fn is_absent(ty: &Type<'_>) -> bool {
    let ratio = ty.ratio();
    ratio.types == 1 && ratio.covered == 0
}

/// From how many lines on a method is long.
fn long(types: &[&Type<'_>]) -> u32 {
    let judged = types.iter().flat_map(|ty| &ty.methods).filter(|ran| is_judged(ran));
    let mut lines: Vec<u32> = judged.map(|ran| ran.method.lines).collect();
    lines.sort_unstable_by_key(|lines| Reverse(*lines));
    let tenth = lines.len().div_ceil(10).saturating_sub(1);
    lines.get(tenth).copied().unwrap_or(0).max(LONG)
}

fn is_judged(ran: &Ran) -> bool {
    !ran.method.is_test && !ran.method.is_closure
}

fn shown_by(ran: &Ran, long: u32) -> Option<Pattern> {
    let Ran { method, count, told, .. } = ran;
    let receivers = told.receivers.unwrap_or(0);
    let has_receivers = matches!(method.receiver, SelfKind::Ref | SelfKind::Mut);
    if *count == 0 {
        return (method.lines >= long).then_some(Pattern::LongUntested);
    }
    if receivers >= WELL.0 && *count >= WELL.1 {
        let is_very = method.lines <= VERY_WELL.0 && *count >= VERY_WELL.1;
        return Some(if is_very { Pattern::VeryWellTested } else { Pattern::WellTested });
    }
    let few = *count == 1 || has_receivers && told.receivers == Some(1);
    (few && method.complexity >= COMPLEX).then_some(Pattern::MoreTests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_metaspy::results::packages;
    use crate::cargo_metaspy::results::tests::ran;

    fn method(name: &str, lines: u32, complexity: u32, count: u64, receivers: Option<u64>) -> Ran {
        let mut ran = ran("a", "Scene", name, count);
        (ran.method.lines, ran.method.complexity) = (lines, complexity);
        ran.method.receiver = SelfKind::Ref;
        ran.told.receivers = receivers;
        ran
    }

    fn check(all: &[Ran], pattern: Pattern, expected: &[&str]) {
        let packages = packages(all);
        let types: Vec<&Type<'_>> = packages.iter().flat_map(|package| package.all_types()).collect();
        let found = patterns(&types).into_iter().find(|found| found.pattern == pattern).expect("all are there");
        let methods = found.examples.iter().flat_map(|example| &example.methods);
        let names: Vec<&str> = methods.map(|ran| ran.method.path.rsplit("::").next().unwrap_or_default()).collect();
        assert_eq!(names, expected, "{pattern:?}");
    }

    #[test]
    fn each_pattern_is_found_where_its_thresholds_are_met() {
        let all = [
            method("ran", 1, 1, 1, Some(1)),
            method("long", 10, 1, 0, None),
            method("short", 9, 9, 0, None),
            method("once", 5, 5, 1, Some(1)),
            method("on_one", 5, 5, 50, Some(1)),
            method("simple", 5, 4, 1, Some(1)),
            method("on_two", 5, 5, 2, Some(2)),
            method("well", 6, 1, 10_000, Some(10)),
            method("well_too", 5, 1, 9_999, Some(10)),
            method("not_well", 5, 1, 100, Some(9)),
            method("very_well", 5, 1, 10_000, Some(10)),
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
        let mut all: Vec<Ran> = (10..30).map(|lines| method(&format!("f{lines}"), lines, 1, 0, None)).collect();
        check(&all, Pattern::LongUntested, &["f28", "f29"]);
        all[19].method.is_test = true;
        check(&all, Pattern::LongUntested, &["f27", "f28"]);
    }
}
