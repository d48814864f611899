//! Completions for shells.

use std::io::Write;
use std::process::{Command, Output};

fn completions(shell: &str) -> String {
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    let output: Output = Command::new(metaspy).args(["completions", shell]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a script is text")
}

/// What bash offers for the last of these words.
fn offered(script: &str, words: &str) -> Option<String> {
    let test = format!(
        "{script}\nCOMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_LINE='{words}'; \
         _metaspy metaspy \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\""
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
fn other_shells_have_completions_too() {
    assert!(completions("zsh").starts_with("#compdef metaspy"));
    assert!(completions("fish").contains("complete -c metaspy"));
}
