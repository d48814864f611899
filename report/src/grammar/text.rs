//! The report for people: the failures come first, then the counts, then the doubts.

use std::io::{self, Write};

use super::baseline::{Change, Comparison};
use super::skipped::Named;
use super::verdict::percent;
use super::writer::{COLUMNS, Page};
use super::{Production, Rejection, Report, Role, State};
use super::{findings, table};
use crate::table::Top;
use crate::text::{clean, clean_lines, counted, cut, fit, grouped};

/// Changes of a kind that are shown by default.
const SHOWN: usize = 20;
/// Rejected inputs that are shown by default.
const REJECTED: usize = 5;

/// Writes the report.
pub fn write(
    page: &mut Page<impl Write>,
    report: &Report,
    top: Top,
    failures: &[String],
) -> io::Result<()> {
    header(page, report)?;
    findings::write(page, report, top)?;
    table::write(page, report, top)?;
    page.line("")?;
    if report.inputs.accepted > 0 {
        let only = |it: &&Production| it.accepted.matched == 0 && it.rejected.matched > 0;
        names(page, "matched only in rejected inputs", report.in_use().filter(only), top)?;
    }
    let of = |role: Role| report.productions.iter().filter(move |it| it.role == role);
    names(page, "unused, the rule does not lead to them", of(Role::Unused), top)?;
    names(page, "optimised away, never entered by their names", of(Role::OptimisedAway), top)?;
    rejections(page, report, top)?;
    notes(page, report)?;
    if let Some(comparison) = &report.comparison {
        compared(page, comparison, top)?;
    }
    summary(page, report)?;
    for failure in failures {
        page.paragraph(0, failure)?;
    }
    Ok(())
}

fn header(page: &mut Page<impl Write>, report: &Report) -> io::Result<()> {
    let inputs = &report.inputs;
    let further = match report.grammar.len() {
        1 => String::new(),
        files => format!(" and {}", counted(files as u64 - 1, "further file")),
    };
    let stopped = match inputs.stopped {
        0 => String::new(),
        stopped => format!(", {} of them STOPPED", grouped(stopped)),
    };
    let count = counted(inputs.accepted + inputs.rejected, "input");
    let accepted = grouped(inputs.accepted);
    let rejected = grouped(inputs.rejected);
    page.paragraph(
        0,
        &format!(
            "{}{further}  rule {}  {count} ({accepted} accepted, {rejected} rejected{stopped})",
            clean(&report.grammar[0]),
            clean(&report.rule)
        ),
    )?;
    // If nothing fits, the rule is more often the mistake than the inputs are.
    if let (0, Some(first)) = (inputs.accepted, parsed_and_rejected(report).next()) {
        page.paragraph(
            0,
            &format!(
                "NO INPUT WAS ACCEPTED; the first one that was rejected, {}:",
                clean(&first.input)
            ),
        )?;
        for line in clean_lines(&first.message).lines() {
            page.line(&format!("  {}", cut(line, COLUMNS - 2)))?;
        }
    }
    Ok(())
}

fn names<'r>(
    page: &mut Page<impl Write>,
    title: &str,
    productions: impl Iterator<Item = &'r Production>,
    top: Top,
) -> io::Result<()> {
    page.names(title, productions.map(|production| production.name.as_str()), top)
}

/// The rejected inputs, without those whose parse was stopped at a limit.
fn parsed_and_rejected(report: &Report) -> impl Iterator<Item = &Rejection> {
    report.rejections.iter().filter(|rejection| rejection.line.is_some())
}

/// The rejected inputs, and where each stopped.
fn rejections(page: &mut Page<impl Write>, report: &Report, top: Top) -> io::Result<()> {
    let all = parsed_and_rejected(report).count();
    if all == 0 {
        return Ok(());
    }
    page.line(&format!("{} rejected, at:", counted(all as u64, "input")))?;
    let shown = all.min(top.limit(REJECTED));
    for Rejection { input, line, column, expected, .. } in parsed_and_rejected(report).take(shown) {
        let place = format!("{}:{}:{}", clean(input), line.unwrap_or(0), column.unwrap_or(0));
        page.line(&format!("  {}", cut(&format!("{place}  {}", clean(expected)), COLUMNS - 2)))?;
    }
    match all - shown {
        0 => Ok(()),
        more => page.line(&format!("  … and {} more: --top all lists them", grouped(more as u64))),
    }
}

/// The limits of the counts.
fn notes(page: &mut Page<impl Write>, report: &Report) -> io::Result<()> {
    let notes = &report.notes;
    let mut named = |named: &Named, what: &str| match named.count {
        0 => Ok(()),
        count => {
            let title = format!("{} {what}", counted(count, "input"));
            page.list(&title, &named.first, count - named.first.len() as u64)
        }
    };
    named(&notes.stopped, "stopped at a limit, and rejected for that")?;
    named(&notes.skipped.unreadable, "left out, as not readable")?;
    named(&notes.skipped.loops, "left out, as a link that leads back to where it stands")?;
    match notes.skipped.repeated {
        0 => Ok(()),
        repeated => {
            page.line(&format!("{} left out, as reached before", counted(repeated, "input")))
        }
    }
}

fn compared(page: &mut Page<impl Write>, comparison: &Comparison, top: Top) -> io::Result<()> {
    let mut group = |title: &str, is: fn(&Change) -> bool| {
        let changes: Vec<&Change> = comparison.changes.iter().filter(|change| is(change)).collect();
        if changes.is_empty() {
            return Ok(());
        }
        page.line(&format!("since the baseline {title}:"))?;
        let shown = changes.len().min(top.limit(SHOWN));
        changes[..shown].iter().try_for_each(|change| {
            let ((entered, now_entered), (matched, now_matched)) = (change.entered, change.matched);
            let entered = format!("entered {} → {}", grouped(entered), grouped(now_entered));
            let matched = format!("matched {} → {}", grouped(matched), grouped(now_matched));
            page.line(&format!("  {}  {entered}, {matched}", fit(&clean(&change.name), 26)))
        })?;
        match changes.len() - shown {
            0 => Ok(()),
            more => {
                page.line(&format!("  … and {} more: --top all lists them", grouped(more as u64)))
            }
        }
    };
    group("NO LONGER MATCHED", |change| change.state.0 == State::Matched)?;
    group("newly matched", |change| change.state.1 == State::Matched)?;
    group("entered, but not matched", |change| {
        change.state == (State::NeverEntered, State::NeverMatched)
    })?;
    group("no longer entered", |change| {
        change.state == (State::NeverMatched, State::NeverEntered)
    })?;
    if let Some(rule) = &comparison.other_rule {
        page.paragraph(0, &format!("the baseline began at another rule, {}", clean(rule)))?;
    }
    if comparison.grammar_changed {
        page.line("the grammar has changed since the baseline")?;
    }
    page.names(
        "NO LONGER ACCEPTED since the baseline",
        comparison.rejected.iter().map(String::as_str),
        top,
    )?;
    page.names("new in use", comparison.new.iter().map(String::as_str), top)?;
    page.names("gone or no longer in use", comparison.gone.iter().map(String::as_str), top)?;
    let same =
        [&comparison.rejected, &comparison.new, &comparison.gone].into_iter().all(Vec::is_empty);
    let same = same && comparison.changes.is_empty();
    if same {
        page.line("nothing that is in use changed its state since the baseline")
    } else {
        Ok(())
    }
}

/// How many productions there are, and how many matched.
pub fn summary(page: &mut Page<impl Write>, report: &Report) -> io::Result<()> {
    let of = |state: State| grouped(report.in_use().filter(|it| it.state == state).count() as u64);
    let role = |role: Role| report.productions.iter().filter(|it| it.role == role).count() as u64;
    let mut apart = Vec::new();
    for (count, word) in
        [(role(Role::Unused), "unused"), (role(Role::OptimisedAway), "optimised away")]
    {
        if count > 0 {
            apart.push(format!("{} {word}", grouped(count)));
        }
    }
    let apart = if apart.is_empty() { String::new() } else { format!("; {}", apart.join(", ")) };
    let text = format!(
        "{} in use: {} matched ({}), {} never matched, {} never entered{apart}",
        counted(role(Role::InUse), "production"),
        of(State::Matched),
        percent(report.coverage),
        of(State::NeverMatched),
        of(State::NeverEntered),
    );
    page.paragraph(0, &text)?;
    let alternatives = report.alternatives_in_use().count() as u64;
    let matched =
        report.alternatives_in_use().filter(|(_, it)| it.state == State::Matched).count() as u64;
    match alternatives {
        0 => Ok(()),
        _ => page.line(&format!(
            "alternatives: {} of {} matched",
            grouped(matched),
            grouped(alternatives)
        )),
    }
}
