//! `--fail-on`: findings that fail a check, as `repeated > 5 %`.

use std::fmt;
use std::str::FromStr;

use super::{Certainty, Finding, Findings};
use crate::gate::Decision;
use crate::text::{clean, counted};

/// Word of a gate that stands for all kinds.
const ANY: &str = "any";
/// Maximum number of findings that the text names.
const NAMED: usize = 20;

/// Findings that fail a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    text: String,
    kind: String,
    /// Largest share that passes, in percent; `None` if each listed finding fails.
    limit: Option<f64>,
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Gate, String> {
        let help =
            "write 'repeated > 5 %', 'any > 10 %', or 'repeated' for each finding that is listed";
        let wrong = |what: &str| format!("`{}` is no check: {what}; {help}", text.trim());
        let (kind, limit) = match text.split_once('>') {
            None => (text, None),
            Some((kind, limit)) => {
                let number =
                    limit.trim().strip_suffix('%').ok_or_else(|| wrong("the `%` is missing"))?;
                let percent = number
                    .trim()
                    .parse::<f64>()
                    .ok()
                    .filter(|percent| (0.0..=100.0).contains(percent));
                (
                    kind,
                    Some(
                        percent
                            .ok_or_else(|| wrong("the percentage is no number from 0 to 100"))?,
                    ),
                )
            }
        };
        let kind = kind.trim();
        if kind.is_empty() || kind.contains(char::is_whitespace) {
            return Err(wrong("a kind is missing"));
        }
        Ok(Gate { text: text.trim().to_owned(), kind: kind.to_owned(), limit })
    }
}

/// Result of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Text of the gate, as it was written.
    pub gate: String,
    /// Decision, with its reason.
    pub decision: Decision,
    /// Number of estimated findings beyond the limit. They fail no check.
    pub estimated: usize,
}

impl Gate {
    /// Returns the word of the kind; `None` if the gate is about all kinds.
    pub fn kind(&self) -> Option<&str> {
        Some(self.kind.as_str()).filter(|kind| *kind != ANY)
    }

    /// Decides whether findings fail the check. Only new findings that are neither accepted nor
    /// estimated fail it.
    ///
    /// `damage` is what is missing of the recording ([`rows::damage`](crate::rows::damage)).
    pub fn judge(&self, findings: &Findings, damage: &[String]) -> Judgement {
        let is_of = |kind: &str| self.kind().is_none_or(|only| only == kind);
        let open =
            findings.found.iter().filter(|finding| is_of(&finding.kind) && finding.state.is_open());
        let beyond: Vec<&Finding> = open.filter(|finding| self.is_beyond(finding)).collect();
        let is_estimated =
            |finding: &&&Finding| matches!(finding.certainty, Certainty::Estimated(_));
        let estimated = beyond.iter().filter(is_estimated).count();
        let failing: Vec<&Finding> =
            beyond.into_iter().filter(|finding| !is_estimated(&finding)).collect();
        let decision = if !failing.is_empty() {
            Decision::Fails(sentence(&failing))
        } else if let Some(missing) = self.missing(findings, damage) {
            Decision::Undecided(missing)
        } else {
            Decision::Holds
        };
        Judgement { gate: self.text.clone(), decision, estimated }
    }

    /// Returns the reason why findings may be missing, if they may.
    fn missing(&self, findings: &Findings, damage: &[String]) -> Option<String> {
        let kind = match self.kind() {
            Some(kind) => kind,
            // A gate about all kinds concerns the kinds that were looked for. The first of them
            // stands for all.
            None => findings.looked_for.first().map_or(ANY, String::as_str),
        };
        if let Some(missing) = findings.not_looked_for.iter().find(|it| it.kind == kind) {
            return Some(format!("{kind} could not be looked for: {}", missing.why));
        }
        if !damage.is_empty() {
            let advice = "`metaspy verify` lists what is there";
            return Some(format!("the recording is damaged, so findings may be missing: {advice}"));
        }
        if !findings.totals.exact {
            let advice = "wait for its end";
            return Some(format!("the recording changes while it is read: {advice}"));
        }
        if !findings.looked_for.iter().any(|looked_for| looked_for == kind) {
            return Some(match &*findings.not_looked_for {
                [first, ..] if self.kind().is_none() => {
                    format!("no kind could be looked for: {}", first.why)
                }
                _ => format!("{kind} was not looked for: --kind or metaspy.toml leaves it out"),
            });
        }
        // Of all kinds, those are meant that the recording can show.
        let partly = findings.partly_looked_for.iter().find(|it| Some(&*it.kind) == self.kind());
        if let Some(partly) = partly {
            return Some(format!("{kind} was only partly looked for: {}", partly.why));
        }
        (findings.totals.stored < findings.totals.emitted).then(|| {
            let advice = "record all calls as events, with a larger METASPY_BUDGET";
            format!(
                "calls left the window or were only counted, so findings may be missing: {advice}"
            )
        })
    }

    fn is_beyond(&self, finding: &Finding) -> bool {
        match self.limit {
            None => !finding.is_small,
            Some(percent) => f64::from(finding.cost.share_ppm()) / 1e4 > percent,
        }
    }
}

fn sentence(failing: &[&Finding]) -> String {
    let mut text = counted(failing.len() as u64, "finding");
    for finding in failing.iter().take(NAMED) {
        let cost = super::text::cost(&finding.cost);
        text.push_str(&format!(
            "\n  {cost:<20}  {}  {}",
            clean(&finding.title),
            finding.fingerprint
        ));
    }
    match failing.len().saturating_sub(NAMED) {
        0 => {}
        more => text.push_str(&format!("\n  … and {more} more")),
    }
    text
}

impl Judgement {
    /// Returns true if the check fails.
    pub fn is_failure(&self) -> bool {
        matches!(self.decision, Decision::Fails(_))
    }

    /// Returns a sentence with the reason if the check cannot be decided.
    pub fn doubt(&self) -> Option<String> {
        match &self.decision {
            Decision::Undecided(why) => {
                Some(format!("--fail-on '{}' cannot be decided: {why}", self.gate))
            }
            Decision::Holds | Decision::Fails(_) => None,
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.decision {
            Decision::Holds => write!(f, "passed: {}", self.gate)?,
            Decision::Fails(why) => write!(f, "FAILED: {}: {why}", self.gate)?,
            Decision::Undecided(why) => write!(f, "UNDECIDED: {}: {why}", self.gate)?,
        }
        match self.estimated {
            0 => Ok(()),
            estimated => write!(
                f,
                " (not judged: {}, which are estimated)",
                counted(estimated as u64, "finding")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::super::{Baseline, Config, json};
    use super::*;

    /// Returns the findings of a program: one of the kind `leaves` that is certain, and one of
    /// `repeated` that is estimated.
    fn findings(config: &str, baseline: Option<Baseline>) -> Findings {
        let mut run = Run::new();
        for frame in 0..30 {
            run.call("page::frame", None, |run| {
                // The number of repetitions differs, so the repetitions are not planned.
                for round in 0..4 {
                    for node in (0..12).filter(|node| round <= (frame + node) % 4) {
                        run.leaf("page::Scene::layout", node, 20_000);
                    }
                }
            });
        }
        let own = "[[findings.own]]\nkind = \"leaves\"\nwhen = \"count(site:layout) > 1\"\ntitle = \"{site} runs\"";
        let config = Config::parse(&format!("{own}\n{config}"), &["repeated"])
            .expect("the settings are right");
        run.findings_of(&Config {
            baseline,
            kinds: vec!["repeated".into(), "leaves".into()],
            ..config
        })
    }

    fn check(gate: &str, findings: &Findings, expected: &str) {
        let judgement = gate.parse::<Gate>().expect("it is a gate").judge(findings, &[]);
        assert!(judgement.to_string().starts_with(expected), "{gate}: {judgement}");
    }

    #[test]
    fn a_certain_finding_beyond_the_limit_fails_and_an_estimated_one_never_does() {
        let found = findings("", None);
        check("leaves > 99 %", &found, "FAILED: leaves > 99 %: 1 finding\n  100 % of the time");
        check("leaves > 100 %", &found, "passed");
        check("leaves", &found, "FAILED");
        check("any > 20%", &found, "FAILED");
        check(
            "repeated > 1 %",
            &found,
            "passed: repeated > 1 % (not judged: 1 finding, which are estimated)",
        );
        check("backlog", &found, "UNDECIDED: backlog: backlog was not looked for");
    }

    #[test]
    fn known_and_accepted_findings_pass() {
        let found = findings("", None);
        let mut document = Vec::new();
        json::write(&mut document, &found, &[]).expect("memory can be written");
        let known = findings("", Some(Baseline::parse(&document).expect("it is a baseline")));
        check("any", &known, "passed: any");
        assert_eq!((known.listed().count(), known.found.len()), (0, 2));
        let fingerprint =
            &found.found.iter().find(|it| it.kind == "leaves").expect("it is found").fingerprint;
        let accepted = format!(
            "[[findings.accepted]]\nfingerprint = \"{fingerprint}\"\nreason = \"by design\""
        );
        check("leaves", &findings(&accepted, None), "passed");
    }

    #[test]
    fn what_could_not_be_looked_for_leaves_a_gate_undecided() {
        let nothing = Run::new().findings_of(&Config::default());
        check(
            "repeated > 5 %",
            &nothing,
            "UNDECIDED: repeated > 5 %: repeated could not be looked for: the program has no hooks",
        );
        check("any", &nothing, "UNDECIDED");
        let mut partly = findings("[findings.kinds.leaves]\noff = true", None);
        partly.found.clear();
        partly.totals.emitted += 1;
        check("repeated", &partly, "UNDECIDED: repeated: calls left the window");
    }

    #[test]
    fn a_gate_that_cannot_be_read_shows_how_to_write_one() {
        for text in
            ["", "> 5 %", "repeated > 5", "repeated > five %", "repeated > 101 %", "two words"]
        {
            let error = text.parse::<Gate>().expect_err("it is none");
            assert!(error.contains("write 'repeated > 5 %'"), "{error}");
        }
    }

    #[test]
    fn a_baseline_is_a_list_of_findings() {
        for text in ["", "[]", "{\"findings\": []}", "{\"format\": 2, \"findings\": []}"] {
            let error = Baseline::parse(text.as_bytes()).expect_err("it is none");
            assert!(error.contains("--json=FILE"), "{error}");
        }
    }
}
