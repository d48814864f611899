//! A headless Chromium, driven over two pipes (Chrome DevTools Protocol: messages of JSON with a
//! zero byte behind each).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The names of the browser.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser with one page.
pub struct Chrome {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    next: u64,
    /// Exceptions of the page, and what its policy forbade.
    pub faults: Vec<String>,
}

impl Chrome {
    /// Starts a browser; `None` if there is none.
    pub fn start(profile: &Path) -> Option<Chrome> {
        let program = NAMES.into_iter().find(|name| {
            let version = Command::new(name)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            version.is_ok_and(|status| status.success())
        })?;
        // The browser reads messages from file 3 and writes them to file 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null", program]);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
        ]);
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ]);
        command.args(["--remote-debugging-pipe", "--hide-scrollbars"]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("a shell is here");
        let (input, output) = (
            child.stdin.take().expect("a pipe"),
            BufReader::new(child.stdout.take().expect("a pipe")),
        );
        let mut chrome =
            Chrome { child, input, output, session: String::new(), next: 0, faults: Vec::new() };
        let target = chrome.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = chrome.call("Target.attachToTarget", attach);
        chrome.session = attached["sessionId"].as_str().expect("a session").to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            chrome.call(domain, json!({}));
        }
        // A size of the window would include its bars.
        let size = json!({ "width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        chrome.call("Emulation.setDeviceMetricsOverride", size);
        Some(chrome)
    }

    /// Opens a file, and waits until its page is complete. What is behind `#` comes from `hash`.
    pub fn open(&mut self, file: &Path, hash: &str) {
        // Only another file loads anew when the part behind `#` differs.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": format!("file://{}{hash}", file.display()) }));
        self.evaluate(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))",
        );
    }

    /// The value of an expression in the page; a promise is awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let call = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", call);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses a key.
    pub fn key(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        let code = if key == "Enter" { 13 } else { 0 };
        let text = if key == "Enter" { "\r" } else { text };
        let down =
            json!({ "type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": code });
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Moves the pointer.
    pub fn point(&mut self, (x, y): (f64, f64)) {
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// Presses and releases a button of the pointer: `left` or `right`.
    pub fn click(&mut self, (x, y): (f64, f64), button: &str) {
        self.point((x, y));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// What the page looks like: a PNG of the window, in base64.
    pub fn screenshot(&mut self) -> String {
        // The picture is drawn two frames later.
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))",
        );
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        shot["data"].as_str().expect("an image").to_owned()
    }

    /// What is wrong with the labels of the picture, in sentences: those that overlap anything,
    /// that are equal to another below one parent, or that cannot be read although their method has
    /// 2 % of the time.
    pub fn label_faults(&mut self) -> Vec<String> {
        let faults = self.evaluate(include_str!("labels.js"));
        faults
            .as_array()
            .expect("a list")
            .iter()
            .map(|fault| fault.as_str().expect("a text").to_owned())
            .collect()
    }

    /// Calls a method of the protocol, and returns its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).expect("the browser reads");
        loop {
            let mut bytes = Vec::new();
            self.output.read_until(0, &mut bytes).expect("the browser writes");
            bytes.pop();
            let answer: Value = serde_json::from_slice(&bytes).expect("a message of the browser");
            let event = answer["method"].as_str().unwrap_or_default();
            if event == "Runtime.exceptionThrown" || event == "Log.entryAdded" {
                self.faults.push(answer["params"].to_string());
            }
            if answer["id"].as_u64() == Some(self.next) {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
