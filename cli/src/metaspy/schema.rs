//! `metaspy schema`: the shapes of JSON outputs, as JSON Schemas.
//!
//! The schemas are documents of their own, instead of derives on the types that are written: half
//! of the outputs have no such type, a derive would add a dependency to the commands, and units and
//! conditions need words either way. They cannot drift, because the tests of all commands validate
//! each output, and every object is closed. They are in this package, because it alone has all
//! commands.

use std::io::Write;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use metaspy_report::table::{Column, Table};
use serde::Deserialize;

use crate::exit::Ended;

/// The schema of one output.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    name: &'static str,
    /// Commands that write such an output, separated by commas. Words with `|` stand for several
    /// commands.
    written_by: &'static str,
    text: &'static str,
}

macro_rules! schema {
    ($name:literal, $written_by:literal) => {
        Schema {
            name: $name,
            written_by: $written_by,
            text: include_str!(concat!("../../schemas/", $name, ".json")),
        }
    };
}

/// All schemas, with those that are used most often first. A command with several has the one of
/// its plain form first.
const SCHEMAS: [Schema; 17] = [
    schema!("report", "metaspy report --json"),
    schema!("contexts", "metaspy report --contexts --json"),
    schema!("allocations", "metaspy report --allocations --json"),
    schema!("functions", "metaspy report --functions --json"),
    schema!("types", "metaspy report --types --json"),
    schema!("kept", "metaspy report --kept --json"),
    schema!("findings", "metaspy findings --json"),
    schema!("diff", "metaspy diff --json"),
    schema!("run", "cargo metaspy build|run|test|nextest|bench --json, metaspy export --to json"),
    schema!("event", "metaspy export --to jsonl"),
    schema!("sample", "metaspy sample --json"),
    schema!("instructions", "metaspy instructions --json"),
    schema!("blueprint", "metaspy blueprint --json"),
    schema!("grammar", "metaspy grammar --json"),
    schema!("grammar-report", "metaspy grammar report --json"),
    schema!("verify", "metaspy verify --json"),
    schema!("list", "metaspy list --json"),
];
/// The reference of the schema `run` to another one, which is printed in its place: a script reads
/// one file.
const TYPES: &str = r#"{ "$ref": "types.json" }"#;

#[derive(Deserialize)]
struct Titled {
    title: String,
}

impl Schema {
    /// Parses the name of a schema.
    pub fn parser() -> impl TypedValueParser<Value = Schema> {
        let names = PossibleValuesParser::new(SCHEMAS.map(|schema| schema.name));
        names.map(|name| Schema::named(&name).expect("the parser accepts only these names"))
    }

    fn named(name: &str) -> Option<Schema> {
        SCHEMAS.into_iter().find(|schema| schema.name == name)
    }

    /// The whole document.
    fn document(self) -> String {
        match Schema::named("types") {
            Some(types) if self.text.contains(TYPES) => {
                self.text.replace(TYPES, &types.text.trim_end().replace('\n', "\n    "))
            }
            _ => self.text.to_owned(),
        }
    }

    fn title(self) -> Result<String> {
        Ok(serde_json::from_str::<Titled>(self.text)?.title)
    }
}

/// Prints a schema, or lists all of them.
pub fn run(schema: Option<Schema>, out: &mut impl Write) -> Result<Ended> {
    match schema {
        Some(schema) => out.write_all(schema.document().as_bytes())?,
        None => list(out)?,
    }
    out.flush()?;
    Ok(Ended::Fine)
}

fn list(out: &mut impl Write) -> Result<()> {
    let titles = SCHEMAS.into_iter().map(Schema::title).collect::<Result<Vec<_>>>()?;
    let table = Table::new([
        Column::words("schema", SCHEMAS.map(|schema| schema.name.to_owned())),
        Column::words("output", titles),
        Column::words("written by", SCHEMAS.map(|schema| schema.written_by.to_owned())),
    ]);
    table.lines().try_for_each(|line| writeln!(out, "{line}"))?;
    Ok(writeln!(out, "\nmetaspy schema NAME prints one.")?)
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};
    use serde_json::Value;

    use super::*;
    use crate::metaspy::arguments::Cli;

    /// The commands that have an option `--json`, with the words that lead to them.
    fn with_json(command: &Command, words: &str) -> Vec<String> {
        let own = command.get_arguments().any(|argument| argument.get_long() == Some("json"));
        let below = command
            .get_subcommands()
            .flat_map(|below| with_json(below, &format!("{words} {}", below.get_name())));
        own.then(|| words.to_owned()).into_iter().chain(below).collect()
    }

    /// Each command of a list, without `|` and `,`.
    fn commands(written_by: &str) -> Vec<String> {
        let alternatives = |line: &str| {
            line.split(' ').fold(vec![String::new()], |lines, word| {
                let further = |line: &String| {
                    word.split('|').map(|word| format!("{line} {word}")).collect::<Vec<_>>()
                };
                lines.iter().flat_map(further).collect()
            })
        };
        let all = written_by.split(", ").flat_map(alternatives);
        all.map(|line| line.trim_start().to_owned()).collect()
    }

    #[test]
    fn every_command_that_writes_json_has_a_schema() {
        let mut needed = with_json(&Cli::command(), "metaspy");
        #[cfg(feature = "weave")]
        needed.extend(with_json(&crate::cargo_metaspy::arguments::Cli::command(), "cargo metaspy"));
        assert!(needed.len() >= 5, "{needed:?}");
        let described: Vec<String> =
            SCHEMAS.iter().flat_map(|schema| commands(schema.written_by)).collect();
        for command in needed {
            assert!(
                described.contains(&format!("{command} --json")),
                "`{command} --json` has no schema"
            );
        }
    }

    #[test]
    fn every_schema_is_named_and_every_property_described() {
        fn assert_described(value: &Value, name: &str) {
            if let Some(Value::Object(properties)) = value.get("properties") {
                for (property, of) in properties {
                    let text = of.get("description").and_then(Value::as_str).unwrap_or_default();
                    assert!(text.ends_with('.'), "{name}: `{property}` has no description: {text}");
                    let unit =
                        [("_ns", "nanoseconds"), ("_us", "microseconds"), ("_percent", "percent")];
                    for (_, unit) in unit.iter().filter(|(end, _)| property.ends_with(end)) {
                        assert!(
                            text.contains(unit),
                            "{name}: `{property}` is not in {unit}: {text}"
                        );
                    }
                }
                assert_eq!(value["additionalProperties"], false, "{name}: an object is open");
            }
            let inner: Vec<&Value> = match value {
                Value::Object(members) => members.values().collect(),
                Value::Array(elements) => elements.iter().collect(),
                _ => Vec::new(),
            };
            inner.into_iter().for_each(|value| assert_described(value, name));
        }
        for schema in SCHEMAS {
            let document: Value = serde_json::from_str(&schema.document()).expect("it is JSON");
            assert_described(&document, schema.name);
            let id = document["$id"].as_str().unwrap_or_default();
            assert!(id.ends_with(&format!("/cli/schemas/{}.json", schema.name)), "{id}");
        }
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/schemas"))
            .expect("it is there");
        assert_eq!(files.count(), SCHEMAS.len(), "a file in `schemas` is no schema of the list");
    }
}
