//! Command that opens a file in an editor, at a line.

use std::ffi::OsString;
use std::path::Path;

/// Ways in which editors take a file and a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `+LINE FILE`: vi, emacs, nano and most others.
    PlusLine,
    /// `-g FILE:LINE`.
    Goto,
    /// `FILE:LINE`.
    Colon,
    /// `--line LINE FILE`.
    Line,
}

/// Returns the words of the command: a program and its arguments. In the text of `$EDITOR`,
/// `{file}` and `{line}` stand for the file and the line. Without them, the name of the program
/// decides where these go.
pub fn words(editor: &str, file: &Path, line: u32) -> Vec<OsString> {
    let is_template = editor.contains("{file}");
    let words = editor
        .split_whitespace()
        .map(|word| if is_template { filled(word, file, line) } else { word.into() });
    let mut words: Vec<OsString> = words.collect();
    if is_template {
        return words;
    }
    let mut place = file.as_os_str().to_owned();
    place.push(format!(":{line}"));
    let ends_with_goto = words.last().is_some_and(|word| word == "-g" || word == "--goto");
    match form(editor.split_whitespace().next().unwrap_or_default()) {
        _ if ends_with_goto => words.push(place),
        Form::Goto => words.extend(["-g".into(), place]),
        Form::Colon => words.push(place),
        Form::Line => words.extend(["--line".into(), line.to_string().into(), file.into()]),
        Form::PlusLine => words.extend([format!("+{line}").into(), file.into()]),
    }
    words
}

/// Fills in a word of a template. The file may contain any bytes, so it is not inserted as text.
fn filled(word: &str, file: &Path, line: u32) -> OsString {
    let mut filled = OsString::new();
    for (at, part) in word.split("{file}").enumerate() {
        if at > 0 {
            filled.push(file);
        }
        filled.push(part.replace("{line}", &line.to_string()));
    }
    filled
}

fn form(program: &str) -> Form {
    match Path::new(program).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default() {
        "code" | "code-insiders" | "code-oss" | "codium" | "vscodium" | "cursor" | "windsurf"
        | "positron" => Form::Goto,
        "hx" | "helix" | "zed" | "zeditor" | "subl" | "sublime_text" => Form::Colon,
        "idea" | "rustrover" | "clion" | "kate" => Form::Line,
        _ => Form::PlusLine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(editor: &str, expected: &str) {
        let words = words(editor, Path::new("/src/a b.rs"), 7);
        let words: Vec<&str> =
            words.iter().map(|word| word.to_str().expect("it is UTF-8")).collect();
        assert_eq!(words.join("|"), expected);
    }

    #[test]
    fn each_editor_gets_file_and_line_in_its_own_form() {
        check("vi", "vi|+7|/src/a b.rs");
        check("/usr/bin/emacs -nw", "/usr/bin/emacs|-nw|+7|/src/a b.rs");
        check("code", "code|-g|/src/a b.rs:7");
        check("code -g", "code|-g|/src/a b.rs:7");
        check("code --wait --goto", "code|--wait|--goto|/src/a b.rs:7");
        check("code --wait", "code|--wait|-g|/src/a b.rs:7");
        check("hx", "hx|/src/a b.rs:7");
        check("rustrover", "rustrover|--line|7|/src/a b.rs");
        check("mine -g", "mine|-g|/src/a b.rs:7");
    }

    #[test]
    fn a_template_has_the_places_of_file_and_line() {
        check("mine --at={line} -- {file}", "mine|--at=7|--|/src/a b.rs");
        check("mine {file}:{line}", "mine|/src/a b.rs:7");
    }
}
