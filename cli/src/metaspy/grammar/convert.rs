//! The report of a run, from the counts of the instrumented parser.

use std::time::Duration;

use metaspy_instrumenters::productions::pest::{Grammar, Source};
use metaspy_instrumenters::productions::{self, Counts, Coverage, CoverageRow, Verdict};
use metaspy_report::grammar::skipped::{Named, Skipped};
use metaspy_report::grammar::{
    Alternative, Cut, FORMAT, Inputs, Notes, Production, Rejection, Report, Role, Shadow, State,
    Tries, percent_matched,
};

/// The report of `coverage`.
pub fn report(
    grammar: &Grammar,
    sources: &[Source],
    rule: &str,
    coverage: &Coverage,
    skipped: Skipped,
    timed: bool,
) -> Report {
    let productions: Vec<Production> = (0..grammar.productions().len())
        .map(|at| production(grammar, coverage, at, timed))
        .collect();
    let alternatives =
        (0..grammar.alternatives().len()).map(|at| alternative(grammar, coverage, at));
    let mut stopped = Named::default();
    let mut accepted_inputs = Vec::new();
    let mut rejections = Vec::new();
    for input in &coverage.inputs {
        match &input.verdict {
            Verdict::Accepted => accepted_inputs.push(input.name.clone()),
            Verdict::Rejected(rejection) => rejections.push(rejected(&input.name, rejection)),
            Verdict::Stopped(limit) => {
                stopped.push(|| format!("{} ({limit})", input.name));
                rejections.push(stopped_at(&input.name, limit));
            }
        }
    }
    Report {
        format: FORMAT,
        grammar: sources.iter().map(|source| source.name.clone()).collect(),
        rule: rule.to_owned(),
        digest: digest(sources),
        inputs: Inputs {
            accepted: coverage.accepted_inputs() as u64,
            rejected: coverage.rejected_inputs() as u64,
            stopped: stopped.count,
            unreadable: skipped.unreadable.count,
            repeated: skipped.repeated,
            loops: skipped.loops.count,
        },
        coverage: percent_matched(&productions),
        alternatives: alternatives.collect(),
        productions,
        accepted_inputs,
        rejections,
        comparison: None,
        notes: Notes { skipped, stopped },
    }
}

fn rejected(input: &str, of: &productions::Rejection) -> Rejection {
    Rejection {
        input: input.to_owned(),
        line: Some(of.line),
        column: Some(of.column),
        expected: of.expected.clone(),
        message: of.message.clone(),
    }
}

/// An input whose parse was stopped at a limit.
fn stopped_at(input: &str, limit: &str) -> Rejection {
    let expected = format!("stopped: {limit}");
    Rejection {
        input: input.to_owned(),
        line: None,
        column: None,
        expected,
        message: String::new(),
    }
}

fn production(grammar: &Grammar, coverage: &Coverage, at: usize, timed: bool) -> Production {
    let production = &grammar.productions()[at];
    let row = &coverage.productions[at];
    let all = row.all();
    let name_of = |input: Option<usize>| input.map(|input| coverage.inputs[input].name.clone());
    let shadowed = match row.state() {
        productions::State::Matched => None,
        _ => coverage.most_shadowed(grammar.alternatives(), at),
    };
    Production {
        name: production.name.clone(),
        file: grammar.source(production.file).to_owned(),
        line: production.lines.0,
        entered: all.entered,
        matched: all.matched,
        failed: all.failed(),
        backtracked_bytes: Some(all.backtracked),
        depth: all.depth,
        self_ns: timed.then(|| nanoseconds(all.own)),
        total_ns: timed.then(|| nanoseconds(all.total)),
        state: state(row),
        role: role(production.role),
        accepted: tries(&row.accepted),
        rejected: tries(&row.rejected),
        first_input: name_of(row.first),
        shortest_input: name_of(row.shortest),
        shadowed_by: shadowed.and_then(|alternative| shadow(grammar, coverage, alternative)),
        file_number: production.file,
        source_line: grammar.line(production.file, production.lines.0).to_owned(),
        shadowed,
    }
}

fn alternative(grammar: &Grammar, coverage: &Coverage, at: usize) -> Alternative {
    let alternative = &grammar.alternatives()[at];
    let row = &coverage.alternatives[at];
    let all = row.all();
    Alternative {
        production: grammar.productions()[alternative.production].name.clone(),
        choice: alternative.choice,
        text: alternative.text.clone(),
        entered: all.entered,
        matched: all.matched,
        state: state(row),
        shadowed_by: shadow(grammar, coverage, at),
        cut_by: cut(grammar, coverage, at),
        production_number: alternative.production,
        // A production that the optimiser moved elsewhere is never entered, whatever matches in its
        // place.
        first: alternative
            .first
            .filter(|&first| grammar.productions()[first].role == productions::Role::InUse),
    }
}

fn shadow(grammar: &Grammar, coverage: &Coverage, alternative: usize) -> Option<Shadow> {
    let shadow = coverage.shadows[alternative].as_ref()?;
    Some(Shadow {
        alternative: grammar.alternatives()[shadow.by].text.clone(),
        would_match: shadow.would_match,
        as_far: shadow.as_far,
        input: coverage.inputs[shadow.input].name.clone(),
    })
}

fn cut(grammar: &Grammar, coverage: &Coverage, alternative: usize) -> Option<Cut> {
    let cut = coverage.cuts[alternative].as_ref()?;
    Some(Cut {
        alternative: grammar.alternatives()[cut.by].text.clone(),
        inputs: cut.inputs,
        taken: cut.taken,
        bytes: cut.bytes,
        input: coverage.inputs[cut.input].name.clone(),
    })
}

/// The role of a production, as reports name it.
pub fn role(role: productions::Role) -> Role {
    match role {
        productions::Role::InUse => Role::InUse,
        productions::Role::Unused => Role::Unused,
        productions::Role::OptimisedAway => Role::OptimisedAway,
    }
}

fn tries(counts: &Counts) -> Tries {
    Tries { entered: counts.entered, matched: counts.matched }
}

fn state(row: &CoverageRow) -> State {
    match row.state() {
        productions::State::NeverEntered => State::NeverEntered,
        productions::State::NeverMatched => State::NeverMatched,
        productions::State::Matched => State::Matched,
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// FNV-1a, 64 bits, of the text of all files one after the other: two runs with the same digest had
/// the same grammar.
fn digest(sources: &[Source]) -> String {
    let bytes = sources.iter().flat_map(|source| source.text.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_published_function_of_the_text() {
        let of = |texts: &[&str]| {
            let source = |text: &&str| Source { name: "any".into(), text: (*text).to_owned() };
            digest(&texts.iter().map(source).collect::<Vec<_>>())
        };
        assert_eq!(of(&[""]), "cbf29ce484222325");
        assert_eq!(of(&["a"]), "af63dc4c8601ec8c");
        assert_eq!(of(&["foobar"]), "85944171f73967e8");
        assert_eq!(of(&["foo", "bar"]), of(&["foobar"]));
    }
}
