//! The server for coding agents on a large recording: how long each of its tools takes, and its
//! memory.
//!
//! Each row has a server of its own. Its first call opens the recording, and the second one is the
//! same call again. Options: `--events 10M` of the demo, `--file PATH` for a recording that is
//! there, `--command PATH` for a `metaspy` that was built with its feature `mcp`, and `--smoke`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use metaspy_benches::child::{is_smoke, option};
use metaspy_benches::report::target;
use serde_json::{Value, json};

/// Time of an answer at most, on 10⁷ events.
const GOAL: Duration = Duration::from_secs(1);
/// Time that an agent takes to read which recordings there are. The server searches for findings
/// meanwhile.
const READING: Duration = Duration::from_secs(5);

fn main() {
    let command = option("--command")
        .map_or_else(build, PathBuf::from)
        .canonicalize()
        .expect("the command is there");
    let directory = target().join("agents");
    std::fs::create_dir_all(&directory).expect("it can be made");
    let file = match option("--file") {
        Some(file) => PathBuf::from(file).canonicalize().expect("the recording is there"),
        None => record(&command, &directory),
    };
    let mut client = Client::start(&command, &directory, &file);
    let described = client.ask("recordings", &json!({}))["recordings"][0].clone();
    println!(
        "{} calls, {} events, {} bytes\n",
        described["calls"], described["events"], described["bytes"]
    );
    let id =
        client.ask("event", &json!({ "filter": "site:Scene::layout", "order": "last" }))["events"]
            [0]["id"]
            .clone();
    let frame =
        client.ask("event", &json!({ "filter": "site:Scene::frame" }))["events"][0]["id"].clone();
    drop(client);
    println!(
        "| call | first (ms) | processor (ms) | again (ms) | bytes | memory (MB) |\n|---|---:|---:|---:|---:|---:|"
    );
    let mut late = Vec::new();
    for (tool, arguments) in calls(&file, &id, &frame) {
        let mut client = Client::start(&command, &directory, &file);
        let before = client.processor_time();
        let (first, bytes) = client.time(tool, &arguments);
        let processor = client.processor_time() - before;
        let (again, _) = client.time(tool, &arguments);
        let shown =
            arguments.to_string().replace(&*file.to_string_lossy(), "run.spy").replace('|', "\\|");
        println!(
            "| `{tool} {shown}` | {:.0} | {:.0} | {:.0} | {bytes} | {:.0} |",
            first.as_secs_f64() * 1e3,
            processor * 1e3,
            again.as_secs_f64() * 1e3,
            client.most_memory()
        );
        if first > GOAL {
            late.push(format!("{tool} {shown}"));
        }
    }
    let mut client = Client::start(&command, &directory, &file);
    client.ask("recordings", &json!({}));
    std::thread::sleep(READING);
    let (first, _) = client.time("findings", &json!({}));
    let pause = READING.as_secs();
    println!(
        "\n`findings {{}}`, {pause} s after `recordings {{}}`: {:.0} ms",
        first.as_secs_f64() * 1e3
    );
    match late.as_slice() {
        [] => println!("\nevery answer takes less than {} s", GOAL.as_secs()),
        late => println!("\nmore than {} s: {}", GOAL.as_secs(), late.join(", ")),
    }
}

/// A call of each tool, and of `rows` and `event` in each of their ways.
fn calls(file: &Path, id: &Value, frame: &Value) -> Vec<(&'static str, Value)> {
    let mut calls = vec![("recordings", json!({})), ("findings", json!({}))];
    for by in
        ["site", "subject", "site,subject", "cause", "sender", "cause,subject", "type", "package"]
    {
        calls.push(("rows", json!({ "by": by, "sort": "self" })));
    }
    for filter in ["site:Scene::layout", "took:>1ms", "cause:Scene::change"] {
        calls.push(("rows", json!({ "by": "subject", "filter": filter })));
    }
    for order in ["first", "last", "slowest"] {
        calls.push(("event", json!({ "filter": "site:Scene::layout", "order": order })));
    }
    calls.push(("event", json!({ "id": id })));
    calls.push(("causes", json!({ "id": id })));
    calls.push(("effects", json!({ "id": frame })));
    calls.push(("expect", json!({ "expectation": "site:Scene::layout => cause:Scene::change" })));
    calls.push(("expect", json!({ "expectation": "site:Scene::layout => took:<100ms" })));
    for by in ["site", "subject"] {
        calls.push(("compare", json!({ "before": file, "after": file, "by": by, "all": true })));
    }
    calls.push(("explain", json!({ "kind": "repeated" })));
    calls
}

/// `metaspy` of this repository, with the server.
fn build() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let arguments =
        ["build", "--release", "--package=metaspy-cli", "--features=mcp", "--bin=metaspy"];
    let mut command = Command::new(env!("CARGO"));
    let output = command
        .args(arguments)
        .arg("--message-format=json")
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output();
    let output = output.expect("cargo starts");
    assert!(output.status.success(), "the command is built");
    let messages = String::from_utf8(output.stdout).expect("it is text");
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut programs =
        messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    programs.next_back().expect("it has a program")
}

fn record(command: &Path, directory: &Path) -> PathBuf {
    let file = directory.join("run.spy");
    let events =
        option("--events").unwrap_or_else(|| if is_smoke() { "50k" } else { "10M" }.to_owned());
    let mut demo = Command::new(command);
    demo.args(["demo", "--events", &events, "--budget", "2GB", "--record"])
        .arg(&file)
        .stdout(Stdio::null());
    assert!(demo.status().expect("it starts").success(), "the demo is recorded");
    file
}

/// A client, which starts a server.
struct Client {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    requests: u64,
}

impl Client {
    fn start(command: &Path, directory: &Path, file: &Path) -> Client {
        let mut server = Command::new(command);
        // Recordings of other programs of the user are of no concern.
        server
            .arg("mcp")
            .arg(file)
            .current_dir(directory)
            .env("METASPY_DIR", directory.join("live"));
        server.env_remove("METASPY_RECORD").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = server.spawn().expect("it was built");
        let input = server.stdin.take().expect("it is piped");
        let output = BufReader::new(server.stdout.take().expect("it is piped"));
        let mut client = Client { server, input, output, requests: 0 };
        let own = json!({ "name": "bench", "version": "0" });
        let parameters =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": own });
        client.request("initialize", &parameters);
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    /// The time until the answer, and its bytes.
    fn time(&mut self, tool: &str, arguments: &Value) -> (Duration, usize) {
        let began = Instant::now();
        let message = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let took = began.elapsed();
        assert_ne!(message["result"]["isError"], true, "{tool} {arguments}: {message}");
        (took, message.to_string().len())
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> Value {
        let message = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        message["result"]["structuredContent"].clone()
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.requests += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": parameters }));
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("the server writes text");
            assert_ne!(read, 0, "the server ended: was the command built with its feature `mcp`?");
            let message: Value = serde_json::from_str(&line).expect("a message is JSON");
            if message["id"] == self.requests {
                return message;
            }
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the server reads");
    }

    /// The processor time of all threads of the server, in seconds: on a machine that is busy with
    /// other things, what it needs.
    fn processor_time(&self) -> f64 {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", self.server.id())).unwrap_or_default();
        let fields: Vec<&str> =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok());
        // Linux counts them in hundredths of a second.
        ticks(11).zip(ticks(12)).map_or(f64::NAN, |(user, system)| (user + system) / 100.0)
    }

    /// The most memory that the server had, in MB, with the parts of the recording that it read.
    fn most_memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id()))
            .unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
