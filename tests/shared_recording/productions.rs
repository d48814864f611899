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
    let activation = Activation::begin(&mut slot, production!("number"), Position::Left(text.len()));
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
