//! Productions of parsers that are written with combinators: the same small language three times.

use std::sync::{Mutex, MutexGuard};

use metaspy_core::arm::Mode;
use metaspy_core::hook::Detail;
use metaspy_core::store::{Filter, Position};
use metaspy_core::{Event, Profiler, Recording, Store};
use metaspy_instrumenters::productions::{productions, with_input};

/// There is one log per process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What happened while `parse` ran: a line an event.
fn walked(selector: &str, parse: impl FnOnce()) -> Vec<String> {
    let _turn = turn();
    let recording = Recording::memory().budget(4 << 20).start().expect("there are 4 MiB");
    let installed = Profiler::new("parser")
        .observe(productions(selector))
        .install()
        .expect("they are observed");
    parse();
    drop(installed);
    let store = recording.store();
    let events = store.forward(Position::Start, &Filter::all(), 100, usize::MAX).events;
    events.iter().map(|event| described(&store, event)).collect()
}

/// An event in a line: input, production, where it was tried, how it ended and what it matched, its
/// cause.
fn described(store: &Store, event: &Event) -> String {
    let name = |event: &Event| {
        store.site_path(event.site).rsplit("::").next().unwrap_or_default().to_owned()
    };
    let input = event.subject.map(|input| store.subject_text(input) + ": ").unwrap_or_default();
    let details = store.details(event.id);
    let of = |detail: &Detail| {
        if detail.name == "checks" { "checks".to_owned() } else { detail.value.to_string() }
    };
    let details: Vec<String> = details.iter().map(of).collect();
    let cause = event
        .cause
        .and_then(|cause| store.event(cause))
        .map(|cause| format!(" < {}", name(&cause)));
    format!(
        "{input}{} {:?} {}{}",
        name(event),
        event.outcome,
        details.join(" "),
        cause.unwrap_or_default()
    )
}

mod in_winnow {
    use metaspy_instrumenters::production;
    use metaspy_instrumenters::productions::winnow::ParserExt;
    use winnow::ascii::{alpha1, digit1};
    use winnow::combinator::{alt, cut_err, delimited, separated};
    use winnow::error::{ContextError, ErrMode};
    use winnow::{ModalResult, Parser};

    pub fn value(input: &mut &str) -> ModalResult<usize> {
        let name = alpha1.value(1).spied(production!("name"));
        let number = digit1.value(1).spied(production!("number"));
        let never = "never".value(1).spied(production!("never"));
        // In a list that was begun there is no way back.
        let values = separated(1.., value, ',').map(|counts: Vec<usize>| counts.iter().sum());
        let list = delimited('[', cut_err(values), cut_err(']')).spied(production!("list"));
        if input.is_empty() {
            // Named, but no test runs it.
            return never.spied(production!("nothing")).parse_next(input);
        }
        alt((name, number, list)).spied(production!("value")).parse_next(input)
    }

    pub type Error = ErrMode<ContextError>;
}

#[test]
fn winnow_productions_have_their_place_match_and_cut() {
    let events = walked("in_winnow::*", || {
        assert_eq!(with_input("first", || in_winnow::value(&mut "[a,1]")), Ok(2));
        let cut = with_input("second", || in_winnow::value(&mut "[!"));
        assert!(matches!(cut, Err(in_winnow::Error::Cut(_))), "{cut:?}");
    });
    let expected = [
        "first: value Succeeded 0 0..5",
        "first: name Failed 0 < value",
        "first: number Failed 0 < value",
        "first: list Succeeded 0 0..5 < value",
        "first: value Succeeded 1 1..2 < list",
        "first: name Succeeded 1 1..2 < value",
        "first: value Succeeded 3 3..4 < list",
        "first: name Failed 3 < value",
        "first: number Succeeded 3 3..4 < value",
        "second: value Failed 0 cut",
        "second: name Failed 0 < value",
        "second: number Failed 0 < value",
        "second: list Failed 0 cut < value",
        "second: value Failed 1 < list",
        "second: name Failed 1 < value",
        "second: number Failed 1 < value",
        "second: list Failed 1 < value",
    ];
    assert_eq!(events, expected);
}

#[test]
fn a_production_that_is_never_tried_is_listed() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().expect("there is 1 MiB");
    let store = recording.store();
    let paths: Vec<&str> = store.sites().iter().map(|site| &*site.path).collect();
    for name in ["value", "list", "never"] {
        assert!(paths.contains(&format!("combinators::in_winnow::{name}").as_str()), "{paths:?}");
    }
}

#[test]
fn a_tally_counts_without_events() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().expect("there is 1 MiB");
    let calls = productions("in_winnow::*").mode(Mode::Tally);
    let installed = Profiler::new("tally").observe(calls).install().expect("they are observed");
    for _ in 0..100 {
        assert_eq!(in_winnow::value(&mut "[a,1]"), Ok(2));
    }
    let profile = installed.uninstall();
    let rows = profile.counts().by_site();
    let measure = |name: &str| {
        let measure = rows.at(name).expect("it was tried").measure;
        (measure.count, measure.failed)
    };
    assert_eq!(
        [measure("value"), measure("name"), measure("number")],
        [(300, 0), (300, 200), (200, 100)]
    );
    assert_eq!(recording.store().totals().stored, 0);
}

mod in_nom {
    use metaspy_instrumenters::productions::nom::ParserExt;
    use nom::branch::alt;
    use nom::bytes::streaming::tag;
    use nom::character::complete::{alpha1, char, digit1};
    use nom::combinator::{cut, recognize};
    use nom::multi::separated_list1;
    use nom::sequence::delimited;
    use nom::{IResult, Parser};

    pub fn value(input: &str) -> IResult<&str, &str> {
        let list = delimited(char('['), cut(separated_list1(char(','), value)), cut(char(']')));
        // What is only recognised is only checked, and counts all the same.
        let list = recognize(list.spied("list"));
        alt((alpha1.spied("name"), digit1.spied("number"), list, tag("->").spied("arrow")))
            .spied("value")
            .parse(input)
    }
}

#[test]
fn nom_productions_are_the_same_in_check_mode_and_at_an_early_end() {
    // Names that are only texts are known from their first use on. Another test may be looking at
    // all of them.
    let its_turn = turn();
    assert_eq!(in_nom::value("a"), Ok(("", "a")));
    drop(its_turn);
    let events = walked("combinators::*", || {
        assert_eq!(with_input("first", || in_nom::value("[a]!")), Ok(("!", "[a]")));
        let incomplete = with_input("second", || in_nom::value("-"));
        assert!(matches!(incomplete, Err(nom::Err::Incomplete(_))), "{incomplete:?}");
    });
    let expected = [
        "first: value Succeeded 0 0..3",
        "first: name Failed 0 < value",
        "first: number Failed 0 < value",
        "first: list Succeeded 0 checks 0..3 < value",
        "first: value Succeeded 1 1..2 < list",
        "first: name Succeeded 1 1..2 < value",
        "second: value Cancelled 0",
        "second: name Failed 0 < value",
        "second: number Failed 0 < value",
        "second: list Failed 0 checks < value",
        "second: arrow Cancelled 0 < value",
    ];
    assert_eq!(events.iter().map(|event| event.trim_end()).collect::<Vec<_>>(), expected);
}

mod in_chumsky {
    use chumsky::prelude::*;
    use metaspy_instrumenters::productions::chumsky::ParserExt;

    pub fn value<'i>() -> impl Parser<'i, &'i str, ()> {
        recursive(|value| {
            let list = value
                .separated_by(just(','))
                .at_least(1)
                .delimited_by(just('['), just(']'))
                .spied("items");
            choice((
                text::ascii::ident().ignored().spied("ident"),
                text::int(10).ignored().spied("int"),
                list,
            ))
            .spied("any")
        })
    }
}

#[test]
fn chumsky_productions_are_the_same_in_parse_and_check() {
    let parser = in_chumsky::value();
    use chumsky::Parser;
    // What stands in the list is ignored, so chumsky makes nothing of it in any case.
    let expected = |checks: &str| {
        [
            format!("it: any Succeeded 0{checks} 0..3"),
            format!("it: ident Failed 0{checks} < any"),
            format!("it: int Failed 0{checks} < any"),
            format!("it: items Succeeded 0{checks} 0..3 < any"),
            "it: any Succeeded 1 checks 1..2 < items".into(),
            "it: ident Failed 1 checks < any".into(),
            "it: int Succeeded 1 checks 1..2 < any".into(),
        ]
    };
    for only_checks in [false, true] {
        let events = walked("combinators::*", || {
            with_input("it", || match only_checks {
                true => assert!(!parser.check("[7]").has_errors()),
                false => assert!(parser.parse("[7]").into_result().is_ok()),
            });
        });
        assert_eq!(events, expected(if only_checks { " checks" } else { "" }));
    }
}

#[test]
fn memoized_productions_of_chumsky_are_tried_and_not_run() {
    use chumsky::prelude::*;
    use metaspy_instrumenters::productions::chumsky::ParserExt;
    let word =
        text::ascii::ident::<&str, extra::Default>().spied("run").memoized().spied("asked").boxed();
    let words =
        choice((word.clone().then_ignore(just('!')), word.clone().then_ignore(just('?')), word));
    let events = walked("combinators::*", || assert!(words.parse("7").has_errors()));
    // Chumsky remembers where something did not match; in a box, as it knows a parser by its
    // address.
    let expected = ["asked Failed 0", "run Failed 0 < asked", "asked Failed 0", "asked Failed 0"];
    assert_eq!(events.iter().map(|event| event.trim_end()).collect::<Vec<_>>(), expected);
}

#[test]
fn in_combine_a_committed_failure_is_a_cut() {
    use combine::parser::char::{char, digit, letter};
    use combine::{Parser, many1};
    use metaspy_instrumenters::productions::combine::ParserExt;

    let parse = |input: &str| {
        let word = || many1::<String, _, _>(letter()).spied("letters");
        let list = (char('['), word(), char(']')).map(|(_, word, _)| word).spied("bracketed");
        word()
            .or(list)
            .or(many1(digit()).spied("digits"))
            .spied("whole")
            .parse(input)
            .map(|(value, _)| value)
    };
    // Names that are only texts are known from their first use on. Another test may be looking at
    // all of them.
    let its_turn = turn();
    assert_eq!(parse("a"), Ok("a".to_owned()));
    drop(its_turn);
    let events = walked("combinators::*", || {
        assert_eq!(with_input("42", || parse("42")), Ok("42".to_owned()));
        assert!(with_input("[a", || parse("[a")).is_err());
    });
    let expected = [
        "42: whole Succeeded 0 0..2",
        "42: letters Failed 0 < whole",
        "42: bracketed Failed 0 < whole",
        "42: digits Succeeded 0 0..2 < whole",
        "[a: whole Failed 0 cut",
        "[a: letters Failed 0 < whole",
        "[a: bracketed Failed 0 cut < whole",
        "[a: letters Succeeded 1 1..2 < bracketed",
    ];
    assert_eq!(events, expected);
}
