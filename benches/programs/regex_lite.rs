//! regex-lite: patterns are compiled and searched.

use ::regex_lite::Regex;

pub fn main() {
    let text = "2026-11-23 error: file src/main.rs not found; 2026-11-24 warning: unused x ".repeat(4);
    crate::measure::measure(|_| {
        let regex = Regex::new(r"(?<date>\d{4}-\d{2}-\d{2}) (error|warning): ([a-z ]+)").unwrap();
        regex.captures_iter(&text).map(|found| found["date"].len()).sum::<usize>() as u64
    });
}
