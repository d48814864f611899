//! fancy-regex: backtracking with look-around and references.

use ::fancy_regex::Regex;

pub fn main() {
    let doubled = Regex::new(r"\b(\w+)\s+\1\b").unwrap();
    let amounts = Regex::new(r"(?<=\$)\d+(?!\.)").unwrap();
    let text = "it costs $12 or $13.50, and and the the price is $99 today ".repeat(8);
    crate::measure::measure(|_| {
        let count = |regex: &Regex| regex.find_iter(&text).filter(Result::is_ok).count();
        (count(&doubled) + count(&amounts)) as u64
    });
}
