//! serde_json: a document is read and written.

use ::serde_json::Value;

pub fn main() {
    let row = |at: usize| format!(r#"{{"id":{at},"name":"row \"{at}\"","share":{at}.25,"tags":["a","b",null,true]}}"#);
    let text = format!("[{}]", (0..200).map(row).collect::<Vec<_>>().join(","));
    crate::measure::measure(|_| {
        let value: Value = ::serde_json::from_str(&text).unwrap();
        ::serde_json::to_string(&value).unwrap().len() as u64
    });
}
