//! Findings for programs. `docs/report.md` describes the keys.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::baseline::FORMAT;
use super::{Cost, Finding, Findings, Judgement, State};
use crate::gate::Decision;

/// Writes all findings and checks as one object.
pub fn write(out: &mut dyn Write, findings: &Findings, checks: &[Judgement]) -> io::Result<()> {
    let not_looked_for =
        findings.not_looked_for.iter().map(|it| json!({ "kind": it.kind, "why": it.why }));
    let partly =
        findings.partly_looked_for.iter().map(|it| json!({ "kind": it.kind, "why": it.why }));
    let object = json!({
        "format": FORMAT,
        "calls": findings.totals,
        "recorded_ns": findings.recorded_ns,
        "findings": (1..).zip(&findings.found).map(|(number, it)| finding(number, it)).collect::<Vec<_>>(),
        "looked_for": findings.looked_for,
        "not_looked_for": not_looked_for.collect::<Vec<_>>(),
        "partly_looked_for": partly.collect::<Vec<_>>(),
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &object)?;
    writeln!(out)
}

fn finding(number: usize, finding: &Finding) -> Value {
    let sites = finding
        .sites
        .iter()
        .map(|site| json!({ "path": site.path, "file": site.file, "line": site.line }));
    let worst =
        finding.subjects.worst.iter().map(
            |it| json!({ "kind": it.subject.kind.0, "key": it.subject.key, "text": it.text, "events": it.events }),
        );
    let numbers: Map<String, Value> = finding
        .evidence
        .numbers
        .iter()
        .map(|(name, number)| ((*name).to_owned(), (*number).into()))
        .collect();
    json!({
        "number": number,
        "kind": finding.kind,
        "title": finding.title,
        "sites": sites.collect::<Vec<_>>(),
        "subjects": {
            "kind": finding.subjects.kind,
            "count": finding.subjects.count,
            "worst": worst.collect::<Vec<_>>(),
        },
        "cost": cost(&finding.cost),
        "evidence": {
            "text": finding.evidence.text,
            "numbers": numbers,
            "events": finding.evidence.events.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "filter": finding.evidence.filter,
        },
        "certainty": finding.certainty.word(),
        "certain_because": finding.certainty.reason(),
        "advice": finding.advice,
        "needs": finding.needs,
        "fingerprint": finding.fingerprint,
        "implied_by": finding.implied_by.map(|at| at + 1),
        "small": finding.is_small,
        "state": finding.state.word(),
        "accepted_because": match &finding.state {
            State::Accepted(reason) => Some(reason),
            State::Open | State::Known => None,
        },
    })
}

fn check(judgement: &Judgement) -> Value {
    let (holds, why) = match &judgement.decision {
        Decision::Holds => (Some(true), None),
        Decision::Fails(why) => (Some(false), Some(why)),
        Decision::Undecided(why) => (None, Some(why)),
    };
    json!({ "check": judgement.gate, "holds": holds, "why": why, "estimated": judgement.estimated })
}

pub(super) fn cost(cost: &Cost) -> Value {
    json!({
        "time_ns": cost.time_ns,
        "time_of": cost.of.word(),
        "events": cost.events,
        "time_share": f64::from(cost.time_ppm) / 1e6,
        "events_share": f64::from(cost.events_ppm) / 1e6,
        "at_least": cost.at_least,
    })
}
