//! Shifts and masks of recorded words belong to `metaspy-core/format`.
//!
//! The writer and the readers may not take a word apart themselves: `end >> 59 & 7` compiles
//! wherever it is written, and nothing fails when the layout moves. So outside the format each
//! shift by a constant and each mask with a number is a fault, unless the line is listed below with
//! the reason why it is no layout.

use super::source::Source;

/// Packages that handle recorded words.
const ROOMS: &[&str] = &[
    "metaspy-core/src/",
    "metaspy-core/recorder/src/",
    "metaspy-core/reader/src/",
    "report/src/",
    "tui/src/",
    "cli/src/",
];
/// The room of the layout, at its place and at the one that it had before it was a package.
const FORMAT: &[&str] = &["metaspy-core/format/", "metaspy-core/src/format/"];

/// Lines that shift or mask something else than a recorded word: the end of a path, a part of the
/// line (all lines of the file if it is empty), the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("arm/mod.rs", "", "the arm word of a site is in the memory of the process only"),
    (
        "causality.rs",
        "EVENT_BITS",
        "a carried cause is a number in a message, and no word of a recording",
    ),
    ("causes/effects.rs", "PLACE_BITS", "pairs of an index that is built in memory"),
    ("method_profilers/dispatch.rs", "", "a set of profilers, one bit each"),
    ("method_profilers/identity_set.rs", "identity >> 32", "the first cell of a hash table"),
    ("method_profilers/returns.rs", "", "what is known of a method's values, in memory"),
    ("platform/truncation.rs", "SA_SIGINFO", "flags of a signal handler"),
    ("recorder/begin.rs", "LOG_AT", "the number of the log is in a guard, and in no recording"),
    ("recorder/begin.rs", "PANICKING: u64", "a bit of a guard"),
    ("recorder/begin.rs", "LOOKED_INTO: u64", "a bit of a guard"),
    ("recorder/begin.rs", "lane.roll() >> 32", "a random number"),
    ("recorder/collector.rs", "mebibytes", "a unit"),
    ("recorder/lane.rs", "<< 56 ^ id", "the last call of an earlier file, in a thread's memory"),
    ("recorder/populate.rs", "mebibytes", "a unit"),
    ("recording/directory.rs", "0o002", "permissions of a file"),
    ("recording/directory.rs", "0o1020", "permissions of a file"),
    ("remote.rs", "parent.trace >> 64", "halves of a W3C trace id"),
    ("remote.rs", "number << 4", "a hexadecimal digit"),
    ("table/keys.rs", "row::product", "the first cell of a hash table"),
    ("trigger/pattern.rs", "", "a set of filters, one bit each"),
];

/// The faults, and the exceptions that match no line.
pub fn faults(sources: &[Source]) -> (Vec<String>, Vec<String>) {
    let mut used = vec![false; EXCEPTIONS.len()];
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| in_a_room(source)) {
        for (at, line) in source.code.lines().enumerate() {
            if !shifts_or_masks(line) {
                continue;
            }
            let excepted = EXCEPTIONS
                .iter()
                .position(|(path, part, _)| source.path.ends_with(path) && line.contains(part));
            match excepted {
                Some(exception) => used[exception] = true,
                None => faults.push(format!("{}:{}: {}", source.path, at + 1, line.trim())),
            }
        }
    }
    let needless = EXCEPTIONS.iter().zip(used).filter(|(_, used)| !used);
    (faults, needless.map(|((path, part, _), _)| format!("{path}: {part}")).collect())
}

fn in_a_room(source: &Source) -> bool {
    source.is_product()
        && ROOMS.iter().any(|room| source.path.starts_with(room))
        && !FORMAT.iter().any(|room| source.path.starts_with(room))
}

/// True if the line shifts by a constant, or masks with a number or a constant.
fn shifts_or_masks(line: &str) -> bool {
    // No recorded word is a `usize`: such a constant is a limit.
    let is_limit = line.contains("const ") && line.contains(": usize =");
    let is_hash_or_dice = line.contains("wrapping_mul(") || line.contains(" ^= ");
    // The low bits of a pointer carry tags.
    let is_tag = line.contains("addr()") || line.contains("map_addr(");
    if is_limit || is_hash_or_dice || is_tag {
        return false;
    }
    let tokens = tokens(line);
    let token = |at: usize| tokens.get(at).copied().unwrap_or("");
    (1..tokens.len()).any(|at| match token(at) {
        "<<" | ">>" | "<<=" | ">>=" => {
            let size = is_number(token(at - 1)) && token(at) == "<<" && is_size(token(at + 1));
            !size && is_constant(&tokens[at + 1..])
        }
        "&" | "&=" => is_operand(token(at - 1)) && is_mask(&tokens[at + 1..]),
        _ => false,
    })
}

/// Numbers, names, and operators. A closing `>>` of generics is followed by no constant.
fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            let long = ["<<=", ">>=", "<<", ">>", "&&", "&=", "::", "->", "=>"];
            long.iter()
                .find(|operator| rest.starts_with(**operator))
                .map_or(first.len_utf8(), |operator| operator.len())
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

/// `1 << 20` is a number of bytes or entries. No field of a recording begins at these bits.
fn is_size(token: &str) -> bool {
    matches!(token, "10" | "12" | "14" | "15" | "20" | "30" | "40")
}

/// A number or a path that ends in capitals, as `slot::TAG_SHIFT`, perhaps in parentheses.
fn is_constant(tokens: &[&str]) -> bool {
    let mut tokens = tokens.iter().skip_while(|token| matches!(**token, "(" | "::"));
    let Some(mut last) = tokens.next() else { return false };
    if is_number(last) {
        return true;
    }
    while let Some(&"::") = tokens.next() {
        match tokens.next() {
            Some(next) => last = next,
            None => return false,
        }
    }
    is_capitals(last)
}

/// `7`, `0xFFFF`, `EPOCH_MASK`, `!0xFFFF`, `((1 << BITS) - 1)`. A `1` tests a bit, too.
fn is_mask(tokens: &[&str]) -> bool {
    let from = tokens.iter().take_while(|token| matches!(**token, "(" | "!")).count();
    is_constant(&tokens[from..])
}

fn is_capitals(token: &str) -> bool {
    token.len() > 1
        && token.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// True for what stands before a binary operator. Without it `&` is a reference.
fn is_operand(token: &str) -> bool {
    let keyword =
        matches!(token, "return" | "in" | "match" | "if" | "else" | "mut" | "as" | "move" | "ref");
    !keyword
        && (token == ")"
            || token == "]"
            || token.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

#[test]
fn a_shift_of_a_word_is_found_and_a_size_is_not() {
    for line in [
        "let level = self.0 >> 59 & 7;",
        "x << slot::FLAG_BITS",
        "end & 0xFFFF",
        "word & !(7 << 56)",
        "sum.marks << 32",
    ] {
        assert!(shifts_or_masks(line), "{line}");
    }
    for line in [
        "let most = 1 << 20;",
        "const MOST: usize = 1 << 16;",
        "Vec<Option<Box<u8>>> = x",
        "f(&7)",
        "a && b",
        "if x { &LIST } else { y }",
    ] {
        assert!(!shifts_or_masks(line), "{line}");
    }
}
