//! Source files of the repository, with their code apart from comments and literals.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::environment::names;

/// Folders that hold no text of ours: build output, and inputs of tests.
const FOLDERS_PASSED_OVER: &[&str] =
    &["target", ".git", "ui", "snapshots", "pages", "grammars", "proptest-regressions"];

/// A Rust or Markdown file.
pub struct Source {
    /// The path below the repository, with `/`.
    pub path: String,
    /// The text with comments, literals and test modules replaced by spaces. Empty for Markdown.
    pub code: String,
    /// The text as it stands.
    pub text: String,
    in_tests: bool,
    /// Paths, without `.rs`, of modules that this file declares for tests only.
    test_modules: Vec<String>,
}

/// The folder of the workspace.
pub fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust and Markdown file below `root`, in order of path.
pub fn read_all(root: &Path) -> Vec<Source> {
    let mut files = files_below(root, &|name| name.ends_with(".rs") || name.ends_with(".md"));
    files.sort();
    let mut sources: Vec<Source> = files.iter().map(|file| Source::read(root, file)).collect();
    // A file belongs to the tests if the module that declares it says so.
    let in_tests: Vec<String> =
        sources.iter().flat_map(|source| source.test_modules.clone()).collect();
    for source in &mut sources {
        source.in_tests = in_tests.iter().any(|module| {
            source
                .path
                .strip_prefix(module.as_str())
                .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
    }
    sources
}

/// Files below `folder` whose name passes `wanted`.
pub fn files_below(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let entry = entry.expect("entries of a readable folder are readable");
        let name = entry.file_name().into_string().expect("names in the repository are UTF-8");
        let kind = entry.file_type().expect("entries of a readable folder have a type");
        if kind.is_dir() {
            // A package with a git folder of its own is another checkout.
            if !FOLDERS_PASSED_OVER.contains(&name.as_str()) && !entry.path().join(".git").exists()
            {
                found.extend(files_below(&entry.path(), wanted));
            }
        } else if kind.is_file() && wanted(&name) {
            found.push(entry.path());
        }
    }
    found
}

impl Source {
    fn read(root: &Path, file: &Path) -> Self {
        let text =
            fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let path = file
            .strip_prefix(root)
            .expect("the file lies below the root")
            .to_string_lossy()
            .replace('\\', "/");
        let code = if path.ends_with(".rs") { code_of(&text) } else { String::new() };
        let (product, tests) = without_tests(&code);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let stem = path.strip_suffix(".rs").unwrap_or(&path);
        let folder = if matches!(stem.rsplit('/').next(), Some("mod" | "lib" | "main")) {
            folder
        } else {
            stem
        };
        let test_modules =
            declared_modules(&tests).map(|name| format!("{folder}/{name}")).collect();
        Source { code: product, text, in_tests: false, test_modules, path }
    }

    /// True for a file of a package's `src`, without unit tests.
    pub fn is_product(&self) -> bool {
        let path = &self.path;
        path.ends_with(".rs")
            && !self.in_tests
            && (path.starts_with("src/") || path.contains("/src/"))
            && !path.contains("/tests/")
            && !path.starts_with("tests/")
    }

    /// Environment variables of metaspy: string literals that are nothing but a name.
    pub fn variables(&self) -> Vec<String> {
        let literals = self.text.split('"').filter(|text| text.starts_with("METASPY_"));
        literals.filter(|text| names(text).any(|name| name == *text)).map(str::to_string).collect()
    }

    /// The file, and the inline modules of product code, where they have no docs.
    pub fn modules_without_docs(&self) -> Vec<String> {
        if !self.path.ends_with(".rs") {
            return Vec::new();
        }
        let mut missing = Vec::new();
        let first =
            self.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
        let documented =
            first.is_some_and(|line| line.starts_with("//!")) || self.text.starts_with("#![doc");
        if !documented && !self.path.ends_with("/tests.rs") {
            missing.push(self.path.clone());
        }
        if !self.is_product() {
            return missing;
        }
        let lines: Vec<&str> = self.text.lines().collect();
        for (at, line) in self.code.lines().enumerate() {
            let Some(name) = inline_module(line) else { continue };
            let above = lines[..at].iter().rev().find(|line| !line.trim_start().starts_with("#["));
            let inside = lines.get(at + 1).is_some_and(|line| line.trim_start().starts_with("//!"));
            if !inside && !above.is_some_and(|line| line.trim_start().starts_with("///")) {
                missing.push(format!("{}:{}: mod {name}", self.path, at + 1));
            }
        }
        missing
    }
}

/// The name in `pub mod name {`.
fn inline_module(line: &str) -> Option<&str> {
    let line = line.trim();
    let line = match line.strip_prefix("pub") {
        Some(rest) => rest.trim_start_matches(|c| c != ' ').trim_start(),
        None => line,
    };
    line.strip_prefix("mod ")?.strip_suffix('{').map(str::trim)
}

/// The text with comments and literals replaced by spaces.
fn code_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let from = at;
        if chars[at..].starts_with(&['/', '/']) {
            at += chars[at..].iter().position(|&c| c == '\n').unwrap_or(chars.len() - at);
        } else if chars[at..].starts_with(&['/', '*']) {
            at = end_of_block_comment(&chars, at);
        } else if let Some(end) = end_of_string(&chars, at) {
            at = end;
        } else if let Some(end) = end_of_char(&chars, at) {
            at = end;
        } else {
            code.push(chars[at]);
            at += 1;
            continue;
        }
        code.extend(chars[from..at].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
    }
    code
}

fn end_of_block_comment(chars: &[char], from: usize) -> usize {
    let (mut depth, mut at) = (0, from);
    while at < chars.len() {
        if chars[at..].starts_with(&['/', '*']) {
            (depth, at) = (depth + 1, at + 2);
        } else if chars[at..].starts_with(&['*', '/']) {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

/// The end of a string literal that begins at `from`, with its prefix.
fn end_of_string(chars: &[char], from: usize) -> Option<usize> {
    let before = from.checked_sub(1).map(|at| chars[at]);
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let mut at = from;
    while chars.get(at).is_some_and(|c| matches!(c, 'b' | 'c' | 'r')) && at - from < 2 {
        at += 1;
    }
    let raw = at > from && chars[at - 1] == 'r';
    let hashes = if raw { chars[at..].iter().take_while(|&&c| c == '#').count() } else { 0 };
    at += hashes;
    if chars.get(at) != Some(&'"') {
        return None;
    }
    at += 1;
    while at < chars.len() {
        match chars[at] {
            '\\' if !raw => at += 2,
            '"' if chars[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes => {
                return Some(at + 1 + hashes);
            }
            _ => at += 1,
        }
    }
    Some(at)
}

/// The end of a character literal; `None` for a lifetime.
fn end_of_char(chars: &[char], from: usize) -> Option<usize> {
    if chars[from] != '\'' {
        return None;
    }
    if chars.get(from + 1) == Some(&'\\') {
        let close = chars[from + 3..].iter().position(|&c| c == '\'')?;
        return Some(from + 3 + close + 1);
    }
    (chars.get(from + 2) == Some(&'\'')).then_some(from + 3)
}

/// The names in `mod name;`.
fn declared_modules(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| line.rsplit_once("mod ")?.1.trim().strip_suffix(';'))
}

/// Code without the items under `#[cfg(test)]`, which are replaced by spaces, and these items.
fn without_tests(code: &str) -> (String, String) {
    let mut out = code.to_string();
    let mut tests = String::new();
    let mut from = 0;
    while let Some(found) = ["#[cfg(test)]", "#[cfg(all(test"]
        .iter()
        .filter_map(|attribute| out[from..].find(attribute).map(|at| from + at))
        .min()
    {
        let end = end_of_item(&out, found);
        let blank: String =
            out[found..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        tests.push_str(&out[found..end]);
        tests.push('\n');
        out.replace_range(found..end, &blank);
        from = found + blank.len();
    }
    (out, tests)
}

/// The end of the item that begins at `from`: its `;`, its `,` or its closing brace.
fn end_of_item(code: &str, from: usize) -> usize {
    let mut depth = 0_i32;
    for (at, c) in code[from..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth -= 1;
                if depth == 0 && c == '}' {
                    return from + at + 1;
                }
                if depth < 0 {
                    return from + at;
                }
            }
            ';' | ',' if depth == 0 => return from + at + 1,
            _ => {}
        }
    }
    code.len()
}
