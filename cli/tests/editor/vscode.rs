//! The extension of VS Code: in VS Code's own server with a browser, in Node with a stand-in for
//! the editor, and beside the types of its interface.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Package;
use crate::editors::{COMMAND, installed, is_there, own, run};
use crate::shapes::recorded;

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// VS Code's server with the extension of metaspy, and one that writes down what the editor shows.
struct Server {
    program: PathBuf,
    home: PathBuf,
}

impl Server {
    fn new(program: PathBuf, package: &Package) -> Server {
        let home = package.target_dir().join("vscode");
        let _ = fs::remove_dir_all(&home);
        let witness = home.join("extensions/metaspy.witness-1.0.0");
        fs::create_dir_all(&witness).expect("a directory beside the package");
        fs::create_dir_all(home.join("user/User")).expect("a directory beside the package");
        for file in ["package.json", "journey.js"] {
            fs::copy(own("vscode").join(file), witness.join(file)).expect("it is there");
        }
        let settings =
            json!({ "security.workspace.trust.enabled": false, "workbench.startupEditor": "none" });
        fs::write(home.join("user/User/settings.json"), settings.to_string())
            .expect("a file beside the package");
        Server { program, home }
    }

    /// The words of its command line that select its directories.
    fn words(&self) -> [String; 5] {
        let of = |name: &str, dir: &str| format!("--{name}={}", self.home.join(dir).display());
        let dirs = [
            of("extensions-dir", "extensions"),
            of("user-data-dir", "user"),
            of("server-data-dir", "server"),
        ];
        let [extensions, user, server] = dirs;
        [
            self.program.display().to_string(),
            extensions,
            user,
            server,
            "--accept-server-license-terms".into(),
        ]
    }

    /// Installs the extension as a user does: with a command `code` in the path.
    fn install(&self, package: &Package) {
        let bin = self.home.join("bin");
        fs::create_dir_all(&bin).expect("a directory beside the package");
        let words = self.words().map(|word| format!("'{word}'")).join(" ");
        let script = bin.join("code");
        fs::write(&script, format!("#!/bin/sh\nexec node {words} \"$@\"\n"))
            .expect("a file beside the package");
        run(Command::new("chmod").arg("+x").arg(&script));
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        let output = run(package.clean_command(Path::new(COMMAND)).env("PATH", path).args([
            "lsp",
            "--install",
            "vscode",
        ]));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("`code` has the extension"), "{said}");
    }

    /// Starts it, and returns its address.
    fn start(&self, package: &Package) -> (Ended, String) {
        let mut command = package.clean_command(Path::new("node"));
        command.args(self.words()).args([
            "--host=127.0.0.1",
            "--port=0",
            "--without-connection-token",
        ]);
        command.arg("--telemetry-level=off").env("METASPY_DIR", package.target_dir().join("live"));
        command.env("METASPY_TEST_FILE", package.dir.join("src/lib.rs"));
        command.env("METASPY_TEST_RESULT", self.home.join("seen.json"));
        let mut server = Ended(
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("node is there"),
        );
        let mut lines = BufReader::new(server.0.stdout.take().expect("it is piped"))
            .lines()
            .map_while(Result::ok);
        let port = lines
            .find_map(|line| Some(line.split_once("listening on ")?.1.to_owned()))
            .expect("it starts");
        // What it prints later has a reader, too.
        thread::spawn(move || lines.for_each(drop));
        (server, format!("http://127.0.0.1:{port}/?folder={}", package.dir.display()))
    }

    /// Opens the address in a browser until the result is there.
    fn visit(&self, address: &str) -> Value {
        let mut browser = Command::new("chromium");
        browser.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--remote-debugging-port=0",
        ]);
        browser.args(["--disable-background-networking", "--window-size=1400,1000"]);
        browser
            .arg(format!("--user-data-dir={}", self.home.join("browser").display()))
            .arg(address);
        let _browser = Ended(
            browser.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it is there"),
        );
        let (result, begin) = (self.home.join("seen.json"), Instant::now());
        while !result.exists() {
            assert!(
                begin.elapsed() < Duration::from_secs(180),
                "the journey through VS Code did not end"
            );
            thread::sleep(Duration::from_millis(100));
        }
        serde_json::from_slice(&fs::read(result).expect("it is there")).expect("it is JSON")
    }
}

#[test]
fn vs_code_shows_lenses_hovers_hints_symbols_and_pictures() {
    let program = PathBuf::from(std::env::var("METASPY_VSCODE").unwrap_or_default())
        .join("out/server-main.js");
    if !program.is_file() {
        println!(
            "SKIPPED: vscode: METASPY_VSCODE names no directory with VS Code's server (.ci/run installs it)"
        );
        return;
    }
    if !is_there("vscode", "node", &["--version"])
        || !is_there("vscode", "chromium", &["--version"])
    {
        return;
    }
    let package = recorded("editor_code", &["--timed", "--types"]);
    let server = Server::new(program, &package);
    server.install(&package);
    let (_process, address) = server.start(&package);
    let seen = server.visit(&address);
    assert_eq!(seen["problem"], Value::Null, "{seen:#}");

    let lenses = seen["lenses"].as_array().expect("it is a list");
    let calls: Vec<_> =
        lenses.iter().map(|lens| (&lens[0], lens[1].as_str().unwrap_or_default())).collect();
    assert_eq!(
        calls.iter().map(|(line, _)| line.as_u64()).collect::<Vec<_>>(),
        [10, 16, 22, 27, 31].map(Some)
    );
    assert!(calls[0].1.contains("7 calls") && calls[2].1 == "never ran", "{calls:?}");
    let hover = seen["hover"].as_str().unwrap_or_default();
    assert!(hover.contains("10 times") && hover.contains("Circle::Shape::area"), "{hover}");
    assert_eq!(seen["nothing"], json!([]));
    assert_eq!(seen["inlays"], json!([[32, ": Square 70.0 %, Circle 30.0 %"]]));
    assert_eq!(seen["hints"], json!([[22, "never ran", 3]]));
    assert!(
        seen["symbols"]
            .as_array()
            .is_some_and(|all| all.contains(&json!(["Square::Shape::area", 5]))),
        "{seen:#}"
    );
    // The metric is a setting and takes effect at once. A lens follows its function, and a caller
    // is a jump away.
    assert!(
        seen["by_time"][0].as_str().is_some_and(|lens| lens.contains("self")),
        "{}",
        seen["by_time"]
    );
    assert_eq!((&seen["moved"], &seen["caller"]), (&json!(11), &json!(31)));
    assert_eq!(seen["picture"], "structural");
}

#[test]
fn the_extension_of_vs_code_shows_rulers_lenses_and_hovers() {
    if !is_there("node", "node", &["--version"]) {
        return;
    }
    let package = recorded("editor_vscode", &["--timed"]);
    let dir = installed(&package, "vscode");
    let archive = dir.join(format!("metaspy-{}.vsix", env!("CARGO_PKG_VERSION")));
    let archive = fs::File::open(archive).expect("it was made");
    zip::ZipArchive::new(archive)
        .and_then(|mut archive| archive.extract(&dir))
        .expect("it is an archive");
    let manifest =
        fs::read_to_string(dir.join("extension.vsixmanifest")).expect("it is in the archive");
    assert!(
        manifest.contains(concat!("Version=\"", env!("CARGO_PKG_VERSION"), "\"")),
        "{manifest}"
    );
    let about = fs::read(dir.join("extension/package.json")).expect("it is in the archive");
    let about: Value = serde_json::from_slice(&about).expect("it is JSON");
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));

    let result = package.dir.join("seen.json");
    let mut node = package.clean_command(Path::new("node"));
    node.arg(own("vscode/stand_in.js")).arg(dir.join("extension")).arg(&package.dir).arg(&result);
    node.env("METASPY_DIR", package.target_dir().join("live"));
    let said = run(&mut node);
    let seen =
        fs::read(&result).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&said.stderr)));
    let seen: Value = serde_json::from_slice(&seen).expect("it is JSON");
    assert_eq!((&seen["problem"], &seen["messages"]), (&Value::Null, &json!([])), "{seen:#}");

    let rulers = json!([
        [10, "charts.red"],
        [16, "charts.yellow"],
        [22, null],
        [27, "charts.red"],
        [31, "charts.blue"]
    ]);
    assert_eq!((&seen["rulers"], &seen["pictures"]), (&rulers, &json!(true)));
    assert_eq!(seen["hints"][0][0], 22);
    let hover = seen["hover"].as_str().unwrap_or_default();
    assert!(hover.contains("10 times") && seen["nothing"].is_null(), "{hover}");
    assert_eq!(seen["lenses"].as_array().map(Vec::len), Some(5));
    // Kinds as the editor counts them: a method is 5.
    assert!(
        seen["symbols"]
            .as_array()
            .is_some_and(|all| all.contains(&json!(["Square::Shape::area", 5]))),
        "{seen:#}"
    );
    assert_eq!(seen["file"]["tooltip"], "metaspy: 24 calls · 4 of 5 functions ran");
    let callers = json!([
        ["$(arrow-left) editor_vscode::total", "7 calls"],
        ["$(arrow-right) editor_vscode::product", "7 calls"]
    ]);
    assert_eq!(seen["callers"], callers);
    assert_eq!(
        (&seen["runs"], &seen["status"]),
        (&json!(["newest", "all", "1"]), &json!("metaspy: 1"))
    );
    // Each command that is declared is there.
    let declared = about["contributes"]["commands"].as_array().expect("it is a list");
    let known = seen["commands"].as_array().expect("it is a list");
    assert!(declared.iter().all(|command| known.contains(&command["command"])), "{known:?}");
}

#[test]
fn the_extension_of_vs_code_agrees_with_its_types() {
    let modules = std::env::var("METASPY_NODE_MODULES").unwrap_or_default();
    let compiler = Path::new(&modules).join("typescript/bin/tsc");
    if modules.is_empty() || !compiler.is_file() {
        println!(
            "SKIPPED: vscode-types: METASPY_NODE_MODULES names no directory with typescript and @types/vscode"
        );
        return;
    }
    let extension = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lsp/editors/vscode");
    let mut node = Command::new("node");
    node.arg(compiler).arg("-p").arg(extension.join("jsconfig.json"));
    let output = run(node.arg("--typeRoots").arg(Path::new(&modules).join("@types")));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
