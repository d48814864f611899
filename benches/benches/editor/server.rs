//! The language server on a large workspace: how long a hover takes, its memory, and how soon it
//! shows a call that has just been made.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, Request};
use metaspy_benches::child;
use metaspy_benches::package::Package;
use metaspy_benches::report::target;
use metaspy_benches::stats::{median, quantile};
use serde_json::{Value, json};

/// Functions of a module, and lines of a function: with 100 modules the workspace has 100,000
/// lines.
const FUNCTIONS: usize = 50;
const LINES: usize = 20;
/// Files that are open in the editor.
const OPEN: usize = 8;
/// Calls whose way to the editor is measured.
const UPDATES: usize = 20;

/// Builds and runs the workspace, and measures a server on it.
pub fn measure(weaver: &Path) {
    let modules = if child::is_smoke() { 3 } else { 100 };
    let package = workspace(modules);
    let line = ["metaspy", "run", "--quiet", "--timed"];
    package.time(weaver, &line);
    println!(
        "a workspace of {} lines in {} functions, all of them ran",
        modules * FUNCTIONS * LINES,
        modules * FUNCTIONS
    );

    let mut running = package
        .command(weaver, &line)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut program = Pipes::of(&mut running);
    program.call();

    let started = Instant::now();
    let mut client = Client::start(&weaver.with_file_name("metaspy"), &package);
    for module in 0..OPEN.min(modules) {
        client.open(&package, module);
    }
    client.await_numbers(&package);
    report("from the start to the first numbers, ms", &[ms(started)], None);

    let mut took = Vec::new();
    for module in 0..OPEN.min(modules) {
        for function in 0..FUNCTIONS {
            let started = Instant::now();
            let text = client.hover(&package, module, function);
            took.push(ms(started));
            assert!(text.contains("call"), "module {module}, function {function}: {text}");
        }
    }
    report("a hover, ms", &took, Some(50.0));

    let mut took = Vec::new();
    for _ in 0..UPDATES {
        let before = client.hover(&package, 0, 0);
        program.call();
        let called = Instant::now();
        while client.hover(&package, 0, 0) == before {
            assert!(
                called.elapsed() < Duration::from_secs(60),
                "the server shows no further call: {before}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        took.push(ms(called));
    }
    report("from a call to its hover, ms", &took, Some(1000.0));
    report("most memory, MB", &[client.most_memory()], Some(150.0));
    drop(program);
    assert!(running.wait().expect("it ends").success());
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Prints a row: the median, and the slowest in a hundred beside the goal.
fn report(what: &str, took: &[f64], goal: Option<f64>) {
    let slowest = quantile(took, 0.99);
    let verdict = goal.map_or(String::new(), |goal| {
        format!("   goal {}: {goal:.0}", if slowest <= goal { "met" } else { "missed" })
    });
    println!("{what:<44} median {:>8.2}   p99 {slowest:>8.2}{verdict}", median(took));
}

/// A package whose program runs all functions, and then one of them for each line that it reads.
fn workspace(modules: usize) -> Package {
    let manifest = "[package]\nname = \"editor-workspace\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                    [profile.dev]\ndebug = false\n";
    let mut files: Vec<(String, String)> = vec![("Cargo.toml".into(), manifest.into())];
    let mut main: String = (0..modules).map(|module| format!("mod m{module};\n")).collect();
    main += "\nfn main() {\n    let mut sum = 0;\n";
    let last = FUNCTIONS - 1;
    main.extend((0..modules).map(|module| format!("    sum += m{module}::f{last}(1) & 1;\n")));
    main += "    for _ in std::io::stdin().lines() {\n        sum += m0::f0(1) & 1;\n        println!(\"{sum}\");\n    }\n}\n";
    files.push(("src/main.rs".into(), main));
    files.extend((0..modules).map(|module| (format!("src/m{module}.rs"), source())));
    let files: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (&**path, text.clone())).collect();
    let package = Package::new("editor-workspace", &files);
    // Where the server looks for runs.
    Package { target: package.dir.join("target"), ..package }
}

/// A module: functions of the same length, and each calls the one above.
fn source() -> String {
    let one = |number: usize| {
        let steps = "    sum = sum.wrapping_mul(31).wrapping_add(7);\n".repeat(LINES - 5);
        let above =
            number.checked_sub(1).map_or("sum".to_owned(), |above| format!("f{above}(sum)"));
        format!(
            "pub fn f{number}(from: u64) -> u64 {{\n    let mut sum = from;\n{steps}    {above}\n}}\n\n"
        )
    };
    (0..FUNCTIONS).map(one).collect()
}

/// The running program.
struct Pipes {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipes {
    fn of(program: &mut Child) -> Pipes {
        let (input, output) = (program.stdin.take(), program.stdout.take());
        Pipes {
            input: input.expect("it is piped"),
            output: BufReader::new(output.expect("it is piped")),
        }
    }

    /// Makes one call, and waits until it was made.
    fn call(&mut self) {
        writeln!(self.input, "once more").expect("the program reads");
        self.output.read_line(&mut String::new()).expect("the program answers");
    }
}

/// A client of the server.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: i32,
}

impl Client {
    fn start(program: &Path, package: &Package) -> Client {
        let mut command = Command::new(program);
        // Recordings of other programs of the user are of no concern.
        command
            .arg("lsp")
            .current_dir(&package.dir)
            .env("METASPY_DIR", target().join("editor").join("live"));
        command
            .env("CARGO_TARGET_DIR", &package.target)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut server = command.spawn().expect("it was built");
        let Pipes { input, output } = Pipes::of(&mut server);
        let mut client = Client { server, input, output, requests: 0 };
        let folder = json!({ "uri": uri(&package.dir), "name": "workspace" });
        client.request(
            "initialize",
            json!({ "processId": null, "rootUri": null, "workspaceFolders": [folder], "capabilities": {} }),
        );
        client.notify("initialized", json!({}));
        client
    }

    fn open(&mut self, package: &Package, module: usize) {
        let document = json!({ "uri": uri(&file(package, module)), "languageId": "rust", "version": 1, "text": source() });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Waits until the open files have numbers.
    fn await_numbers(&mut self, package: &Package) {
        while !self.hover(package, 0, 0).contains("call") {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The text of the hover on the name of a function.
    fn hover(&mut self, package: &Package, module: usize, function: usize) -> String {
        let position = json!({ "line": function * LINES, "character": 7 });
        let place =
            json!({ "textDocument": { "uri": uri(&file(package, module)) }, "position": position });
        self.request("textDocument/hover", place)["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.into(), params }.into());
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        self.send(Request { id: self.requests.into(), method: method.into(), params }.into());
        loop {
            let message = Message::read(&mut self.output)
                .expect("it is a message")
                .expect("the server answers");
            if let Message::Response(response) = message {
                assert_eq!(response.id, self.requests.into());
                return response.response_result.expect("it is no error");
            }
        }
    }

    fn send(&mut self, message: Message) {
        message.write(&mut self.input).expect("the server reads");
    }

    /// The most memory that the server had, in MB.
    fn most_memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id()))
            .expect("it runs on Linux");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .expect("the kernel reports it");
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("it is a number");
        kib * 1024.0 / 1e6
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn file(package: &Package, module: usize) -> PathBuf {
    package.dir.join(format!("src/m{module}.rs"))
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
