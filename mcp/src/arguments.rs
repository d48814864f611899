//! What all tools accept: a cursor and a size. Errors name the arguments that there are.

use std::borrow::Cow;

use metaspy_reader::Selector;
use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::answer::{BYTES, BYTES_ALLOWED, ToolError};
use crate::watch::Watch;

/// The key of the cursor.
const CURSOR: &str = "cursor";
/// The key of the size.
const MAX_BYTES: &str = "max_bytes";

/// A call of a tool, beside its own arguments.
pub struct Call<'w> {
    /// Progress and cancellation.
    pub watch: &'w Watch,
    /// Where a cursor goes on.
    place: Option<String>,
}

impl Call<'_> {
    /// Returns the place of the cursor.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// Returns the number of items before the first one that is wanted.
    pub fn start(&self) -> Result<u64, ToolError> {
        let Some(place) = self.place() else { return Ok(0) };
        place.parse().map_err(|_| wrong_cursor())
    }
}

/// A choice that has a word for each of its values, such as what the rows of a report are about.
pub trait Choice: Copy + 'static {
    /// Returns all values.
    fn all() -> Vec<Self>;
    /// Returns the word for the value.
    fn word(self) -> &'static str;
    /// Describes the value in a line.
    fn description(self) -> &'static str;
}

/// An argument that is one of the words of a choice.
#[derive(Clone, Copy, Default)]
pub struct OneOf<C>(pub C);

impl<'de, C: Choice> Deserialize<'de> for OneOf<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let all = C::all();
        let found = all.iter().find(|choice| choice.word() == text);
        found.map(|choice| OneOf(*choice)).ok_or_else(|| {
            let words: Vec<String> =
                all.iter().map(|choice| format!("`{}`", choice.word())).collect();
            D::Error::custom(format!("`{text}` is none of {}", words.join(", ")))
        })
    }
}

impl<C: Choice> JsonSchema for OneOf<C> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OneOf".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let of = |choice: C| json!({ "type": "string", "const": choice.word(), "description": choice.description() });
        json_schema!({ "oneOf": C::all().into_iter().map(of).collect::<Vec<_>>() })
    }
}

/// The arguments that all tools have in common.
pub struct Common {
    /// Where the cursor goes on.
    place: Option<String>,
    /// Bytes of the answer.
    pub max_bytes: usize,
    /// A number that the tool and its arguments have, so that a cursor of another call is noticed.
    mark: u32,
}

impl Common {
    /// Takes the common arguments out of those of a tool.
    pub fn take(tool: &str, arguments: &mut JsonObject) -> Result<Common, ToolError> {
        let max_bytes = match arguments.remove(MAX_BYTES) {
            None | Some(Value::Null) => BYTES,
            Some(value) => value
                .as_u64()
                .and_then(|bytes| usize::try_from(bytes).ok())
                .filter(|bytes| BYTES_ALLOWED.contains(bytes))
                .ok_or_else(|| {
                    let least = BYTES_ALLOWED.start();
                    let most = BYTES_ALLOWED.end();
                    ToolError::new(format!("max_bytes is a number from {least} to {most}"))
                })?,
        };
        let cursor = arguments.remove(CURSOR);
        arguments.retain(|_, value| !value.is_null());
        let mark = mark(tool, arguments);
        let place = match cursor {
            None | Some(Value::Null) => None,
            Some(Value::String(cursor)) => Some(place(&cursor, mark)?),
            Some(_) => return Err(wrong_cursor()),
        };
        Ok(Common { place, max_bytes, mark })
    }

    /// Returns the call with this watch.
    pub fn call<'w>(&self, watch: &'w Watch) -> Call<'w> {
        Call { watch, place: self.place.clone() }
    }

    /// Writes a cursor.
    pub fn cursor(&self, place: &str) -> String {
        format!("{place}~{:08x}", self.mark)
    }
}

/// Describes the common arguments in the schema of a tool's input.
pub fn describe(schema: &mut JsonObject) {
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Value::Object(properties) = properties else { return };
    let cursor =
        "The next_cursor of the last answer, with otherwise the same arguments: goes on behind it";
    let size = format!("Bytes of the answer at most [default: {BYTES}]");
    properties.insert(CURSOR.to_owned(), json!({ "type": "string", "description": cursor }));
    properties.insert(
        MAX_BYTES.to_owned(),
        json!({
            "type": "integer",
            "minimum": BYTES_ALLOWED.start(),
            "maximum": BYTES_ALLOWED.end(),
            "description": size,
        }),
    );
}

/// Parses the own arguments of a tool. `known` are the names that it has.
pub fn parse<I: DeserializeOwned>(arguments: JsonObject, known: &[String]) -> Result<I, ToolError> {
    let wrong = arguments.keys().find(|key| !known.contains(key)).cloned();
    if let Some(wrong) = wrong {
        let names = known.iter().map(String::as_str).chain([CURSOR, MAX_BYTES]);
        let all = names.clone().collect::<Vec<_>>().join(", ");
        let advice = did_you_mean(&wrong, names).unwrap_or_else(|| format!("there are {all}"));
        return Err(ToolError::new(format!("there is no argument `{wrong}`: {advice}")));
    }
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| ToolError::new(format!("{error}")))
}

/// Returns the names that are most like a word: `did you mean run.spy?`
pub fn did_you_mean<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let selector: Selector = word.parse().ok()?;
    let nearest = selector.nearest(names);
    (!nearest.is_empty()).then(|| format!("did you mean {}?", nearest.join(", ")))
}

fn place(cursor: &str, mark: u32) -> Result<String, ToolError> {
    let (place, of) = cursor.rsplit_once('~').ok_or_else(wrong_cursor)?;
    match u32::from_str_radix(of, 16) {
        Ok(of) if of == mark => Ok(place.to_owned()),
        Ok(_) => Err(
            "this cursor is of a call with other arguments: repeat those, or leave the cursor out"
                .into(),
        ),
        Err(_) => Err(wrong_cursor()),
    }
}

fn wrong_cursor() -> ToolError {
    "this is no cursor: take the next_cursor of an answer, or leave it out".into()
}

/// FNV-1a, of the tool and its arguments.
fn mark(tool: &str, arguments: &JsonObject) -> u32 {
    let text = format!("{tool} {}", serde_json::to_string(arguments).unwrap_or_default());
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
