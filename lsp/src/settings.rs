//! Settings of a client, under the name `metaspy`. A change takes effect at once.

use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::heat::{Metric, Scale};

/// Settings of a client.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    /// Metric of the heat.
    #[serde(deserialize_with = "or_default")]
    pub metric: Metric,
    /// Scale on which the metric's values are compared.
    #[serde(deserialize_with = "or_default")]
    pub scale: Scale,
    /// Selection of the runs that are shown.
    #[serde(deserialize_with = "or_default")]
    pub runs: Selection,
    /// Recordings, or directories of recordings, that replace those that the server finds.
    #[serde(deserialize_with = "or_default")]
    pub recordings: Vec<PathBuf>,
    /// Target directories of `cargo metaspy`, if they differ from cargo's.
    #[serde(deserialize_with = "or_default")]
    pub targets: Vec<PathBuf>,
    /// Shows code lenses above functions.
    pub lenses: Flag,
    /// Shows hints at functions that never ran.
    pub hints: Flag,
    /// Looks for findings, and shows them as diagnostics.
    pub findings: Flag,
    /// Shows inlay hints with the receivers of calls.
    pub inlays: Flag,
    /// Shows hovers.
    pub hovers: Flag,
    /// Shows document symbols with their numbers.
    pub symbols: Flag,
    /// Adds links to hovers.
    pub links: Flag,
    /// Sentences for the user about mistakes in the settings.
    #[serde(skip)]
    pub mistakes: Vec<String>,
}

/// Setting that is on unless it is `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag(pub bool);

/// Selection of the runs that are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// `"newest"`: the newest run of each workspace that recorded a function.
    #[default]
    Newest,
    /// `"all"`: the sum of all runs.
    All,
    /// Names of runs, whose sum is shown.
    Picked(Vec<String>),
}

impl Settings {
    /// Reads settings, which may be the value of `metaspy` in an object. Unreadable values have
    /// their defaults.
    pub fn read(settings: &Value) -> Settings {
        let own = settings.get("metaspy").unwrap_or(settings);
        let mut settings = Settings::deserialize(own).unwrap_or_default();
        if let Some(metric) = own.get("metric").filter(|metric| !metric.is_null())
            && Metric::deserialize(metric).is_err()
        {
            let known = Metric::ALL.map(Metric::word).join(", ");
            settings.mistakes.push(format!(
                "metaspy: the setting `metric` is {metric}; it must be one of: {known}"
            ));
        }
        settings
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            metric: Metric::default(),
            scale: Scale::default(),
            runs: Selection::default(),
            recordings: Vec::new(),
            targets: Vec::new(),
            lenses: Flag(true),
            hints: Flag(true),
            findings: Flag(true),
            inlays: Flag(true),
            hovers: Flag(true),
            symbols: Flag(true),
            links: Flag(true),
            mistakes: Vec::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Flag(Value::deserialize(deserializer)? != Value::Bool(false)))
    }
}

/// Reads a value, or takes its default. A mistake in a setting does not affect other settings.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + for<'a> Deserialize<'a>,
{
    Ok(T::deserialize(Value::deserialize(deserializer)?).unwrap_or_default())
}

impl Serialize for Selection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Selection::Newest => "newest".serialize(serializer),
            Selection::All => "all".serialize(serializer),
            Selection::Picked(names) => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == "newest" => Ok(Selection::Newest),
            Value::String(word) if word == "all" => Ok(Selection::All),
            names => Vec::deserialize(names).map(Selection::Picked).map_err(D::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mistake_does_not_undo_the_other_settings() {
        let read = Settings::read(&json!({
            "metaspy": { "metric": "self-time", "scale": 7, "runs": ["3", "4"], "lenses": false, "links": "no", "more": [] }
        }));
        let expected = Settings {
            metric: Metric::SelfTime,
            runs: Selection::Picked(vec!["3".into(), "4".into()]),
            lenses: Flag(false),
            ..Settings::default()
        };
        assert_eq!(read, expected);
        for nothing in [
            json!(null),
            json!({}),
            json!({ "metaspy": null }),
            json!([1]),
            json!({ "metric": null }),
        ] {
            assert_eq!(Settings::read(&nothing), Settings::default());
        }
    }

    #[test]
    fn an_unknown_metric_is_a_mistake_with_the_known_names() {
        let read = Settings::read(&json!({ "metric": "heat", "lenses": false }));
        assert_eq!((read.metric, read.lenses), (Metric::Calls, Flag(false)));
        let expected = "metaspy: the setting `metric` is \"heat\"; it must be one of: calls, self-time, total-time, \
                        time-per-call, receivers, allocations, memory, instructions, allocations-per-call, memory-per-call, \
                        instructions-per-call";
        assert_eq!(read.mistakes, [expected]);
        assert!(
            Metric::ALL.iter().all(|metric| json!(metric) == json!(metric.word())),
            "a word is a setting"
        );
    }

    #[test]
    fn runs_are_a_word_or_a_list() {
        for (value, expected) in
            [("all", Selection::All), ("newest", Selection::Newest), ("x", Selection::Newest)]
        {
            assert_eq!(Settings::read(&json!({ "runs": value })).runs, expected);
        }
        assert_eq!(json!(Selection::All), json!("all"));
    }
}
