//! textwrap: paragraphs are broken into lines.

pub fn main() {
    let text = "The quick brown fox jumps over the lazy dog, and a well-known hyphenated-word follows. ".repeat(20);
    crate::measure::measure(|at| ::textwrap::fill(&text, 30 + at as usize % 50).len() as u64);
}
