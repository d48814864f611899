//! `--baseline`: the methods that ran in an earlier run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::coverage::FORMAT;
use crate::program::{Element, Program};

/// The JSON of an earlier run, as far as it is compared.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    format: u32,
    methods: Vec<Earlier>,
    /// False if its counts are lower bounds.
    #[serde(default = "yes")]
    pub(super) exact: bool,
}

fn yes() -> bool {
    true
}

/// A method as it was.
#[derive(Debug, Deserialize)]
struct Earlier {
    path: String,
    /// `None` in the output of an older version.
    key: Option<String>,
    executions: Option<u64>,
    #[serde(default)]
    test: bool,
    /// `None` in the output of an older version.
    counted: Option<bool>,
}

impl Baseline {
    /// Parses the JSON of an earlier run.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let help = "write one with `cargo metaspy test --json=FILE`";
        let baseline: Baseline = serde_json::from_slice(json)
            .map_err(|error| format!("this is no output of `cargo metaspy`: {error}; {help}"))?;
        if baseline.format != FORMAT {
            return Err(format!(
                "its format is {}, and this version of metaspy reads {FORMAT}; {help}",
                baseline.format
            ));
        }
        if baseline.methods.iter().any(|method| method.executions.is_none()) {
            Err(format!("it is of a build that ran nothing; {help}"))
        } else {
            Ok(baseline)
        }
    }
}

/// The changes since the baseline, by the paths of methods with the type arguments of their impls.
/// Tests are left out.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// Methods that run now, and did not.
    pub gained: Vec<String>,
    /// Methods that ran, and do not now.
    pub lost: Vec<String>,
    /// Methods that were not in the program.
    pub new: Vec<String>,
    /// Methods that are no longer in the program, or not among those with a hook.
    pub gone: Vec<String>,
    /// The number of methods that are in both.
    #[serde(skip)]
    pub common: usize,
}

impl Comparison {
    /// Compares by path and type arguments. Methods that only their lines tell apart count as one,
    /// because lines move.
    pub fn new(before: &Baseline, now: &Program) -> Self {
        let has_keys = before.methods.iter().all(|method| method.key.is_some());
        let before = before.methods.iter().filter(|method| method.counted.unwrap_or(!method.test));
        let before =
            ran(before.map(|method| (method.name().to_owned(), method.executions.unwrap_or(0))));
        let name = |element: &Element| match element.method.as_deref() {
            Some(method) if has_keys => method.path_with_arguments(),
            _ => element.path_text().to_owned(),
        };
        let now = ran(now
            .methods()
            .filter(|method| method.method.as_ref().is_some_and(|method| method.is_counted()))
            .map(|element| (name(element), element.measure.count)));
        let both = |then: bool, today: bool| {
            let is_changed =
                |(name, ran): &(&String, &bool)| **ran == then && now.get(*name) == Some(&today);
            before.iter().filter(is_changed).map(|(name, _)| name.clone()).collect()
        };
        let only = |these: &BTreeMap<String, bool>, those: &BTreeMap<String, bool>| {
            these.keys().filter(|name| !those.contains_key(*name)).cloned().collect()
        };
        Comparison {
            gained: both(false, true),
            lost: both(true, false),
            new: only(&now, &before),
            gone: only(&before, &now),
            common: before.keys().filter(|name| now.contains_key(*name)).count(),
        }
    }
}

impl Earlier {
    /// Its path with the type arguments of its impl, where they are known.
    fn name(&self) -> &str {
        // A file and a line follow where that is not enough.
        self.key.as_deref().map_or(&self.path, |key| key.split('@').next().unwrap_or(key))
    }
}

/// By name, true if a method ran.
fn ran(methods: impl Iterator<Item = (String, u64)>) -> BTreeMap<String, bool> {
    let mut by_name = BTreeMap::new();
    for (name, count) in methods {
        *by_name.entry(name).or_default() |= count > 0;
    }
    by_name
}

#[cfg(test)]
mod tests {
    use metaspy_reader::RecordedSite;

    use super::*;
    use crate::program::testing::{program, woven};

    #[test]
    fn methods_are_compared_by_path_and_tests_are_left_out() {
        let json = r#"{ "format": 1, "methods": [
            { "path": "a::lost", "executions": 3 }, { "path": "a::gained", "executions": 0 }, { "path": "a::gone", "executions": 1 },
            { "path": "a::same", "executions": 1 }, { "path": "a::a_test", "executions": 1, "test": true },
            { "path": "a::fixture", "executions": 1, "counted": false } ] }"#;
        let before = Baseline::parse(json.as_bytes()).expect("it is a baseline");
        let now = program(&[
            (woven("a", "lost", "c=1"), 0),
            (woven("a", "gained", "c=1"), 2),
            (woven("a", "same", "c=1"), 9),
            (woven("a", "new", "c=1"), 0),
            (woven("a", "a_test", "c=1 test"), 0),
        ]);
        let list = |path: &str| vec![path.to_owned()];
        let expected = Comparison {
            gained: list("a::gained"),
            lost: list("a::lost"),
            new: list("a::new"),
            gone: list("a::gone"),
            common: 3,
        };
        assert_eq!(Comparison::new(&before, &now), expected);
    }

    #[test]
    fn methods_of_one_path_are_compared_apart_if_their_arguments_are_known() {
        let eq = |arguments: &str, line: u32| RecordedSite {
            lines: (line, line),
            ..woven(
                "a",
                "Slice::PartialEq::eq",
                &format!("c=1 type=Slice trait=PartialEq traitargs=<{arguments}>"),
            )
        };
        let now = program(&[(eq("u8", 9), 5), (eq("String", 12), 0)]);
        let earlier = |arguments: &str| {
            let path = "a::Slice::PartialEq::eq";
            format!(
                r#"{{ "path": "{path}", "key": "a::Slice::PartialEq<{arguments}>::eq@src/lib.rs:2", "executions": 1 }}"#
            )
        };
        let compare = |methods: &str| {
            let json = format!(r#"{{ "format": 1, "methods": [{methods}] }}"#);
            Comparison::new(&Baseline::parse(json.as_bytes()).expect("it is a baseline"), &now)
        };
        let both = compare(&[earlier("u8"), earlier("String")].join(", "));
        assert_eq!(
            (both.lost, both.common),
            (vec!["a::Slice::PartialEq<String>::eq".to_owned()], 2)
        );
        // The output of an older version does not tell them apart.
        let old = compare(r#"{ "path": "a::Slice::PartialEq::eq", "executions": 2 }"#);
        assert_eq!((old.lost, old.common), (Vec::new(), 1));
    }

    #[test]
    fn what_is_no_baseline_shows_how_to_write_one() {
        for json in [
            &b""[..],
            b"{}",
            br#"{ "format": 9, "methods": [] }"#,
            br#"{ "format": 1, "methods": [{ "path": "a", "executions": null }] }"#,
        ] {
            let error = Baseline::parse(json).expect_err("it is none");
            assert!(error.contains("`cargo metaspy test --json=FILE`"), "{error}");
        }
    }
}
