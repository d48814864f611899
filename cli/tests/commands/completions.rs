//! Completions for shells.

use std::io::Write;
use std::process::{Command, Output};

fn completions(shell: &str) -> String {
    written_by(Command::new(env!("CARGO_BIN_EXE_metaspy")).args(["completions", shell]))
}

/// As cargo starts it.
fn completions_of_cargo(shell: &str) -> String {
    written_by(Command::new(env!("CARGO_BIN_EXE_cargo-metaspy")).args([
        "metaspy",
        "completions",
        shell,
    ]))
}

fn written_by(command: &mut Command) -> String {
    let output: Output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a script is text")
}

/// What bash offers for the last of these words, the first of which is a command.
fn offered(script: &str, words: &str) -> Option<String> {
    let command = words.split(' ').next().unwrap_or_default();
    // The function that completes a command is between `-F` and the next word.
    let test = format!(
        "{script}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE='{words}'; \
         by=$(complete -p {command}); by=${{by#*-F }}; \
         ${{by%% *}} {command} \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\""
    );
    let Ok(output) = Command::new("bash").args(["--norc", "-c", &test]).output() else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: completions: bash is not installed");
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[test]
fn bash_completes_commands_and_values_of_options() {
    let script = completions("bash");
    let Some(commands) = offered(&script, "metaspy exp") else { return };
    assert_eq!(commands, "export");
    let formats = offered(&script, "metaspy export run.spy --to ch").unwrap_or_default();
    assert_eq!(formats, "chrome");
    let hidden = offered(&script, "metaspy __st").unwrap_or_default();
    assert_eq!(hidden, "", "a hidden command is not offered");
}

#[test]
fn bash_completes_the_command_of_cargo_and_leaves_the_others_to_cargo() {
    let script = completions_of_cargo("bash");
    for command in ["cargo-metaspy", "cargo metaspy"] {
        let Some(commands) = offered(&script, &format!("{command} te")) else { return };
        assert_eq!(commands, "test");
        let options = offered(&script, &format!("{command} run --weave-at")).unwrap_or_default();
        assert_eq!(options, "--weave-attributes");
    }
    let of_cargo = format!("_cargo() {{ COMPREPLY=(theirs-$1-$2); }}\n{script}");
    assert_eq!(offered(&of_cargo, "cargo bu").unwrap_or_default(), "theirs-cargo-bu");
    assert_eq!(offered(&of_cargo, "cargo meta").unwrap_or_default(), "theirs-cargo-meta");
}

#[test]
fn other_shells_have_completions_too() {
    assert!(completions("zsh").starts_with("#compdef metaspy"));
    assert!(completions("fish").contains("complete -c metaspy"));
    assert!(completions_of_cargo("zsh").starts_with("#compdef cargo-metaspy"));
    assert!(completions_of_cargo("fish").contains("complete -c cargo -n"));
}

#[test]
fn the_man_page_has_the_commands_of_the_help() {
    let page = completions("man");
    assert!(page.contains(".TH metaspy 1"), "{page}");
    for (command, option) in [
        ("FINDINGS", "\\-\\-fail\\-on"),
        ("BLUEPRINT", "\\-\\-html"),
        ("HISTORY RUN", "\\-\\-runs"),
        ("OTLP", ""),
    ] {
        let (_, section) = page
            .split_once(&format!(".SH \"METASPY {command}\""))
            .unwrap_or_else(|| panic!("{command}: {page}"));
        let (section, _) = section.split_once("\n.SH ").unwrap_or((section, ""));
        assert!(
            section.contains(option) && section.contains(".SS SYNOPSIS"),
            "{command}: {section}"
        );
    }
    assert!(!page.contains("(1)"), "it refers to no page that nobody has: {page}");
    assert!(!page.contains("The story that"), "a hidden command is not listed");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    for arguments in [&["completions", "man"][..], &["completions", "bash"], &["schema"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let output = command.args(arguments).stdout(full).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
