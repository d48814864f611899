//! The first example of each help: it works where it is pasted.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::{ended, fixture};

/// Needs a terminal: the tests of the terminal run them.
const OF_A_TERMINAL: [&str; 3] = ["attach", "demo", "open"];
/// Needs a repository with a program, or valgrind: tests of their own run them.
const OF_A_PROGRAM: [&str; 2] = ["history", "instructions"];

/// The commands of the overview, without those of `metaspy-scale`.
fn commands() -> Vec<String> {
    let (code, help, _) = ended(&["--help"]);
    assert_eq!(code, 0, "{help}");
    let rows = help
        .lines()
        .skip_while(|line| !line.starts_with("Look"))
        .take_while(|line| !line.starts_with("Fleets"));
    rows.map(|row| row[10..].split_whitespace().next().expect("a row has a command").to_owned())
        .collect()
}

/// The examples of a help, up to the first one that runs the command.
fn first_example(command: &str) -> String {
    let (code, help, _) = ended(&[command, "--help"]);
    assert_eq!(code, 0, "{help}");
    let mut lines = help.lines();
    assert!(
        lines.next().is_some_and(|line| line.starts_with("Example")),
        "{command} begins with an example: {help}"
    );
    let mut example = String::new();
    for line in lines.map_while(|line| line.strip_prefix("  ")) {
        example += &format!("{line}\n");
        if line.contains(&format!("metaspy {command}")) {
            return example;
        }
    }
    panic!("the help has no example of {command}: {help}");
}

fn pasted(example: &str, directory: &Path) -> Output {
    let metaspy = Path::new(env!("CARGO_BIN_EXE_metaspy")).parent().expect("it is in a directory");
    let path = format!("{}:{}", metaspy.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-ec", example]).current_dir(directory).env("PATH", path).env("HOME", directory);
    shell
        .env("METASPY_DIR", directory.join("live"))
        .env_remove("METASPY_RECORD")
        .env_remove("XDG_DATA_HOME");
    shell.output().expect("there is a shell")
}

#[test]
fn the_first_example_of_each_command_works() {
    let directory = fixture::directory().join("examples");
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let mut ran = 0;
    for command in commands() {
        let example = first_example(&command);
        if OF_A_TERMINAL.contains(&command.as_str()) || OF_A_PROGRAM.contains(&command.as_str()) {
            continue;
        }
        // The recording is made once.
        let is_made =
            |line: &&str| line.starts_with("metaspy demo") && directory.join("run.spy").exists();
        let example = match command.as_str() {
            "sample" | "diff" => example,
            _ => example.lines().filter(|line| !is_made(line)).collect::<Vec<_>>().join("\n"),
        };
        let Output { status, stdout, stderr } = pasted(&example, &directory);
        let (out, error) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        // What it needs takes long to build, so it is no default.
        if command == "mcp" && !cfg!(feature = "mcp") {
            assert!(error.contains("cargo install --locked --path cli --features mcp"), "{error}");
            continue;
        }
        assert!(status.success(), "{example}: {out}{error}");
        ran += 1;
    }
    assert!(ran > 10, "{ran}");
}

#[test]
fn commands_of_the_other_package_state_how_it_is_installed() {
    for command in ["query", "seal", "restore", "cluster", "ship", "serve", "otlp"] {
        let output = Command::new(env!("CARGO_BIN_EXE_metaspy"))
            .arg(command)
            .env("PATH", "/nowhere")
            .output();
        let error =
            String::from_utf8_lossy(&output.expect("it can be started").stderr).into_owned();
        assert!(error.contains("cargo install --locked --path scale"), "{command}: {error}");
    }
}

/// The commands of `docs/README.md`.
fn questions() -> Vec<String> {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/README.md"))
        .expect("the page exists");
    let cells = page
        .lines()
        .filter(|line| line.starts_with("| "))
        .filter_map(|line| line.split(" | ").nth(1));
    let commands = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    commands
        .filter(|code| code.contains("metaspy "))
        .map(|code| code.replace("\\|", "|").replace("4711", "4194999"))
        .collect()
}

#[test]
fn every_question_of_the_documents_has_a_command_that_runs() {
    let directory = fixture::directory().join("questions");
    fs::create_dir_all(directory.join("CORPUS")).expect("the test's directory can be written");
    fs::write(directory.join("FILE.pest"), "RULE = { \"a\" | \"b\" }").expect("it can be written");
    fs::write(directory.join("CORPUS/a"), "a").expect("it can be written");
    fs::write(directory.join("stacks.txt"), "main;parse 17\n").expect("it can be written");
    let recorded =
        pasted("METASPY_KEEP='took:>p99' metaspy demo --record run.spy --events 120k", &directory);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    for name in ["before", "after", "client", "server"] {
        fs::copy(directory.join("run.spy"), directory.join(format!("{name}.spy")))
            .expect("it can be copied");
    }
    let questions = questions();
    assert!(questions.len() > 35, "{}", questions.len());
    for command in questions {
        let words: Vec<&str> = command.split_whitespace().collect();
        // A test of streams has both ends on this machine.
        if words[0] == "ssh" {
            continue;
        }
        if words[..2] == ["cargo", "metaspy"] {
            use metaspy_cli::cargo_metaspy::arguments::{Cli, sorted};
            let parsed =
                <Cli as clap::Parser>::try_parse_from(sorted(words[1..].iter().map(Into::into)));
            assert!(parsed.is_ok(), "{command}");
            continue;
        }
        let Output { status, stdout, stderr } = pasted(&command, &directory);
        let (code, error) = (status.code(), String::from_utf8_lossy(&stderr));
        match words[1] {
            "open" | "attach" => {
                assert!(
                    ["terminal", "recorded", "the same recording"]
                        .iter()
                        .any(|why| error.contains(why)),
                    "{command}: {error}"
                )
            }
            "mcp" if !cfg!(feature = "mcp") => {
                assert!(error.contains("--features mcp"), "{command}: {error}")
            }
            "query" | "ship" | "serve" | "otlp" => {
                assert!(error.contains("--path scale"), "{command}: {error}")
            }
            // There is no such program, process or repository.
            "sample" | "history" => assert!(!error.contains("Usage"), "{command}: {error}"),
            _ => assert!(
                matches!(code, Some(0 | 1)),
                "{command}: {}{error}",
                String::from_utf8_lossy(&stdout)
            ),
        }
    }
}
