//! Filters and selectors answer for any text.

use proptest::prelude::*;

use super::cases;
use super::recording::rich;
use crate::{Filter, Position, Selector};

/// Pieces of the two languages, and of common mistakes in them.
fn piece() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "site:",
        "subject:",
        "kind:",
        "took:",
        "outcome:",
        "cause:",
        "lane:",
        "level:",
        "epoch:",
        "-",
        "\"",
        "#",
        "@",
        "::",
        "*",
        "**",
        "<",
        ">",
        ">=",
        "=",
        " as ",
        ",",
        " ",
        "\t",
        "1ms",
        "99999999999999999999",
        "0.5s",
        "1e400s",
        "-1",
        "µs",
        "measure",
        "app::Scene::measure",
        "failed",
        "panicked,",
        "crate::",
        "Łä😀",
        "\u{202e}",
        "\0",
    ]);
    prop_oneof![
        word.prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
        "[a-z:*<>#@\" -]{0,12}"
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn any_text_is_a_filter_or_a_sentence(text in text()) {
        match text.parse::<Filter>() {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(filter) => {
                prop_assert_eq!(&filter.text().parse::<Filter>().expect("it is its own text"), &filter, "its own text is another filter");
                let store = rich().store();
                let every = store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events.len();
                let found = store.forward(Position::Start, &filter, usize::MAX, usize::MAX).events.len();
                prop_assert!(found <= every);
            }
        }
    }

    #[test]
    fn a_negated_term_finds_the_rest(text in piece()) {
        let (Ok(filter), Ok(rest)) = (text.parse::<Filter>(), format!("-{text}").parse::<Filter>()) else { return Ok(()) };
        prop_assume!(filter.terms.len() == 1 && rest.terms.len() == 1 && !filter.terms[0].negated && rest.terms[0].negated);
        let store = rich().store();
        let count = |filter: &Filter| store.forward(Position::Start, filter, usize::MAX, usize::MAX).events.len();
        prop_assert_eq!(count(&filter) + count(&rest), count(&Filter::all()));
    }

    #[test]
    fn any_text_is_a_selector_or_a_sentence(text in text(), path in "([a-zA-Z_]{0,6}::){0,5}[a-zA-Z_]{1,6}") {
        match text.parse::<Selector>() {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(selector) => {
                prop_assert_eq!(&selector.to_string().parse::<Selector>().expect("it is its own text"), &selector);
                let _ = selector.matches(&path);
                prop_assert!(selector.nearest([path.as_str(), "app::Scene::measure"]).len() <= 3);
            }
        }
    }

    #[test]
    fn a_path_matches_itself_and_its_ends(path in "([a-z]{1,6}::){0,5}[a-z]{1,6}", cut in 0_usize..5) {
        prop_assume!(!path.starts_with("crate::"));
        let end = path.splitn(cut + 1, "::").last().expect("there is a last part");
        let matches = |text: &str| text.parse::<Selector>().expect("a path is a selector").matches(&path);
        prop_assert!(matches(end) || end.starts_with("crate::"));
        prop_assert!(matches("**"));
        // One `*` for each segment, or for each letter.
        prop_assert!(matches(&vec!["*"; path.split("::").count()].join("::")));
        let letters: String = path.chars().map(|c| if c == ':' { c } else { '*' }).collect();
        prop_assert!(matches(&letters) || letters.contains("**"));
    }

    #[test]
    fn many_stars_take_no_more_than_moments(stars in 1_usize..400, segments in 1_usize..400) {
        let pattern = vec!["**::a*a*a*b"; stars].join("::");
        let path = vec!["aaaaaaaaaaaaaaaa"; segments].join("::");
        prop_assert!(!pattern.parse::<Selector>().expect("a selector").matches(&path));
    }
}
