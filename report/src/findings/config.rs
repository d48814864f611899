//! Settings of a search, from the command line and from `metaspy.toml`.

use std::collections::BTreeMap;

use metaspy_reader::Selector;
use serde::Deserialize;

use super::productions::SHADOWED;
use super::{Baseline, OwnKind, State};

/// Settings of a search.
#[derive(Clone, Debug)]
pub struct Config {
    /// Kinds to look for; all kinds if the list is empty.
    pub kinds: Vec<String>,
    /// Sites whose events are units of work; without them, the outermost causes that occur at least
    /// twenty times.
    pub unit: Option<Selector>,
    /// Least share of the time or of the events, from 0 to 1, that a finding must cost. Cheaper
    /// findings count as small.
    pub least_share: f64,
    /// Settings of single kinds, by the word of the kind.
    pub of_kinds: BTreeMap<String, KindSettings>,
    /// Findings that are accepted for good.
    pub accepted: Vec<Accepted>,
    /// Kinds that the user defines.
    pub own: Vec<OwnKind>,
    /// Findings of an earlier search.
    pub baseline: Option<Baseline>,
}

/// Settings of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KindSettings {
    /// True if the kind is not looked for.
    pub is_off: bool,
    /// Least share for findings of this kind, from 0 to 1, in place of the share for all kinds.
    pub least_share: Option<f64>,
    /// Thresholds that replace the thresholds of the detector, by their name in `THRESHOLDS`.
    pub at_least: BTreeMap<String, u64>,
}

/// Names of the thresholds that can be set, by kind.
const THRESHOLDS: [(&str, &[&str]); 4] = [
    ("backlog", &["messages", "wait-us"]),
    ("never-ended", &["subjects"]),
    ("repeated", &["calls", "subjects"]),
    ("slow-because", &["us"]),
];

/// Finding that the user accepts, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Fingerprint of the finding.
    pub fingerprint: String,
    /// Why it is accepted.
    pub reason: String,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            kinds: Vec::new(),
            unit: None,
            least_share: 0.01,
            of_kinds: BTreeMap::new(),
            accepted: Vec::new(),
            own: Vec::new(),
            baseline: None,
        }
    }
}

impl Config {
    /// Parses the text of a `metaspy.toml`. `kinds` are the words of the built-in kinds.
    ///
    /// # Errors
    ///
    /// Returns a sentence that names the key and the valid values.
    pub fn parse(text: &str, kinds: &[&str]) -> Result<Config, String> {
        let file: File =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        let file = file.findings;
        let own = file.own.into_iter().map(OwnKind::try_from).collect::<Result<Vec<_>, _>>()?;
        let taken = own.iter().enumerate().find(|(at, kind)| {
            kinds.contains(&kind.name())
                || own[..*at].iter().any(|other| other.name() == kind.name())
        });
        if let Some((_, kind)) = taken {
            return Err(format!(
                "own: there is a kind `{}` already: choose another name",
                kind.name()
            ));
        }
        let known: Vec<&str> = kinds.iter().copied().chain(own.iter().map(OwnKind::name)).collect();
        if let Some(unknown) = file.kinds.keys().find(|kind| !known.contains(&kind.as_str())) {
            return Err(format!(
                "kinds: there is no kind `{unknown}`: write one of {}",
                known.join(", ")
            ));
        }
        if let Some(accepted) =
            file.accepted.iter().find(|accepted| accepted.reason.trim().is_empty())
        {
            return Err(format!(
                "accepted: {} has no reason: write why it is right",
                accepted.fingerprint
            ));
        }
        let mut of_kinds = BTreeMap::new();
        for (kind, settings) in file.kinds {
            let least_share = settings.least_share.map(share).transpose()?;
            let known =
                THRESHOLDS.iter().find(|(of, _)| *of == kind).map_or(&[][..], |(_, names)| names);
            if let Some(unknown) =
                settings.at_least.keys().find(|name| !known.contains(&name.as_str()))
            {
                let names = if known.is_empty() {
                    "nothing: it has none".to_owned()
                } else {
                    known.join(", ")
                };
                return Err(format!(
                    "kinds.{kind}.at-least: there is no threshold `{unknown}`: write {names}"
                ));
            }
            of_kinds.insert(
                kind,
                KindSettings { is_off: settings.off, least_share, at_least: settings.at_least },
            );
        }
        let unit = file
            .unit
            .map(|unit| unit.parse().map_err(|error| format!("unit: {error}")))
            .transpose()?;
        let least_share = file.least_share.map_or(Ok(Config::default().least_share), share)?;
        Ok(Config {
            unit,
            least_share,
            of_kinds,
            accepted: file.accepted,
            own,
            ..Config::default()
        })
    }

    /// Returns true if a kind is looked for.
    pub fn wants(&self, kind: &str) -> bool {
        if self.kinds.is_empty() {
            return !self.of_kinds.get(kind).is_some_and(|settings| settings.is_off);
        }
        self.kinds.iter().any(|wanted| wanted == kind)
    }

    /// Returns the share below which a finding of this kind is small, from 0 to 1.
    pub fn least_share_of(&self, kind: &str) -> f64 {
        // An error in a grammar is an error however seldom the production is tried.
        let own = if kind == SHADOWED.kind { 0.0 } else { self.least_share };
        self.of_kinds.get(kind).and_then(|settings| settings.least_share).unwrap_or(own)
    }

    /// Returns a threshold of a kind: `usual`, unless the settings have another.
    pub(super) fn at_least(&self, kind: &str, name: &str, usual: u64) -> u64 {
        self.of_kinds
            .get(kind)
            .and_then(|settings| settings.at_least.get(name))
            .copied()
            .unwrap_or(usual)
    }

    /// Returns the state of a finding, which tells whether anybody has to look at it.
    pub(super) fn state_of(&self, fingerprint: &str) -> State {
        if let Some(accepted) =
            self.accepted.iter().find(|accepted| accepted.fingerprint == fingerprint)
        {
            return State::Accepted(accepted.reason.clone());
        }
        let is_known = self.baseline.as_ref().is_some_and(|baseline| baseline.knows(fingerprint));
        if is_known { State::Known } else { State::Open }
    }
}

/// Content of `metaspy.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    findings: Section,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct Section {
    unit: Option<String>,
    /// In percent.
    least_share: Option<f64>,
    kinds: BTreeMap<String, KindSection>,
    accepted: Vec<Accepted>,
    own: Vec<super::own_kind::OwnSection>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct KindSection {
    off: bool,
    /// In percent.
    least_share: Option<f64>,
    at_least: BTreeMap<String, u64>,
}

fn share(percent: f64) -> Result<f64, String> {
    if (0.0..=100.0).contains(&percent) {
        return Ok(percent / 100.0);
    }
    Err(format!("least-share: {percent} is no percentage: write a number from 0 to 100"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_thresholds_and_accepted_findings() {
        let text = r#"
            [findings]
            unit = "page::frame"
            least-share = 2

            [findings.kinds.repeated]
            least-share = 5
            at-least = { calls = 100 }

            [findings.kinds.backlog]
            off = true

            [[findings.accepted]]
            fingerprint = "repeated-0000000000000001"
            reason = "the canvas is cleared in each frame"
        "#;
        let config = Config::parse(text, &["repeated", "backlog"]).expect("it is right");
        assert!(config.unit.as_ref().is_some_and(|unit| unit.matches("page::frame")));
        assert_eq!(
            (config.least_share_of("repeated"), config.least_share_of("other")),
            (0.05, 0.02)
        );
        assert!(config.wants("repeated") && !config.wants("backlog"));
        assert_eq!(config.at_least("repeated", "calls", 20), 100);
        assert_eq!(config.at_least("repeated", "subjects", 8), 8);
        let accepted = State::Accepted("the canvas is cleared in each frame".to_owned());
        assert_eq!(config.state_of("repeated-0000000000000001"), accepted);
        assert_eq!(config.state_of("repeated-0000000000000002"), State::Open);
        let asked = Config { kinds: vec!["backlog".to_owned()], ..config };
        assert!(asked.wants("backlog") && !asked.wants("repeated"));
        assert_eq!(Config::parse("", &[]).expect("nothing is set").least_share, 0.01);
    }

    #[test]
    fn an_error_names_the_key_and_what_to_write() {
        let check = |text: &str, expected: &str| {
            let error = Config::parse(text, &["repeated"]).expect_err("it is wrong");
            assert!(error.contains(expected), "{error}");
        };
        check("[finding]", "unknown field `finding`");
        check("[findings]\nleast-share = 300", "least-share: 300 is no percentage");
        check("[findings]\nunit = \"\"", "unit: ");
        check(
            "[findings.kinds.repeatd]\noff = true",
            "there is no kind `repeatd`: write one of repeated",
        );
        let text = "[findings.kinds.repeated]\nat-least = { call = 3 }";
        check(text, "kinds.repeated.at-least: there is no threshold `call`: write calls, subjects");
        check("[[findings.accepted]]\nfingerprint = \"a\"", "missing field `reason`");
        check("[[findings.accepted]]\nfingerprint = \"a\"\nreason = \" \"", "a has no reason");
        let own =
            "[[findings.own]]\nkind = \"repeated\"\nwhen = \"count(*) > 1\"\ntitle = \"again\"";
        check(own, "there is a kind `repeated` already");
    }
}
