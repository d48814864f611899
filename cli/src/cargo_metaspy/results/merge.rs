//! What a profiler of the user's own told of a function in several processes, as one.

use serde_json::{Map, Number, Value};

/// Adds what one more process told: numbers add up, lists are put together, what is true must be true everywhere, and of
/// all else what was told first stands.
pub fn into(all: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        let before = all.remove(&key).unwrap_or(Value::Null);
        all.insert(key, joined(before, value));
    }
}

fn joined(before: Value, more: Value) -> Value {
    match (before, more) {
        (Value::Null, value) | (value, Value::Null) => value,
        (Value::Number(a), Value::Number(b)) => Value::Number(sum(&a, &b)),
        (Value::Bool(a), Value::Bool(b)) => Value::Bool(a && b),
        (Value::Array(mut all), Value::Array(more)) => {
            for item in more {
                if !all.contains(&item) {
                    all.push(item);
                }
            }
            Value::Array(all)
        }
        (Value::Object(mut all), Value::Object(more)) => {
            into(&mut all, more);
            Value::Object(all)
        }
        (first, _) => first,
    }
}

fn sum(a: &Number, b: &Number) -> Number {
    if let (Some(a), Some(b)) = (a.as_u64(), b.as_u64()) {
        return a.saturating_add(b).into();
    }
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a.saturating_add(b).into();
    }
    let sum = a.as_f64().unwrap_or(0.0) + b.as_f64().unwrap_or(0.0);
    Number::from_f64(sum).unwrap_or_else(|| a.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_processes_told_is_put_together() {
        let Value::Object(mut all) = json!({ "n": 2, "f": 0.5, "ok": true, "list": [1], "text": "a", "none": null })
        else {
            panic!("it is an object")
        };
        let Value::Object(more) =
            json!({ "n": -3, "f": 1, "ok": false, "list": [1, 2], "text": "b", "none": 1, "new": { "x": 1 } })
        else {
            panic!("it is an object")
        };
        into(&mut all, more.clone());
        assert_eq!(
            Value::Object(all.clone()),
            json!({ "n": -1, "f": 1.5, "ok": false, "list": [1, 2], "text": "a", "none": 1, "new": { "x": 1 } })
        );
        into(&mut all, more);
        assert_eq!((&all["new"]["x"], &all["none"]), (&json!(2), &json!(2)));
    }
}
