//! Which productions of one language match, in four parser libraries?
//!
//! The language is sums and products of numbers. Its grammar has two productions for numbers,
//! `integer` and `decimal`, and is written three times: in peg, in combine, and in lalrpop, which
//! reads the tokens of logos.
//!
//! **The finding.** The same grammar is not the same language. In peg and combine `decimal` never
//! matches: `integer` is tried first, takes the digits before the point, and two of six inputs are
//! rejected behind it. Every production is entered, so line coverage would be complete. In lalrpop
//! `decimal` matches, because logos takes the longest token.
//!
//! Run it with `cargo run -p metaspy-parsers-story`.

mod combine_sums;
mod lalrpop_sums;
mod peg_sums;
mod spy;

use metaspy::prelude::*;
use metaspy::productions::with_input;

/// The inputs of the parsers.
const INPUTS: [&str; 6] = ["7", "1 + 2", "2 * (3 + 4)", "1.5 * 2", "2 * 0.25", "(1 + "];

type Parse = fn(&str) -> Option<f64>;

/// The libraries: the module with the productions, and the parser.
const LIBRARIES: [(&str, Parse); 3] = [
    ("peg_sums", peg_sums::parse),
    ("combine_sums", combine_sums::parse),
    ("lalrpop_sums", lalrpop_sums::parse),
];

/// The coverage by a library: the accepted inputs, and for each production its name, and how often
/// it was entered and matched.
struct Coverage {
    accepted: usize,
    productions: Vec<(&'static str, u64, u64)>,
}

fn main() -> Result<(), InstallError> {
    for (library, parse) in LIBRARIES {
        let Coverage { accepted, productions } = cover(library, parse)?;
        println!("# {library}: {accepted} of {} inputs accepted\n", INPUTS.len());
        for (name, entered, matched) in productions {
            let verdict = if matched == 0 { "NEVER MATCHED" } else { "" };
            println!("{name:<16} {entered:>4} entered {matched:>4} matched  {verdict}");
        }
        println!();
    }
    Ok(())
}

/// Parses all inputs.
fn cover(library: &'static str, parse: Parse) -> Result<Coverage, InstallError> {
    let profiler =
        Profiler::new(library).observe(productions(format!("{library}::**")).mode(Mode::Tally));
    let (accepted, profile) = profiler.profile(|| {
        INPUTS.iter().copied().filter(|input| with_input(input, || parse(input)).is_some()).count()
    })?;
    let rows = profile.counts().by_site();
    let sites = metaspy::instrumenter::entries().into_iter().map(|entry| entry.site);
    let ours = sites.filter(|site| site.path().contains(library));
    let productions = ours.map(|production| {
        let measure = rows.at(&production.path()).map(|row| row.measure).unwrap_or_default();
        (production.def().name, measure.count, measure.count - measure.failed)
    });
    Ok(Coverage { accepted, productions: productions.collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(library: usize) -> (usize, Vec<(&'static str, bool)>) {
        let (name, parse) = LIBRARIES[library];
        let Coverage { accepted, mut productions } = cover(name, parse).expect("it is observed");
        productions.sort_unstable();
        (accepted, productions.into_iter().map(|(name, _, matched)| (name, matched > 0)).collect())
    }

    #[test]
    fn a_decimal_never_matches_where_an_integer_is_tried_first() {
        let productions = [
            ("decimal", false),
            ("group", true),
            ("integer", true),
            ("product", true),
            ("sum", true),
        ];
        assert_eq!(matched(0), (3, productions.to_vec()));
        assert_eq!(matched(1), (3, productions.to_vec()));
    }

    #[test]
    fn a_decimal_matches_where_the_longest_token_is_taken() {
        let (accepted, productions) = matched(2);
        assert_eq!(accepted, 5);
        assert!(
            productions.contains(&("decimal", true))
                && productions.contains(&("token: decimal", true))
        );
        assert!(productions.iter().all(|(_, matched)| *matched), "{productions:?}");
    }

    #[test]
    fn all_libraries_compute_the_same() {
        let values = LIBRARIES.map(|(_, parse)| parse("2 * (3 + 4)"));
        assert_eq!(values, [Some(14.0); 3]);
    }
}
