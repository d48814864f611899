//! The advice to leave out short functions: where they have most of the calls, hooks take most of
//! the time.

use metaspy_report::program::Program;
use metaspy_report::text::grouped;

/// The lines of a short function, at most.
const LINES: u32 = 5;
/// Calls below which no advice is worth a line.
const MANY: u64 = 1_000_000;

/// The advice for a run whose calls were timed or placed in contexts; `None` if most calls are of
/// longer functions, or if no call would be left.
pub fn advice(program: &Program) -> Option<String> {
    let mut short = 0_u64;
    let mut all = 0_u64;
    for element in program.methods() {
        let is_short = element.method.as_ref().is_some_and(|method| {
            let (first, last) = method.site.lines;
            last.saturating_sub(first) < LINES
        });
        all += element.measure.count;
        short += if is_short { element.measure.count } else { 0 };
    }
    (all >= MANY && short > all / 2 && short < all).then(|| {
        format!(
            "{} of {} calls are of functions of at most {LINES} lines: --without '** lines<={LINES}' leaves their hooks out, and \
             the program runs faster",
            grouped(short),
            grouped(all)
        )
    })
}

#[cfg(test)]
mod tests {
    use metaspy_core::{SiteId, SiteKind};
    use metaspy_reader::{Measure, RecordedSite};
    use metaspy_report::program::Builder;

    use super::*;

    /// The advice for functions with these numbers of lines and calls.
    fn check(functions: &[(u32, u64)], expected: Option<&str>) {
        let mut builder = Builder::new();
        for (number, &(lines, count)) in (1..).zip(functions) {
            let site = RecordedSite {
                id: SiteId(number),
                kind: SiteKind::Method,
                path: format!("a::f{number}"),
                file: "a.rs".into(),
                lines: (10, 9 + lines),
                skipped: None,
                module: 1,
                facts: String::new(),
            };
            builder.add_site(&site, &Measure { count, ..Measure::default() });
        }
        assert_eq!(advice(&builder.build()).as_deref(), expected);
    }

    #[test]
    fn short_functions_with_most_of_many_calls_are_named_by_a_selector() {
        check(
            &[(5, 1_200_000), (1, 300_000), (6, 100_000)],
            Some(
                "1,500,000 of 1,600,000 calls are of functions of at most 5 lines: --without '** lines<=5' leaves their hooks \
                 out, and the program runs faster",
            ),
        );
        check(&[(5, 500_000), (6, 600_000)], None);
        check(&[(5, 900_000), (6, 1)], None);
        check(&[(5, 1_200_000), (6, 0)], None);
    }
}
