//! What the guide quotes and shows.

use std::path::Path;

/// The guide.
#[derive(Debug, Default)]
pub struct Guide {
    pub quotes: Vec<Quote>,
    pub commands: Vec<Shown>,
    /// Files, and their lines of code.
    pub line_counts: Vec<(String, usize)>,
}

/// A block that begins with the name of a file.
#[derive(Debug)]
pub struct Quote {
    pub file: String,
    /// Contiguous parts of the file.
    pub parts: Vec<String>,
}

/// A command, and lines of its output.
#[derive(Debug)]
pub struct Shown {
    pub arguments: Vec<String>,
    pub output: Vec<String>,
}

/// A file of the repository.
pub fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The words of a line.
pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The lines of code of a file: neither empty nor comments.
pub fn code_lines(path: &str) -> usize {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    read(path).lines().filter(is_code).count()
}

impl Guide {
    pub fn read() -> Guide {
        let mut guide = Guide::default();
        let text = read("docs/your-framework.md");
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let mut block = || lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>();
            match line {
                "```rust" => guide.quotes.push(Quote::of(&block())),
                "```console" => guide.commands.extend(shown(&block())),
                _ => guide.line_counts.extend(line_count(line)),
            }
        }
        guide
    }
}

impl Quote {
    fn of(block: &[&str]) -> Quote {
        let (first, rest) = block.split_first().expect("a block has lines");
        let file =
            first.strip_prefix("// ").unwrap_or_else(|| panic!("{first} names no file")).to_owned();
        let parts = rest.split(|line| line.trim() == "// …").map(|part| part.join("\n")).collect();
        Quote { file, parts }
    }
}

fn shown(block: &[&str]) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ metaspy "), commands.last_mut()) {
            (Some(arguments), _) => {
                commands.push(Shown { arguments: split(arguments), output: Vec::new() })
            }
            (None, Some(command)) if *line != "…" => command.output.push((*line).to_owned()),
            _ => {}
        }
    }
    commands
}

/// The arguments of a command; those with spaces are in single quotes.
fn split(arguments: &str) -> Vec<String> {
    let mut split = Vec::new();
    for (at, part) in arguments.split('\'').enumerate() {
        match at % 2 {
            0 => split.extend(part.split_whitespace().map(str::to_owned)),
            _ => split.push(part.to_owned()),
        }
    }
    split
}

/// The last two cells of a row of the table of files: a file, and a number.
fn line_count(line: &str) -> Option<(String, usize)> {
    let cells: Vec<&str> =
        line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
    let [.., lines, file] = cells[..] else { return None };
    let file = file.strip_prefix('`')?.strip_suffix('`')?;
    Some((file.to_owned(), lines.parse().ok()?))
}
