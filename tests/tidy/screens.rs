//! Screens that documents quote: their sentences are those of the program. The benchmark of
//! findings records the programs of `docs/findings.md` again, and compares those screens as a
//! whole.

use std::collections::BTreeSet;
use std::fs;

use super::source::{Source, repository};

/// Words in a row that tell a sentence of the program from names of the user's.
const WORDS: usize = 3;

/// Stands for a placeholder in a string.
const PLACEHOLDER: &str = "{}";
/// What placeholders of more than one word give, and what a user wrote.
const DATA: &[&str] = &[
    "in user code",
    "of user code",
    "more functions ran",
    "macro calls and",
    "ends at a",
    "SELECT sit FROM",
    "sit FROM events",
];

/// Sentences of quoted screens that no string of the program contains.
pub fn faults(sources: &[Source]) -> Vec<String> {
    let product =
        sources.iter().filter(|source| source.is_product() && source.path.ends_with(".rs"));
    let known: BTreeSet<Vec<String>> =
        product.flat_map(|source| runs(&joined(&source.text)).collect::<Vec<_>>()).collect();
    let docs =
        fs::read_dir(repository().join("docs")).expect("the documents are in the repository");
    let documents =
        docs.flatten().map(|entry| entry.path()).chain([repository().join("README.md")]);
    let mut faults = Vec::new();
    for path in documents.filter(|path| {
        path.extension().is_some_and(|it| it == "md") && !path.ends_with("findings.md")
    }) {
        let text = fs::read_to_string(&path).expect("it is in the repository");
        for screen in text.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let unknown =
                runs(screen).filter(|run| !is_known(run, &known)).map(|run| run.join(" "));
            faults.extend(unknown.map(|run| {
                format!("{}: \"{run}\"", path.file_name().expect("it is a file").display())
            }));
        }
    }
    faults
}

/// True if a string has these words in a row, or a placeholder in place of one of them.
fn is_known(run: &[String], known: &BTreeSet<Vec<String>>) -> bool {
    let with_placeholder = |at: usize| {
        let mut run = run.to_vec();
        PLACEHOLDER.clone_into(&mut run[at]);
        run
    };
    known.contains(run)
        || DATA.contains(&run.join(" ").as_str())
        || (0..run.len()).any(|at| known.contains(&with_placeholder(at)))
}

/// A source without comments, whose strings are not broken into lines.
fn joined(source: &str) -> String {
    let code: Vec<&str> =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let mut lines = code.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}

/// All runs of words. What is no plain word, such as a number, a path or a placeholder, ends a run,
/// and so do a column and the end of a sentence.
fn runs(text: &str) -> impl Iterator<Item = Vec<String>> {
    const MARKS: [char; 7] = [',', ';', ':', '.', '"', '(', ')'];
    let mut runs = Vec::new();
    for part in text.lines().flat_map(|line| line.split("  ")) {
        let mut words: Vec<String> = Vec::new();
        for word in part.split_inclusive([' ', '"']).map(str::trim_end) {
            let bare = word.trim_matches(MARKS);
            if bare.starts_with('{') && bare.ends_with('}') {
                words.push(PLACEHOLDER.to_owned());
            } else if bare.is_empty() || !bare.chars().all(|letter| letter.is_ascii_alphabetic()) {
                words.clear();
            } else {
                words.push(bare.to_owned());
            }
            runs.extend(words.last_chunk::<WORDS>().map(|run| run.to_vec()));
            if word.ends_with(MARKS) {
                words.clear();
            }
        }
    }
    runs.into_iter()
}
