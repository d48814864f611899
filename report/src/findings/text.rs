//! Output of findings as text for people.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use metaspy_reader::Totals;

use super::finding::is_share;
use super::{Certainty, Cost, Finding, Findings, FoundSubjects, State, Whole};
use crate::text::{clean, counted, file_name, grouped, percent, short, shorten_file, time, wrap};

/// Columns of the text.
const COLUMNS: usize = 118;
/// Columns before the sentences of a finding.
const INDENT: usize = 4;
/// Columns of the word in front of each part.
const WORD: usize = 11;
/// Maximum number of subjects that a sentence names.
const SUBJECTS: usize = 3;
/// Share of calls that are events, in percent. Below it, the first line states the share if nothing
/// is found.
const STORED_PERCENT: u64 = 10;

/// Choice of the findings in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Findings that are worth a look, as [`Finding::is_listed`] decides.
    Listed,
    /// All findings that are neither known nor accepted, including small ones.
    All,
}

/// Part of the text below the title of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Word in front of the text: `at`, `filter`, `certainty`; empty for the evidence.
    pub word: &'static str,
    /// One or more sentences, or a place, a filter or a title.
    pub text: String,
}

/// Writes the findings. `sources` are the recordings as the command line names them.
pub fn write(
    out: &mut impl Write,
    findings: &Findings,
    shown: Shown,
    sources: &[String],
) -> io::Result<()> {
    let listed: Vec<&Finding> = match shown {
        Shown::Listed => findings.listed().collect(),
        Shown::All => findings.found.iter().filter(|finding| finding.state.is_open()).collect(),
    };
    writeln!(out, "{}", headline(findings, listed.len()))?;
    for (number, finding) in (1..).zip(&listed) {
        writeln!(out)?;
        write_finding(out, number, finding, findings)?;
    }
    writeln!(out)?;
    let with = |is_meant: fn(&Finding) -> bool| {
        findings.found.iter().filter(|finding| is_meant(finding)).count() as u64
    };
    let small =
        with(|finding| finding.state.is_open() && finding.is_small && !finding.cost.is_none());
    if shown == Shown::Listed && small > 0 {
        writeln!(
            out,
            "Below the least share of the time and of the events: {}, see --all",
            counted(small, "finding")
        )?;
    }
    let is_costless =
        |finding: &&Finding| finding.state.is_open() && finding.is_small && finding.cost.is_none();
    let costless: Vec<&str> =
        findings.found.iter().filter(is_costless).map(|finding| finding.kind.as_str()).collect();
    if shown == Shown::Listed && !costless.is_empty() {
        let count = counted(costless.len() as u64, "finding");
        let kinds: BTreeSet<&str> = costless.into_iter().collect();
        let kinds: Vec<&str> = kinds.into_iter().collect();
        paragraph(
            out,
            0,
            &format!("Without a cost in this run: {count} of {}, see --all", kinds.join(", ")),
        )?;
    }
    let known = with(|finding| finding.state == State::Known);
    if known > 0 {
        writeln!(out, "Known from the baseline: {}", counted(known, "finding"))?;
    }
    let accepted = with(|finding| matches!(finding.state, State::Accepted(_)));
    if accepted > 0 {
        writeln!(out, "Accepted by metaspy.toml: {}", counted(accepted, "finding"))?;
    }
    let nothing: Vec<&str> = findings.found_nothing().collect();
    if !nothing.is_empty() {
        paragraph(out, 0, &format!("Nothing found by: {}", nothing.join(", ")))?;
    }
    for (why, kinds) in findings.partly_looked_for_by_reason() {
        paragraph(out, 0, &format!("Only partly looked for: {}: {why}", kinds.join(", ")))?;
    }
    for (why, kinds) in findings.not_looked_for_by_reason() {
        paragraph(out, 0, &format!("Not looked for: {}: {why}", kinds.join(", ")))?;
    }
    if findings.listed().next().is_some() {
        let sources: Vec<String> =
            sources.iter().map(|source| file_name(Path::new(source))).collect();
        writeln!(out, "The events of a finding:  metaspy open {} --finding 1", sources.join(" "))?;
    }
    Ok(())
}

/// Returns the first line: `3 findings in 6.2 M events, 3.1 s`.
pub fn headline(findings: &Findings, listed: usize) -> String {
    let count = match listed {
        0 => "nothing found".to_owned(),
        found if findings.is_compared => counted(found as u64, "new finding"),
        found => counted(found as u64, "finding"),
    };
    let Totals { stored, emitted, counted: only_counted, .. } = findings.totals;
    let of = match emitted {
        all if all == stored => format!("{} events", short(stored)),
        all => format!("{} events of {} calls", short(stored), short(all)),
    };
    let line = format!("{count} in {of}, {}", time(findings.recorded_ns));
    // Silence about a small part of the calls says little about the others.
    if listed == 0 && stored > 0 && !is_share(stored, emitted, STORED_PERCENT) {
        // Sites that only count, and sampled sites, have no more events in a larger recording.
        let variable = if only_counted > emitted.saturating_sub(stored) / 2 {
            "METASPY_MODE"
        } else {
            "METASPY_BUDGET"
        };
        return format!(
            "{line}: {} of the calls are stored, see {variable}",
            percent(stored, emitted)
        );
    }
    line
}

fn write_finding(
    out: &mut impl Write,
    number: usize,
    finding: &Finding,
    all: &Findings,
) -> io::Result<()> {
    let head = format!("{number:>2}  {:<20}  {}", cost(&finding.cost), clean(&finding.title));
    writeln!(out, "{head:<width$}  {}", finding.kind, width = COLUMNS - 20)?;
    for part in parts(finding, all) {
        match part.word {
            "" => paragraph(out, INDENT, &part.text)?,
            name => word(out, name, &part.text)?,
        }
    }
    Ok(())
}

/// Returns the parts of the text below the title of a finding, in their order.
pub fn parts(finding: &Finding, all: &Findings) -> Vec<Part> {
    let subjects = named(&finding.subjects);
    let most = if subjects.is_empty() { String::new() } else { format!("  Most: {subjects}") };
    let mut parts = vec![Part { word: "", text: format!("{}{most}", finding.evidence.text) }];
    let mut add = |word, text: String| {
        if !text.is_empty() {
            parts.push(Part { word, text });
        }
    };
    for site in finding.sites.iter().filter(|site| !site.file.is_empty()) {
        add(
            "at",
            format!(
                "{}  {}:{}",
                clean(&site.path),
                shorten_file(&clean(&site.file), 60),
                site.line
            ),
        );
    }
    add("filter", clean(&finding.evidence.filter).into_owned());
    let certainty = match &finding.certainty {
        Certainty::Proved(reason) => reason.clone(),
        other => format!("{}: {}", other.word(), other.reason()),
    };
    add("certainty", certainty);
    add("record", finding.needs.clone());
    add("advice", finding.advice.clone());
    let above = finding.implied_by.and_then(|at| all.found.get(at));
    add("part of", above.map_or_else(String::new, |above| clean(&above.title).into_owned()));
    parts
}

/// Returns the larger share of a cost with its whole: `38 % of the time`.
pub fn cost(cost: &Cost) -> String {
    if cost.is_none() {
        return "no cost in this run".to_owned();
    }
    let sign = if cost.at_least { "≥" } else { "" };
    let of = match (cost.time_ppm >= cost.events_ppm && cost.time_ns.is_some(), cost.of) {
        (true, Whole::Work) => "of the time",
        (true, Whole::Roots) => "of the waiting",
        (true, Whole::Threads(_)) => "of the threads' time",
        (false, _) => "of the events",
    };
    match f64::from(cost.share_ppm()) / 1e4 {
        percent if percent < 0.1 => format!("<0.1 % {of}"),
        percent if percent < 9.95 => format!("{sign}{percent:.1} % {of}"),
        percent => format!("{sign}{percent:.0} % {of}"),
    }
}

/// Names the worst subjects with their events: `#879 <main> 3,784, …`.
fn named(subjects: &FoundSubjects) -> String {
    let worst = subjects.worst.iter().take(SUBJECTS);
    let texts: Vec<String> =
        worst.map(|it| format!("{} {}", clean(&it.text), grouped(it.events))).collect();
    texts.join(", ")
}

fn word(out: &mut impl Write, word: &str, text: &str) -> io::Result<()> {
    let mut first = format!("{:INDENT$}{word:<WORD$}", "");
    for line in wrap(text, COLUMNS - INDENT - WORD) {
        writeln!(out, "{first}{line}")?;
        first = " ".repeat(INDENT + WORD);
    }
    Ok(())
}

fn paragraph(out: &mut impl Write, indent: usize, text: &str) -> io::Result<()> {
    wrap(text, COLUMNS - indent).iter().try_for_each(|line| writeln!(out, "{:indent$}{line}", ""))
}

#[cfg(test)]
mod tests {
    use metaspy_reader::ResolvedEvent;

    use super::super::testing::Run;
    use super::super::{Context, Detector};
    use super::*;

    /// Detector with a finding for each of these numbers, which is its number of events.
    struct Given(&'static [u64]);

    impl Detector for Given {
        fn kind(&self) -> &str {
            "given"
        }

        fn read(&mut self, _: &[&ResolvedEvent], _: &Context<'_>) {}

        fn finish(self: Box<Self>, _: &Context<'_>) -> Vec<Finding> {
            let finding = |&events| Finding {
                cost: Cost::of_events(events),
                ..Finding::new("given", "it is so", vec![])
            };
            self.0.iter().map(finding).collect()
        }
    }

    fn findings(events: &'static [u64]) -> Findings {
        let mut run = Run::new();
        (0..1_000).for_each(|_| _ = run.leaf("page::work", None, 10));
        run.findings(Given(events))
    }

    #[test]
    fn findings_without_a_cost_are_counted_apart_from_small_ones() {
        let mut out = Vec::new();
        write(&mut out, &findings(&[0, 3, 0, 5, 0]), Shown::Listed, &[]).expect("it is written");
        let text = String::from_utf8(out).expect("it is text");
        let expected = "Below the least share of the time and of the events: 2 findings, see --all\n\
                        Without a cost in this run: 3 findings of given, see --all\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn silence_about_a_small_part_of_the_calls_states_the_part() {
        let headline_with = |emitted, counted, listed| {
            let mut findings = findings(&[]);
            (findings.totals.emitted, findings.totals.counted) = (emitted, counted);
            findings.recorded_ns = 1_000_000;
            headline(&findings, listed)
        };
        let headline_of = |emitted, listed| headline_with(emitted, 0, listed);
        let all = "nothing found in 1,000 events of 20.0 k calls, 1.00 ms: 5.0 % of the calls are stored, see METASPY_BUDGET";
        assert_eq!(headline_of(20_000, 0), all);
        assert_eq!(headline_with(20_000, 9_000, 0), all);
        assert_eq!(headline_with(20_000, 19_000, 0), all.replace("BUDGET", "MODE"));
        assert_eq!(headline_of(20_000, 1), "1 finding in 1,000 events of 20.0 k calls, 1.00 ms");
        assert_eq!(
            headline_of(10_000, 0),
            "nothing found in 1,000 events of 10.0 k calls, 1.00 ms"
        );
    }
}
