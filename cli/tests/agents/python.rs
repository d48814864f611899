//! The official client in Python, which has its own reading of the protocol and of the schemas.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::client::{COMMAND, metaspy};
use crate::tools::page;

/// Frames of the demo.
const EVENTS: &str = "2000";
/// A page for the demo.
const PAGE: &str = "<html><body><main><h1>One</h1><p>Two words</p><ul><li>a</li><li>b</li></ul></main></body></html>";
/// A library for `cargo metaspy`.
const LIBRARY: &str = "pub fn double(n: u32) -> u32 {\n    n * 2\n}\n\n#[test]\nfn doubles() {\n    assert_eq!(double(2), 4);\n}\n";

#[test]
fn the_official_client_agrees_about_every_tool() {
    let python = std::env::var("METASPY_PYTHON").unwrap_or_else(|_| "python3".into());
    let is_there =
        |program: &mut Command| program.output().is_ok_and(|output| output.status.success());
    if !is_there(Command::new(&python).args(["-c", "import mcp"])) {
        println!("SKIPPED: python-mcp: `{python} -c 'import mcp'` does not run here");
        return;
    }
    let directory = page("python", 30);
    fs::write(directory.join("page.html"), PAGE).unwrap();
    let demo =
        metaspy(&directory, &["demo", "page.html", "--record", "demo.spy", "--events", EVENTS])
            .output()
            .unwrap();
    assert!(demo.status.success(), "{}", String::from_utf8_lossy(&demo.stderr));
    fs::write(
        directory.join("number.pest"),
        "number = { hex | ASCII_DIGIT+ }\nhex = { \"0\" ~ \"x\" }\n",
    )
    .unwrap();
    fs::write(directory.join("corpus.txt"), "17").unwrap();
    let arguments =
        ["grammar", "number.pest", "--rule", "number", "corpus.txt", "--record", "grammar.spy"];
    assert!(is_there(&mut metaspy(&directory, &arguments)));
    fs::create_dir_all(directory.join("src")).unwrap();
    fs::write(directory.join("src/lib.rs"), LIBRARY).unwrap();
    let manifest =
        "[package]\nname = \"woven\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/test_agent.py");
    let mut command = Command::new(&python);
    // `cargo metaspy` is the one beside the command, and shares what other tests built for woven
    // programs.
    let own =
        Path::new(COMMAND).parent().expect("a command is in a directory").display().to_string();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    command
        .arg(script)
        .current_dir(&directory)
        .env("PATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    command
        .env("METASPY_TEST_COMMAND", COMMAND)
        .env("METASPY_DIR", crate::client::live(&directory));
    command.env("METASPY_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    for name in [
        "METASPY_RECORD",
        "CARGO_TARGET_DIR",
        "RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
    ] {
        command.env_remove(name);
    }
    let output = command.output().expect("it ran a moment ago");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("all agreed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
