//! Counts of the source text: how large it is, and how often shapes occur that are hard to read.
//!
//! `cargo test --test tidy counts -- --nocapture` prints them. Product code is what the packages'
//! `src` folders have outside tests, and a line of code has more than a comment. No shape may
//! become more frequent.

use std::{collections::BTreeSet, fmt};

use super::source::Source;

/// The most of each shape that 1,000 lines of product code may have, and of the word in 1,000 words
/// of comments: a little more than there is. A lower rate lowers its bound.
const MOST: [(&str, f64); 5] = [
    ("bound closures", 8.3),
    ("arms of booleans", 0.3),
    ("lets of two tuples", 0.1),
    ("lines over 100 columns", 3.1),
    ("\"what\" in 1,000 words of comments", 0.9),
];

/// What the source text has, with rates per 1,000 lines of product code unless a field says
/// otherwise.
#[derive(Default)]
pub struct Counts {
    files: usize,
    lines: usize,
    code_lines: usize,
    public_items: usize,
    functions: usize,
    median_function: usize,
    closures: usize,
    boolean_arms: usize,
    tuple_lets: usize,
    long_lines: usize,
    comment_words: usize,
    whats: usize,
}

impl Counts {
    /// Counts all Rust files.
    pub fn new(sources: &[Source]) -> Self {
        let mut counts = Self::default();
        let mut functions = Vec::new();
        for source in sources.iter().filter(|source| source.path.ends_with(".rs")) {
            counts.files += 1;
            counts.lines += source.text.lines().count();
            if source.is_product() {
                counts.add_product(source);
                functions.extend(function_lengths(&source.code));
            }
        }
        functions.sort_unstable();
        counts.functions = functions.len();
        counts.median_function = functions.get(functions.len() / 2).copied().unwrap_or(0);
        counts.public_items = public_items(sources);
        counts
    }

    /// Each shape that may not become more frequent: its number, and of how many lines or words.
    fn shapes(&self) -> [(usize, usize); 5] {
        let code = self.code_lines;
        [
            (self.closures, code),
            (self.boolean_arms, code),
            (self.tuple_lets, code),
            (self.long_lines, code),
            (self.whats, self.comment_words),
        ]
    }

    /// The shapes that are more frequent than they may be, as sentences.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for ((shape, most), (count, of)) in MOST.into_iter().zip(self.shapes()) {
            // As it is printed.
            let rate = (per_thousand(count, of) * 10.0).round() / 10.0;
            if rate > most {
                faults.push(format!("{shape}: {rate} in 1,000, and at most {most} may be"));
            }
        }
        faults
    }

    fn add_product(&mut self, source: &Source) {
        for (line, text) in source.code.lines().zip(source.text.lines()) {
            let code = line.trim();
            if !code.is_empty() {
                self.code_lines += 1;
                self.long_lines += usize::from(text.chars().count() > 100);
            }
            self.closures += usize::from(binds_closure(code));
            self.boolean_arms += usize::from(code.contains("true =>") || code.contains("false =>"));
            self.tuple_lets += usize::from(binds_tuple(code));
            if let Some(comment) = text.trim().strip_prefix("//") {
                let words =
                    comment.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
                for word in words {
                    self.comment_words += 1;
                    self.whats += usize::from(word.eq_ignore_ascii_case("what"));
                }
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "files {}", self.files)?;
        writeln!(f, "lines {}", self.lines)?;
        writeln!(f, "lines of product code {}", self.code_lines)?;
        writeln!(f, "public items of the libraries {}", self.public_items)?;
        writeln!(f, "functions {}, median lines {}", self.functions, self.median_function)?;
        for ((shape, _), (count, of)) in MOST.into_iter().zip(self.shapes()) {
            writeln!(f, "{shape} {count} ({:.1})", per_thousand(count, of))?;
        }
        Ok(())
    }
}

fn per_thousand(count: usize, of: usize) -> f64 {
    count as f64 * 1_000.0 / of.max(1) as f64
}

/// `let name = |…|`, also with `move`.
fn binds_closure(code: &str) -> bool {
    let Some(rest) = code.strip_prefix("let ") else { return false };
    let Some((name, value)) = rest.split_once('=') else { return false };
    let value = value.trim_start().trim_start_matches("move ");
    !name.contains('(') && value.starts_with('|')
}

/// `let (a, b) = (x, y)`.
fn binds_tuple(code: &str) -> bool {
    let bound = code.strip_prefix("let (").and_then(|rest| rest.split_once(')'));
    bound.is_some_and(|(_, rest)| {
        rest.trim_start().strip_prefix('=').is_some_and(|value| value.trim_start().starts_with('('))
    })
}

/// Lines of each function with a body, from its signature to the closing brace.
fn function_lengths(code: &str) -> Vec<usize> {
    let mut lengths = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let named = code[at + 3..].starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !is_word || !named {
            continue;
        }
        let mut depth = 0;
        for (length, c) in code[at..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ';' if depth == 0 && !code[at..at + length].contains('[') => break,
                _ => continue,
            }
            if depth == 0 {
                lengths.push(code[at..=at + length].lines().count());
                break;
            }
        }
    }
    lengths
}

/// Items with `pub` that another package can name: the module is public, or a `pub use` has the
/// name.
fn public_items(sources: &[Source]) -> usize {
    let libraries: Vec<&Source> = sources
        .iter()
        .filter(|source| source.is_product())
        .filter(|source| {
            !source.path.starts_with("examples/") && !source.path.starts_with("benches/")
        })
        .filter(|source| {
            !source.path.contains("/bin/") && !source.path.starts_with("sampler/machines/")
        })
        .collect();
    let packages: BTreeSet<&str> =
        libraries.iter().filter_map(|source| package(&source.path)).collect();
    let items = packages.into_iter().map(|name| {
        let files: Vec<&Source> = libraries
            .iter()
            .filter(|source| package(&source.path) == Some(name))
            .copied()
            .collect();
        let used: BTreeSet<&str> =
            files.iter().flat_map(|source| reexports(&source.code)).collect();
        let hidden = hidden_modules(&files);
        files.iter().map(|source| public_items_of(source, &hidden, &used)).sum::<usize>()
    });
    items.sum()
}

fn package(path: &str) -> Option<&str> {
    path.find("src/").map(|at| &path[..at])
}

/// Paths, without `.rs`, of modules that are declared without `pub`.
fn hidden_modules(files: &[&Source]) -> Vec<String> {
    let mut hidden = Vec::new();
    for source in files {
        let stem = source.path.trim_end_matches(".rs");
        let folder = match stem.rsplit_once('/') {
            Some((folder, "mod" | "lib" | "main")) => folder,
            _ => stem,
        };
        for line in source.code.lines().map(str::trim) {
            let declared = line.strip_suffix(';').and_then(|line| line.rsplit_once("mod "));
            if let Some((before, name)) = declared
                && before.trim() != "pub"
            {
                hidden.push(format!("{folder}/{name}"));
            }
        }
    }
    hidden
}

/// Names in the `pub use` declarations of a file.
fn reexports(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (at, found) in code.match_indices("pub use ") {
        let tree = &code[at + found.len()..];
        let tree = &tree[..tree.find(';').unwrap_or(tree.len())];
        names.extend(
            tree.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()),
        );
    }
    names
}

fn public_items_of(source: &Source, hidden: &[String], used: &BTreeSet<&str>) -> usize {
    const ITEMS: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "const", "static"];
    const QUALIFIERS: &[&str] = &["unsafe", "async", "extern"];
    let stem = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
    let is_hidden =
        hidden.iter().any(|module| stem == module || stem.starts_with(&format!("{module}/")));
    let mut type_is_public = true;
    let mut count = 0;
    for line in source.code.lines() {
        if line.starts_with("impl") {
            let mut names = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            type_is_public = !is_hidden || names.any(|name| used.contains(name));
        }
        let Some(item) = line.trim_start().strip_prefix("pub ") else { continue };
        let mut words =
            item.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let Some(kind) = words.find(|word| !QUALIFIERS.contains(word)) else { continue };
        let Some(name) = words.find(|word| !ITEMS.contains(word)) else { continue };
        let is_member = line.starts_with(' ');
        let reached = if is_member { type_is_public } else { !is_hidden || used.contains(name) };
        count += usize::from(ITEMS.contains(&kind) && reached);
    }
    count
}

#[test]
fn shapes_are_found() {
    assert!(binds_closure("let name = |a| a + 1;") && binds_closure("let name = move || {"));
    assert!(!binds_closure("let all = list.map(|a| a);"));
    assert!(binds_tuple("let (mut a, b) = (1, 2);") && !binds_tuple("let (a, b) = pair;"));
    let code = "fn one() {}\nfn three(\n) {\n}\ntrait T { fn no(); }\n";
    assert_eq!(function_lengths(code), [1, 3]);
}
