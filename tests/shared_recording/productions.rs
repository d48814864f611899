//! Productions through the facade: a parser written by hand, with the door that the libraries use.

use metaspy::prelude::*;
use metaspy::productions::{Activation, ActivationEnd, ActivationFrame, Position, with_input};
use metaspy::{production, productions};

/// A sum of numbers, as far as the text is one; what is left of it.
fn sum(text: &str) -> Option<(u64, &str)> {
    let mut slot = ActivationFrame::vacant();
    let activation = Activation::begin(&mut slot, production!("sum"), Position::Left(text.len()));
    let (mut total, mut rest) = number(text)?;
    while let Some(more) = rest.strip_prefix('+') {
        let (value, left) = number(more)?;
        (total, rest) = (total + value, left);
    }
    activation.end(ActivationEnd::Matched, Position::Left(rest.len()));
    Some((total, rest))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let mut slot = ActivationFrame::vacant();
    let activation =
        Activation::begin(&mut slot, production!("number"), Position::Left(text.len()));
    let digits = text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    assert!(digits < 8, "longer than anybody writes");
    let ended = if digits > 0 { ActivationEnd::Matched } else { ActivationEnd::Backtracked };
    activation.end(ended, Position::Left(text.len() - digits));
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

#[test]
fn a_hand_written_parser_is_profiled_by_its_productions() -> Result<(), metaspy::InstallError> {
    let profiler = Profiler::new("sums").observe(productions("productions::*")).install()?;
    assert_eq!(with_input("good", || sum("1+22")), Some((23, "")));
    assert_eq!(with_input("bad", || sum("1+x")), None);
    let unwound = std::panic::catch_unwind(|| with_input("long", || sum("123456789")));
    assert!(unwound.is_err());
    let profile = profiler.uninstall();
    let counts = profile.counts();
    let sites = counts.by_site();
    let of = |name: &str| {
        let measure = sites.at(name).expect("it was tried").measure;
        [measure.count, measure.failed, measure.panicked]
    };
    // A sum that is left early by `?` did not match.
    assert_eq!((of("productions::sum"), of("productions::number")), ([3, 1, 1], [5, 1, 1]));
    let inputs = counts.by_subject();
    assert_eq!(inputs.rows.iter().map(|row| row.measure.count).collect::<Vec<_>>(), [3, 3, 2]);
    Ok(())
}

#[test]
fn an_input_ends_with_its_parse_and_the_one_around_it_goes_on() -> Result<(), metaspy::InstallError>
{
    let profiler = Profiler::new("inputs").observe(productions("inputs::leaf")).install()?;
    with_input("an outer file", || {
        inputs::leaf();
        with_input("an included file", inputs::leaf);
        inputs::leaf();
        let so_far = profiler.so_far();
        let has_ended = |name| so_far.store().ended_at(input(&so_far, name)).is_some();
        assert_eq!((has_ended("an outer file"), has_ended("an included file")), (false, true));
    });
    let profile = profiler.uninstall();
    let [outer, included] = ["an outer file", "an included file"].map(|name| input(&profile, name));
    assert_eq!((profile.count_of(outer), profile.count_of(included)), (2, 1));
    assert!(profile.store().ended_at(outer).is_some());
    Ok(())
}

/// A path that the selector of the other test does not match.
mod inputs {
    use super::*;

    pub fn leaf() {
        let mut slot = ActivationFrame::vacant();
        let activation = Activation::begin(&mut slot, production!("leaf"), Position::Left(0));
        activation.end(ActivationEnd::Matched, Position::Left(0));
    }
}

/// The subject of an input with this name.
fn input(profile: &metaspy::Profile, name: &str) -> metaspy::Subject {
    let rows = profile.counts().by_subject().rows;
    let subjects = rows.iter().filter_map(|row| row.subject);
    subjects
        .into_iter()
        .find(|subject| profile.store().subject_text(*subject).contains(name))
        .expect("it was parsed")
}
