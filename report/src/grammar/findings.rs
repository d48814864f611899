//! The productions and alternatives that are not covered, and why: people see them first.

use std::io::{self, Write};

use super::writer::{COLUMNS, Page};
use super::{Alternative, Cut, Production, Report, Shadow, State};
use crate::table::Top;
use crate::text::{clean, counted, cut, fit, grouped, shorten, shorten_file, width};

/// Findings of a kind that are shown by default.
const SHOWN: usize = 8;

/// Columns of a place.
const PLACE: usize = 24;

/// Columns of the event in a line.
const WHAT: usize = 24;

/// Columns of a name.
const NAME: usize = COLUMNS - 2 - WHAT - 2 - PLACE - 2;

/// Columns of an alternative within a sentence.
const PHRASE: usize = 40;

/// Writes the productions that never matched, and those that were never entered.
pub fn write(page: &mut Page<impl Write>, report: &Report, top: Top) -> io::Result<()> {
    for state in [State::NeverMatched, State::NeverEntered] {
        let mut found: Vec<&Production> =
            report.in_use().filter(|production| production.state == state).collect();
        // Productions with a reason come first, and then those that were tried most often.
        found.sort_by_key(|it| (it.shadowed_by.is_none(), std::cmp::Reverse(it.entered)));
        heading(page, state.word(), found.len())?;
        for production in shown(&found, top) {
            write_production(page, production)?;
        }
        more(page, found.len(), top)?;
    }
    let found: Vec<&Alternative> = alternatives(report).collect();
    heading(page, "ALTERNATIVES NEVER MATCHED", found.len())?;
    for alternative in shown(&found, top) {
        write_alternative(page, alternative, &report.productions[alternative.production_number])?;
    }
    more(page, found.len(), top)?;
    let found: Vec<(&Alternative, &Cut)> = report
        .alternatives_in_use()
        .filter(|(_, alternative)| alternative.state == State::Matched)
        .filter_map(|(_, alternative)| Some((alternative, alternative.cut_by.as_ref()?)))
        .collect();
    heading(page, "ALTERNATIVES CUT SHORT", found.len())?;
    for (alternative, by) in shown(&found, top) {
        let name = format!("{}: | {}", clean(&alternative.production), one_line(&alternative.text));
        place(
            page,
            &name,
            &counted(by.inputs, "rejected input"),
            &report.productions[alternative.production_number],
        )?;
        page.paragraph(6, &cut_sentence(by))?;
    }
    more(page, found.len(), top)
}

fn cut_sentence(cut: &Cut) -> String {
    let by = shorten(&one_line(&cut.alternative), PHRASE);
    let taken = counted(cut.taken as u64, "byte");
    format!("`{by}` comes first and takes {taken} of {}, as in {}", cut.bytes, clean(&cut.input))
}

/// Alternatives with a finding of their own: their production matched, and no finding above
/// explains why they did not.
fn alternatives(report: &Report) -> impl Iterator<Item = &Alternative> {
    let shadowed: Vec<usize> =
        report.in_use().filter_map(|production| production.shadowed).collect();
    let uncovered =
        report.alternatives_in_use().filter(|(_, alternative)| alternative.state != State::Matched);
    let own = uncovered.filter(move |(at, alternative)| {
        let of = &report.productions[alternative.production_number];
        // An alternative that begins with a production that never matched cannot match, and that
        // production was named.
        let implied = alternative
            .first
            .is_some_and(|first| report.productions[first].state != State::Matched);
        of.state == State::Matched
            && !shadowed.contains(at)
            && (!implied || alternative.shadowed_by.is_some())
    });
    own.map(|(_, alternative)| alternative)
}

fn shown<T>(found: &[T], top: Top) -> &[T] {
    &found[..found.len().min(top.limit(SHOWN))]
}

fn heading(page: &mut Page<impl Write>, what: &str, count: usize) -> io::Result<()> {
    if count == 0 {
        return Ok(());
    }
    page.line("")?;
    page.marked("", &format!("{what} ({})", grouped(count as u64)))
}

fn more(page: &mut Page<impl Write>, count: usize, top: Top) -> io::Result<()> {
    match count.saturating_sub(top.limit(SHOWN)) {
        more if more > 0 => {
            page.line(&format!("  … and {} more: --top all lists them", grouped(more as u64)))
        }
        _ => Ok(()),
    }
}

fn write_production(page: &mut Page<impl Write>, production: &Production) -> io::Result<()> {
    let what = match production.entered {
        0 => String::new(),
        entered => format!("entered {}", grouped(entered)),
    };
    place(page, &clean(&production.name), &what, production)?;
    let shadow = production.shadowed_by.as_ref();
    if let Some(shadow) = shadow {
        page.paragraph(6, &sentence(shadow))?;
    }
    // A production that was never entered has its reason elsewhere; its own text explains little.
    let has_text = !production.source_line.is_empty();
    if has_text && (shadow.is_some() || production.state == State::NeverMatched) {
        let source = production.source_line.replace('\t', " ");
        let source = format!("{} | {}", production.line, clean(source.trim_end()));
        page.line(&format!("      {}", cut(&source, COLUMNS - 6)))?;
    }
    Ok(())
}

fn write_alternative(
    page: &mut Page<impl Write>,
    it: &Alternative,
    production: &Production,
) -> io::Result<()> {
    let name = format!("{}: | {}", clean(&it.production), one_line(&it.text));
    let shadow = it.shadowed_by.as_ref();
    let what = match (it.entered, shadow) {
        (0, None) => "not tried".into(),
        (0, Some(_)) => String::new(),
        (entered, _) => format!("entered {}", grouped(entered)),
    };
    place(page, &name, &what, production)?;
    match shadow {
        Some(shadow) => page.paragraph(6, &sentence(shadow)),
        None => Ok(()),
    }
}

fn place(
    page: &mut Page<impl Write>,
    name: &str,
    what: &str,
    production: &Production,
) -> io::Result<()> {
    let place = shorten_file(&format!("{}:{}", clean(&production.file), production.line), PLACE);
    // A long name takes the room of an absent remark.
    let columns = if what.is_empty() { NAME + 2 + WHAT } else { NAME };
    match (what, width(name) > columns) {
        ("", _) => page.line(&format!("  {}  {place}", fit(name, columns))),
        (_, true) => {
            page.line(&format!("  {}", shorten(name, COLUMNS - 2)))?;
            page.line(&format!("  {}  {}  {place}", " ".repeat(NAME), fit(what, WHAT)))
        }
        (_, false) => page.line(&format!("  {}  {}  {place}", fit(name, NAME), fit(what, WHAT))),
    }
}

fn sentence(shadow: &Shadow) -> String {
    let by = shorten(&one_line(&shadow.alternative), PHRASE);
    let times = if shadow.would_match == 1 {
        "once".into()
    } else {
        format!("{} times", grouped(shadow.would_match))
    };
    let whole = match shadow.as_far {
        all if all == shadow.would_match => ", taking no more".to_owned(),
        0 => ", taking more".to_owned(),
        as_far => format!(", {} of them taking no more", grouped(as_far)),
    };
    format!("`{by}` matches where it would: {times}{whole}, as in {}", clean(&shadow.input))
}

/// Returns a text of the grammar in one line, without characters that would drive a terminal.
fn one_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}
