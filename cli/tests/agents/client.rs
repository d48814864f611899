//! A client: one JSON message a line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::{fixture, schema};

/// The command.
pub const COMMAND: &str = env!("CARGO_BIN_EXE_metaspy");
/// A server that does not answer for so long hangs.
const HANGS: Duration = Duration::from_secs(120);

/// A client with its server.
pub struct Client {
    pub server: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    requests: u64,
    /// The tools, as the server lists them.
    pub tools: Vec<Value>,
    /// Notifications that came while an answer was awaited.
    pub notified: Vec<Value>,
}

/// The answer of a tool.
pub struct Answer {
    pub text: String,
    pub content: Value,
    pub is_error: bool,
    /// Bytes of the whole message.
    pub bytes: usize,
}

/// A directory of its own for a test, and an empty one of live recordings beside it.
pub fn workspace(name: &str) -> PathBuf {
    let directory = fixture::directory().join(name);
    std::fs::create_dir_all(&directory).expect("the directory of tests can be written");
    directory.canonicalize().expect("it was just made")
}

/// The command in a directory, without what the environment of the tests would add.
pub fn metaspy(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(COMMAND);
    command.args(arguments).current_dir(directory).env("METASPY_DIR", live(directory));
    for name in ["METASPY_RECORD", "METASPY_OBSERVE", "METASPY_PROFILE", "CARGO_TARGET_DIR"] {
        command.env_remove(name);
    }
    command
}

/// The directory of live recordings of a workspace.
pub fn live(directory: &Path) -> PathBuf {
    directory.with_extension("live")
}

impl Client {
    /// Starts a server and introduces itself.
    pub fn start(directory: &Path, arguments: &[&str]) -> Client {
        Client::of(metaspy(directory, &[&["mcp"], arguments].concat()))
    }

    /// Starts a server by this command.
    pub fn of(mut command: Command) -> Client {
        let mut client = Client::unintroduced(&mut command);
        client.send(&json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "0" },
            },
        }));
        let hello = client.answer_to(0);
        assert_eq!(hello["result"]["serverInfo"]["name"], "metaspy", "{hello}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client.tools =
            client.request("tools/list", json!({}))["tools"].as_array().expect("a list").clone();
        client
    }

    /// Starts a server and says nothing.
    pub fn unintroduced(command: &mut Command) -> Client {
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built for this");
        let input = server.stdin.take();
        let output = BufReader::new(server.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Client { server, input, lines, requests: 0, tools: Vec::new(), notified: Vec::new() }
    }

    /// Sends a line as it is.
    pub fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(line)
            .and_then(|()| input.write_all(b"\n"))
            .and_then(|()| input.flush())
            .expect("it reads");
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// The next message.
    pub fn next(&mut self) -> Value {
        serde_json::from_str(&self.next_line()).expect("a message is JSON")
    }

    fn next_line(&mut self) -> String {
        self.lines.recv_timeout(HANGS).expect("the server answers")
    }

    /// The answer to a request, with the notifications before it kept.
    pub fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == json!(id) {
                return message;
            }
            self.notified.push(message);
        }
    }

    /// Begins a request, and returns its number.
    pub fn begin(&mut self, method: &str, parameters: Value) -> u64 {
        self.requests += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.requests, "method": method, "params": parameters }));
        self.requests
    }

    /// The result of a request.
    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        let message = self.try_request(method, parameters);
        assert!(message.get("result").is_some(), "{method}: {message}");
        message["result"].clone()
    }

    /// The answer to a request, which may be an error of the protocol.
    pub fn try_request(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.begin(method, parameters);
        self.answer_to(id)
    }

    /// Calls a tool. An answer has its schema, and no control characters.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let message =
            self.try_request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &message["result"];
        let text = result["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{tool}: {message}"))
            .to_owned();
        let is_error = result["isError"] == true;
        let content = result["structuredContent"].clone();
        if !is_error {
            let described = self
                .tools
                .iter()
                .find(|described| described["name"] == tool)
                .expect("it is listed");
            let faults = schema::faults(&described["outputSchema"], &content);
            assert!(faults.is_empty(), "{tool}: {faults:?}\n{content:#}");
        }
        let bytes = message.to_string().len();
        let all = format!("{text}{}", texts(&content));
        let harmful =
            |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!all.contains(harmful), "{tool}: {all:?}");
        Answer { text, content, is_error, bytes }
    }

    /// Calls a tool that must answer.
    pub fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments);
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        answer.content
    }

    /// Calls a tool that must not answer, and returns why.
    pub fn refused(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert!(answer.is_error, "{tool}: {}", answer.text);
        answer.text
    }

    /// Closes the input and waits for the end of the server.
    pub fn close(mut self) -> i32 {
        drop(self.input.take());
        self.server.wait().expect("it ends").code().expect("it ends by itself")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// All texts in a value, keys too.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| format!("{key}{}", texts(value))).collect()
        }
        _ => String::new(),
    }
}
