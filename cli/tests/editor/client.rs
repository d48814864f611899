//! A client of the language server: a process, and messages over its standard input and output.

use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

use crate::common::Package;

/// A server that does not answer for so long hangs.
const HANGS: Duration = Duration::from_secs(120);

/// A client.
pub struct Client {
    pub server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Message>,
    /// Notifications that came while something else was awaited.
    noted: Vec<Notification>,
    requests: i32,
    /// Versions of texts.
    version: i32,
}

/// The address of a file.
pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// Starts a server, with nothing said yet.
    pub fn spawn(package: &Package) -> Client {
        let mut command = package.clean_command(Path::new(env!("CARGO_BIN_EXE_metaspy")));
        // Recordings of other programs of the user are of no concern.
        command.env("METASPY_DIR", package.target_dir().join("live")).arg("lsp");
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was built for this test");
        let input = server.stdin.take();
        let mut output = BufReader::new(server.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        thread::spawn(move || {
            while let Ok(Some(message)) = Message::read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Client { server, input, messages, noted: Vec::new(), requests: 0, version: 1 }
    }

    /// Starts a server for the folders of these packages, with these settings.
    pub fn start(packages: &[&Package], settings: Value) -> Client {
        let mut client = Client::spawn(packages[0]);
        let folders =
            packages.iter().map(|package| json!({ "uri": uri(&package.dir), "name": "folder" }));
        let parameters = json!({
            "processId": null,
            "rootUri": null,
            "workspaceFolders": folders.collect::<Vec<_>>(),
            "initializationOptions": settings,
            "capabilities": { "textDocument": { "hover": { "contentFormat": ["markdown"] } } },
        });
        client.request("initialize", parameters);
        client.notify("initialized", json!({}));
        client
    }

    /// Starts a server and opens a file of the package, which has been recorded.
    pub fn open(package: &Package, settings: Value) -> Client {
        let mut client = Client::start(&[package], settings);
        client.open_file(package, crate::shapes::SOURCE);
        client.await_numbers(package);
        client
    }

    pub fn open_file(&mut self, package: &Package, text: &str) {
        let document =
            json!({ "uri": file(package), "languageId": "rust", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change_file(&mut self, package: &Package, text: &str) {
        self.version += 1;
        let document = json!({ "uri": file(package), "version": self.version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
    }

    /// Waits until something was read of the package.
    pub fn await_numbers(&mut self, package: &Package) {
        while self.about("metaspy/heat", package).is_null() {
            self.await_note("metaspy/changed", |_| true);
        }
    }

    /// Waits until this number of runs is shown.
    pub fn await_runs(&mut self, number: usize) {
        let picked = |runs: &Value| {
            runs["runs"]
                .as_array()
                .map_or(0, |runs| runs.iter().filter(|run| run["picked"] == json!(true)).count())
        };
        while picked(&self.request("metaspy/runs", json!({}))) < number {
            self.await_note("metaspy/changed", |_| true);
        }
    }

    pub fn send(&mut self, message: impl Into<Message>) {
        let input = self.input.as_mut().expect("it is not closed");
        message.into().write(input).expect("the server reads");
    }

    pub fn notify(&mut self, method: &str, parameters: Value) {
        self.send(Notification { method: method.into(), params: parameters });
    }

    /// The result of a request, or its error.
    pub fn try_request(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.requests += 1;
        let id = self.requests.into();
        self.send(Request { id, method: method.into(), params: parameters });
        loop {
            match self.messages.recv_timeout(HANGS).expect("the server answers") {
                Message::Response(response) if response.id == self.requests.into() => {
                    return match response.response_result {
                        Ok(result) => Ok(result),
                        Err(error) => Err(error.message),
                    };
                }
                Message::Notification(note) => self.noted.push(note),
                _ => {}
            }
        }
    }

    /// The result of a request.
    pub fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.try_request(method, parameters).expect("it is no error")
    }

    /// The result of a request about the file of a package.
    pub fn about(&mut self, method: &str, package: &Package) -> Value {
        self.request(method, json!({ "textDocument": { "uri": file(package) } }))
    }

    /// Waits for a notification that passes.
    pub fn await_note(&mut self, method: &str, passes: impl Fn(&Value) -> bool) -> Value {
        loop {
            let found =
                self.noted.iter().position(|note| note.method == method && passes(&note.params));
            if let Some(found) = found {
                return self.noted.remove(found).params;
            }
            if let Message::Notification(note) =
                self.messages.recv_timeout(HANGS).expect("the server sends it")
            {
                self.noted.push(note);
            }
        }
    }

    /// Waits until the hints of the present text of a file have come, which are sent last.
    pub fn await_hints(&mut self, package: &Package) {
        let (uri, version) = (file(package), self.version);
        let is_last = |note: &Value| note["uri"] == json!(uri) && note["version"] == json!(version);
        self.await_note("textDocument/publishDiagnostics", is_last);
    }

    /// The messages of these notifications that have come while something else was awaited.
    pub fn messages_of(&self, method: &str) -> Vec<String> {
        let notes = self.noted.iter().filter(|note| note.method == method);
        notes.map(|note| note.params["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The text of the hover in the middle of this part of a line of the text; empty without one.
    pub fn hover(&mut self, package: &Package, text: &str, line: &str, part: &str) -> String {
        let at = text.lines().position(|it| it.contains(line)).expect("there is such a line");
        let before =
            text.lines().nth(at).and_then(|it| it.split(part).next()).expect("it has this part");
        let character = before.encode_utf16().count() + part.len() / 2;
        let place = json!({ "textDocument": { "uri": file(package) }, "position": { "line": at, "character": character } });
        let found = self.request("textDocument/hover", place);
        found["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// The titles of all lenses, with the numbers of their lines.
    pub fn lenses(&mut self, package: &Package) -> Vec<(u64, String)> {
        let lenses = self.about("textDocument/codeLens", package);
        let lens = |lens: &Value| {
            let line = lens["range"]["start"]["line"].as_u64().expect("it is a number") + 1;
            (line, lens["command"]["title"].as_str().expect("it is a text").to_owned())
        };
        lenses.as_array().map_or(Vec::new(), |lenses| lenses.iter().map(lens).collect())
    }

    /// Closes the server's input, as a client does that is killed, and waits for its end.
    pub fn vanish(mut self) -> Option<i32> {
        self.input = None;
        self.server.wait().expect("it ends").code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn file(package: &Package) -> String {
    let library = package.dir.join("src/lib.rs");
    uri(&if library.exists() { library } else { package.dir.join("src/main.rs") })
}
