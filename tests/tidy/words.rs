//! Words that plainer ones replace, counted in comments, docs and messages.

use std::{collections::BTreeMap, fmt};

use super::source::Source;

/// The listed words. A phrase is one entry.
const LISTED: &[&[&str]] = &[
    &["whom"],
    &["nobody"],
    &["somebody"],
    &["told"],
    &["said"],
    &["asked"],
    &["meant"],
    &["of", "which"],
    &["that", "of"],
    &["those", "of"],
    &["whether"],
];

/// Words that no name of a function has.
const NOT_IN_NAMES: &[&str] =
    &["whom", "nobody", "somebody", "whoever", "told", "tells", "said", "says", "asked", "asks", "meant"];

/// Files that quote the list.
const QUOTES: &[&str] = &["tests/tidy.rs", "tests/tidy/words.rs", "CONTRIBUTING.md"];

/// Folders of packages; a file belongs to the longest one that holds it. All else belongs to `metaspy`.
const PACKAGES: &[&str] = &[
    "benches",
    "cli",
    "examples",
    "instrumenters",
    "instrumenters/macros",
    "instrumenters/syntax",
    "instrumenters/weave",
    "metaspy-core",
    "metaspy-core/format",
    "metaspy-core/probe",
    "metaspy-core/reader",
    "report",
    "src",
    "tests",
    "tui",
];

/// How often the words are used, and where.
pub struct Report {
    packages: BTreeMap<&'static str, Count>,
    /// Files with the most listed words first.
    files: Vec<(String, usize, Vec<String>)>,
}

#[derive(Default)]
struct Count {
    listed: usize,
    words: usize,
}

impl Count {
    fn per_mille(&self) -> f64 {
        1000.0 * self.listed as f64 / self.words.max(1) as f64
    }
}

/// Counts the listed words in all sources.
pub fn report(sources: &[Source]) -> Report {
    let mut report = Report { packages: BTreeMap::new(), files: Vec::new() };
    for source in sources.iter().filter(|source| !QUOTES.contains(&source.path.as_str())) {
        let count = report.packages.entry(package(&source.path)).or_default();
        let mut found = Vec::new();
        for prose in &source.prose {
            let words = words(&prose.text);
            count.words += words.len();
            for listed in LISTED {
                let hits = words.windows(listed.len()).filter(|window| window.iter().eq(listed.iter())).count();
                found.extend((0..hits).map(|_| format!("{}: {}", prose.line, listed.join(" "))));
            }
        }
        count.listed += found.len();
        if !found.is_empty() {
            report.files.push((source.path.clone(), found.len(), found));
        }
    }
    report.files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    report
}

/// Functions with a listed word in their name.
pub fn functions(source: &Source) -> Vec<String> {
    let named = source.text().lines().enumerate().filter_map(|(at, line)| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        Some((at + 1, line.strip_prefix("fn ")?.split(['(', '<']).next()?))
    });
    let listed = |name: &&str| name.split('_').any(|word| NOT_IN_NAMES.contains(&word));
    named.filter(|(_, name)| listed(name)).map(|(line, name)| format!("{}:{line}: {name}", source.path)).collect()
}

impl Report {
    /// Listed words in 1,000, in all packages together.
    pub fn per_mille(&self) -> f64 {
        self.total().per_mille()
    }

    /// Listed words in 1,000, in the package with the most.
    pub fn worst_package(&self) -> f64 {
        // One word in a package of a few sentences is no habit.
        let packages = self.packages.values().filter(|count| count.listed > 1);
        packages.map(Count::per_mille).fold(0.0, f64::max)
    }

    fn total(&self) -> Count {
        self.packages.values().fold(Count::default(), |sum, count| Count {
            listed: sum.listed + count.listed,
            words: sum.words + count.words,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        for (name, count) in self.packages.iter().map(|(name, count)| (*name, count)).chain([("total", &total)]) {
            writeln!(f, "{name:<24} {:>5} of {:>6} words: {:>5.1} ‰", count.listed, count.words, count.per_mille())?;
        }
        writeln!(f, "\nthe worst files:")?;
        for (path, count, found) in self.files.iter().take(30) {
            writeln!(f, "{count:>4} {path}  ({})", found.iter().take(8).cloned().collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

fn package(path: &str) -> &'static str {
    let holds = |folder: &&&str| path.strip_prefix(**folder).is_some_and(|rest| rest.starts_with('/'));
    PACKAGES.iter().filter(holds).max_by_key(|folder| folder.len()).copied().unwrap_or("documents")
}

/// The words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphabetic() && c != '\'' && c != '_')
        .map(|word| word.trim_matches('\''))
        .filter(|word| word.chars().any(char::is_alphabetic) && !word.contains('_'))
        .map(str::to_lowercase)
        .collect()
}
