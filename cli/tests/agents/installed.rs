//! `metaspy mcp --install`: entries in the files of clients.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::client::{metaspy, workspace};

fn install(directory: &std::path::Path, arguments: &[&str]) -> (i32, String) {
    let mut command = metaspy(directory, &[&["mcp", "--install"], arguments].concat());
    let output = command
        .env("HOME", directory)
        .env_remove("CODEX_HOME")
        .output()
        .expect("it was built for this test");
    let Output { status, stdout, stderr } = output;
    (
        status.code().unwrap_or(-1),
        format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)),
    )
}

#[test]
fn an_entry_is_printed_or_written_and_starts_the_server() {
    let directory = workspace("clients");
    for (client, file, servers) in [
        ("claude", ".mcp.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
        ("gemini", ".gemini/settings.json", "mcpServers"),
    ] {
        let (code, printed) =
            install(&directory, &[client, "run.spy", "--allow-run", "cargo metaspy *"]);
        assert!(code == 0 && printed.contains(file) && printed.contains("--write"), "{printed}");
        assert!(!directory.join(file).exists(), "{client}");
        let (code, written) = install(&directory, &[client, "run.spy", "--write"]);
        assert_eq!(code, 0, "{written}");
        let text = fs::read_to_string(directory.join(file)).unwrap();
        let entry: Value = serde_json::from_str(&text).unwrap();
        let entry = &entry[servers]["metaspy"];
        assert_eq!(entry["args"], json!(["mcp", "run.spy"]), "{text}");
        assert_eq!(entry["command"], crate::client::COMMAND, "{text}");
    }
    let (code, written) = install(&directory, &["codex", "--write"]);
    assert_eq!(code, 0, "{written}");
    let text = fs::read_to_string(directory.join(".codex/config.toml")).unwrap();
    assert!(
        text.starts_with("[mcp_servers.metaspy]\n") && text.contains("args = [\"mcp\"]"),
        "{text}"
    );
}

#[test]
fn a_file_that_does_not_parse_or_may_not_be_written_stays_as_it_is() {
    let directory = workspace("clients-refused");
    fs::create_dir_all(directory.join(".codex")).unwrap();
    for (client, file, text) in [
        ("claude", ".mcp.json", "{ \"mcpServers\": {"),
        ("codex", ".codex/config.toml", "[mcp_servers\n"),
    ] {
        fs::write(directory.join(file), text).unwrap();
        let (code, said) = install(&directory, &[client, "--write"]);
        assert!(code == 2 && said.contains("nothing was written") && said.contains(file), "{said}");
        assert_eq!(fs::read_to_string(directory.join(file)).unwrap(), text);
    }
    let read_only = directory.join(".mcp.json");
    fs::write(&read_only, "{}").unwrap();
    let mut permissions = fs::metadata(&read_only).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&read_only, permissions).unwrap();
    let (code, said) = install(&directory, &["claude", "--write"]);
    assert!(
        code == 2 && said.contains("read-only") && said.contains("nothing was written"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&read_only).unwrap(), "{}");
    let parts = fs::read_dir(&directory).unwrap().filter_map(Result::ok);
    assert!(
        !parts.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().ends_with(".part"))
    );
}

#[test]
fn what_cannot_be_served_is_said() {
    let directory = workspace("unserved");
    let said = |arguments: &[&str]| {
        let output =
            metaspy(&directory, arguments).stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = said(&["mcp", "-"]);
    assert!(code == Some(2) && error.contains("name files or processes"), "{error}");
    let (code, error) = said(&["mcp", "--allow-run", "*"]);
    assert!(code == Some(2) && error.contains("allows every program"), "{error}");
    let (code, error) = said(&["mcp", "--write"]);
    assert!(code == Some(2) && error.contains("--install"), "{error}");
}
