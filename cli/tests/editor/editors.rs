//! Real editors with the plugins, and a client in another language.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::common::Package;
use crate::shapes::recorded;

pub const COMMAND: &str = env!("CARGO_BIN_EXE_metaspy");

/// This directory.
pub fn own(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/editor").join(file)
}

/// True if a program runs with these arguments. Otherwise the test is skipped, and says so.
pub fn is_there(name: &str, program: &str, arguments: &[&str]) -> bool {
    let is_there =
        Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !is_there {
        println!("SKIPPED: {name}: `{program} {}` does not run here", arguments.join(" "));
    }
    is_there
}

/// Installs the plugin of an editor into a directory beside the package.
pub fn installed(package: &Package, editor: &str) -> PathBuf {
    let dir = package.target_dir().join(editor);
    let _ = fs::remove_dir_all(&dir);
    let output =
        Command::new(COMMAND).args(["lsp", "--install", editor, "--into"]).arg(&dir).output();
    let output = output.expect("it was built for this test");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("Next:  cargo metaspy test"), "{text}");
    dir
}

pub fn run(command: &mut Command) -> Output {
    command.output().expect("it was there a moment ago")
}

#[test]
fn neovim_shows_signs_numbers_lists_and_hovers() {
    if !is_there("neovim", "nvim", &["--version"]) {
        return;
    }
    let package = recorded("editor_neovim", &["--timed"]);
    let plugin = installed(&package, "nvim");
    let result = package.dir.join("seen.json");
    let mut nvim = package.clean_command(Path::new("nvim"));
    nvim.args(["--headless", "--clean", "--cmd"])
        .arg(format!("set runtimepath+={}", plugin.display()));
    nvim.args(["-c", "filetype on", "-c"]).arg(format!("luafile {}", own("journey.lua").display()));
    nvim.env("METASPY_TEST_FILE", package.dir.join("src/lib.rs"))
        .env("METASPY_TEST_RESULT", &result);
    nvim.env("METASPY_DIR", package.target_dir().join("live"));
    let output = run(&mut nvim);
    let said = String::from_utf8_lossy(&output.stderr);
    let seen = fs::read(&result).unwrap_or_else(|_| panic!("it wrote nothing: {said}"));
    let seen: Value = serde_json::from_slice(&seen).expect("it is JSON");
    assert_eq!(seen["problem"], Value::Null, "{seen:#}\n{said}");

    let first = seen["first"].as_array().expect("it is a list");
    let lines: Vec<_> = first.iter().map(|mark| mark[0].as_u64().expect("a number")).collect();
    let signs: Vec<_> = first.iter().map(|mark| mark[1].as_str().unwrap_or_default()).collect();
    assert_eq!(lines, [10, 16, 22, 27, 31]);
    // The sign of the hint is before ours.
    assert_eq!([signs[0], signs[1], signs[3], signs[4]], ["▄", "▂", "▆", "▁"]);
    assert!(first[0][2].as_str().is_some_and(|text| text.contains("7 calls")), "{first:?}");
    assert_eq!(seen["hints"], json!([[22, "never ran"]]));

    assert_eq!(seen["moved"], 11);
    assert_eq!(
        (&seen["stale"][0], &seen["stale"][1]),
        (&json!(28), &json!("▆")),
        "{}",
        seen["stale"]
    );
    assert_eq!(seen["callers"], json!([[32, "7  editor_neovim::total"]]));
    assert_eq!(seen["callees"], json!([[28, "7  editor_neovim::product"]]));
    assert_eq!(seen["hot"].as_array().map(Vec::len), Some(5), "{}", seen["hot"]);
    let hover = seen["hover"].as_str().unwrap_or_default();
    assert!(hover.contains("10 times") && hover.contains("Circle::Shape::area"), "{hover}");
    assert_eq!(seen["hidden"], true);
}

#[test]
fn an_independent_client_of_the_protocol_agrees() {
    let python = std::env::var("METASPY_PYTHON").unwrap_or_else(|_| "python3".into());
    if !is_there("pytest-lsp", &python, &["-c", "import pytest_lsp"]) {
        return;
    }
    let package = recorded("editor_pytest", &["--timed"]);
    let mut pytest = package.clean_command(Path::new(&python));
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(own("test_server.py"));
    pytest.env("METASPY_TEST_COMMAND", COMMAND).env("METASPY_TEST_FOLDER", &package.dir);
    pytest
        .env("METASPY_DIR", package.target_dir().join("live"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = run(&mut pytest);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
