//! The part of JSON Schema that the server uses. A word that is not known here is a fault.

use serde_json::{Map, Value};

/// What of a value is not as its schema says.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, schema, value, "$", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let words = match schema {
        Value::Object(words) => words,
        Value::Bool(true) => return,
        _ => return faults.push(format!("{at}: {schema} is no schema")),
    };
    for (word, expected) in words {
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "default" | "format" => {}
            "$ref" => {
                let pointer =
                    expected.as_str().and_then(|text| text.strip_prefix('#')).unwrap_or_default();
                match root.pointer(pointer) {
                    Some(schema) => check(root, schema, value, at, faults),
                    None => faults.push(format!("{at}: there is no {expected}")),
                }
            }
            "type" => {
                let types = expected.as_array().cloned().unwrap_or_else(|| vec![expected.clone()]);
                if !types.iter().any(|name| is_of_type(value, name.as_str().unwrap_or_default())) {
                    faults.push(format!("{at}: {value} is no {expected}"));
                }
            }
            "properties" => properties(root, words, value, at, faults),
            "additionalProperties" => {}
            "required" => {
                for name in expected.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if value.get(name).is_none() {
                        faults.push(format!("{at}: `{name}` is missing"));
                    }
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, expected, item, &format!("{at}[{number}]"), faults);
                }
            }
            "anyOf" | "oneOf" => {
                let passes = |schema: &Value| {
                    let mut faults = Vec::new();
                    check(root, schema, value, at, &mut faults);
                    faults.is_empty()
                };
                if !expected.as_array().is_some_and(|schemas| schemas.iter().any(passes)) {
                    faults.push(format!("{at}: {value} is none of {expected}"));
                }
            }
            "enum" => {
                if !expected.as_array().is_some_and(|values| values.contains(value)) {
                    faults.push(format!("{at}: {value} is none of {expected}"));
                }
            }
            "const" if value == expected => {}
            "minimum" if value.as_f64() >= expected.as_f64() => {}
            "maximum" if value.as_f64() <= expected.as_f64() => {}
            "minItems"
                if value.as_array().map(Vec::len)
                    >= expected.as_u64().map(|least| least as usize) => {}
            "maxItems"
                if value.as_array().map(Vec::len)
                    <= expected.as_u64().map(|most| most as usize) => {}
            _ => faults.push(format!("{at}: {word} {expected} does not hold of {value}")),
        }
    }
    if let (false, Value::Object(map), Some(more)) =
        (words.contains_key("properties"), value, words.get("additionalProperties"))
    {
        map.iter()
            .for_each(|(name, value)| check(root, more, value, &format!("{at}.{name}"), faults));
    }
}

/// Each key of an object is described.
fn properties(
    root: &Value,
    words: &Map<String, Value>,
    value: &Value,
    at: &str,
    faults: &mut Vec<String>,
) {
    for (name, value) in value.as_object().into_iter().flatten() {
        match words["properties"].get(name) {
            Some(schema) => check(root, schema, value, &format!("{at}.{name}"), faults),
            None => faults.push(format!("{at}: `{name}` is not described")),
        }
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[test]
fn a_value_that_is_not_as_its_schema_says_is_found() {
    let schema = serde_json::json!({
        "type": "object", "properties": { "a": { "type": "integer" }, "b": { "$ref": "#/$defs/B" } }, "required": ["a"],
        "$defs": { "B": { "enum": ["x"] } },
    });
    let count = |value| faults(&schema, &value).len();
    assert_eq!(count(serde_json::json!({ "a": 1, "b": "x" })), 0);
    assert_eq!(count(serde_json::json!({ "a": "1", "b": "y", "c": 0 })), 3);
    assert_eq!(count(serde_json::json!({ "b": "x" })), 1);
}
