//! The patterns that both versions of regex-syntax parse and print.

/// Classes of Unicode, classes with ranges, and plain words.
pub const PATTERNS: [&str; 10] = [
    r"\w+\s\d",
    r"[\w--\d]+",
    r"[a-zA-Z_][a-zA-Z0-9_]*",
    r"(?i)straße|maß",
    r"\p{Greek}+|\p{Cyrillic}+",
    r"[^\p{L}\p{N}]",
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})",
    r"(foo|bar|baz)+?",
    r"[[:alpha:]&&[^aeiou]]",
    r"\bword\b.*$",
];
/// How often each pattern is parsed.
pub const ROUNDS: usize = 40;
