//! The examples of `docs/findings.md`: what it quotes is what the command says of the same programs
//! today, but for numbers.

use std::path::Path;

use metaspy::Store;
use metaspy_report::findings::{self, Config};

use crate::planted::{Case, Fault};
use crate::recorded;

/// The document.
const DOCUMENT: &str = include_str!("../../../docs/findings.md");

/// Records the programs that the document quotes, and compares the findings.
///
/// # Errors
///
/// Returns the examples that no program gives.
pub fn compare(directory: &Path) -> Result<usize, String> {
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let examples: Vec<Example> =
        DOCUMENT.split("```text\n").skip(1).filter_map(Example::of).collect();
    let mut wrong = Vec::new();
    for example in &examples {
        let mut said = Vec::new();
        for case in Case::all().into_iter().filter(|case| example.is_of(case)) {
            said.extend(findings_of(&case, directory)?);
        }
        if !said.contains(&example.text) {
            let said = said.join("\n");
            wrong.push(format!(
                "docs/findings.md quotes\n{}\nand the programs give\n{said}",
                example.text
            ));
        }
    }
    if wrong.is_empty() { Ok(examples.len()) } else { Err(wrong.join("\n\n")) }
}

struct Example {
    kind: &'static str,
    /// The module of its program.
    domain: &'static str,
    text: String,
}

impl Example {
    /// An example of a program of this benchmark.
    fn of(block: &'static str) -> Option<Example> {
        let (text, _) = block.split_once("```")?;
        let kind = text.lines().next()?.split_whitespace().last()?;
        let (domain, _) = text.split_once("benches/findings/programs/")?.1.split_once(".rs")?;
        Some(Example { kind, domain, text: without_numbers(text) })
    }

    fn is_of(&self, case: &Case) -> bool {
        let is_of_domain = case.name.split('/').next() == Some(self.domain);
        is_of_domain && case.planted().is_some_and(|Fault { kinds, .. }| kinds.contains(&self.kind))
    }
}

fn findings_of(case: &Case, directory: &Path) -> Result<Vec<String>, String> {
    let file = recorded::record(case, directory)?;
    let store = Store::open(&file).map_err(|error| error.to_string())?;
    let found = findings::find(&store, &Config::default());
    let mut text = Vec::new();
    findings::text::write(&mut text, &found, findings::text::Shown::Listed, &[])
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.split("\n\n").map(without_numbers).collect())
}

/// A finding in one line, without what differs from run to run: its place, numbers, units, and who
/// has most.
fn without_numbers(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_place = |line: &&str| ["at ", "filter "].iter().any(|word| line.starts_with(word));
    let end = lines.iter().position(is_place).unwrap_or(lines.len());
    let (sentences, places) = lines.split_at(end);
    let sentences = sentences.join(" ");
    let sentences = sentences.split("Most: ").next().unwrap_or_default();
    // What a cost is a share of depends on the machine.
    let sentences = ["the events", "the waiting", "the threads' time"]
        .iter()
        .fold(sentences.to_owned(), |sentences, of| {
            sentences.replacen(&format!("% of {of} "), "% of the time ", 1)
        });
    // How many threads there are depends on the machine, too.
    let sentences = sentences.replace(" thread to which", " threads to which");
    let is_number = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let mut words: Vec<&str> = Vec::new();
    for word in
        sentences.split_whitespace().chain(places.iter().flat_map(|line| line.split_whitespace()))
    {
        let bare = word.trim_matches(|it: char| it.is_ascii_punctuation());
        let is_unit = ["ns", "µs", "ms", "s"].contains(&bare) && words.last() == Some(&"0");
        if !is_unit {
            words.push(if is_number(bare) { "0" } else { word });
        }
    }
    words.join(" ")
}
