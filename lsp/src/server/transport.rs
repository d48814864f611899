//! Transport of messages over standard input and output. A message above the maximum length is
//! refused before memory is allocated for it.

use std::io::{self, BufRead, Read, Write, stdin, stdout};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, ErrorCode, Message, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// Maximum length of a message, in bytes. The text of a file is part of a message.
const LONGEST: u64 = 64 * 1024 * 1024;
/// Maximum length of a message's headers, in bytes.
const HEADERS: u64 = 64 * 1024;

/// Reader and writer thread of a connection.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

/// Connects standard input and output to channels of messages.
pub fn connect() -> io::Result<(Connection, Threads)> {
    let (sender, to_write) = bounded::<Message>(0);
    let (read, receiver) = bounded(0);
    // Both threads write, so none keeps the lock.
    let write =
        move || to_write.into_iter().try_for_each(|message| message.write(&mut stdout().lock()));
    let read = move || {
        let mut input = stdin().lock();
        while let Some(message) = next(&mut input)? {
            let message = match message {
                Ok(message) => message,
                Err(unreadable) => {
                    unreadable.answer(&mut stdout().lock())?;
                    continue;
                }
            };
            let is_exit = matches!(&message, Message::Notification(it) if it.method == "exit");
            if read.send(message).is_err() || is_exit {
                break;
            }
        }
        Ok(())
    };
    let writer = thread::Builder::new().name("metaspy-writer".into()).spawn(write)?;
    let reader = thread::Builder::new().name("metaspy-messages".into()).spawn(read)?;
    Ok((Connection { sender, receiver }, Threads { reader, writer }))
}

impl Threads {
    /// Waits until everything is read and written. An error describes the message that could not be
    /// read.
    pub fn join(self) -> io::Result<()> {
        let ended = |thread: JoinHandle<io::Result<()>>| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("panic")))
        };
        ended(self.reader)?;
        ended(self.writer)
    }
}

/// Message that is no JSON, or no message of the protocol. The next one may be, so the server goes
/// on.
#[derive(Debug)]
struct Unreadable {
    error: String,
    /// Its id; `null` if it is not known.
    id: Value,
    /// True for a notification and a response, which have no answer.
    is_ignored: bool,
}

impl Unreadable {
    fn new(message: &[u8], error: &serde_json::Error) -> Unreadable {
        /// Members that can be read although others cannot: their values are skipped, whatever they
        /// contain.
        #[derive(Deserialize)]
        struct Envelope {
            id: Option<RequestId>,
            method: Option<IgnoredAny>,
        }
        let envelope =
            serde_json::from_slice(message).unwrap_or(Envelope { id: None, method: None });
        let is_ignored = envelope.id.is_some() != envelope.method.is_some();
        let id = envelope.id.map_or(Value::Null, |id| serde_json::to_value(id).unwrap_or_default());
        Unreadable { error: format!("the message cannot be read: {error}"), id, is_ignored }
    }

    fn answer(&self, output: &mut impl Write) -> io::Result<()> {
        if self.is_ignored {
            return Ok(());
        }
        let error = json!({ "code": ErrorCode::ParseError as i32, "message": self.error });
        let answer = json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string();
        write!(output, "Content-Length: {}\r\n\r\n{answer}", answer.len())?;
        output.flush()
    }
}

/// Reads the next message. Returns `None` at the end of the input.
fn next(input: &mut impl BufRead) -> io::Result<Option<Result<Message, Unreadable>>> {
    let mut headers = Vec::new();
    let mut rest = input.by_ref().take(HEADERS);
    while !headers.ends_with(b"\r\n\r\n") && headers != b"\r\n" {
        if rest.read_until(b'\n', &mut headers)? > 0 {
            continue;
        }
        if rest.limit() == 0 {
            return Err(malformed("a message has headers of more than 64 KiB"));
        }
        return Ok(None);
    }
    let length = length_in(&headers)?;
    let mut message = Vec::new();
    // Memory grows with the received bytes, whatever the header states.
    if input.by_ref().take(length).read_to_end(&mut message)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(serde_json::from_slice(&message).map_err(|error| Unreadable::new(&message, &error))))
}

/// Reads the length of a message from its headers.
fn length_in(headers: &[u8]) -> io::Result<u64> {
    let headers = String::from_utf8_lossy(headers);
    let value = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("Content-Length").then(|| value.trim())
    });
    let value = value.ok_or_else(|| malformed("a message has no Content-Length"))?;
    match value.parse() {
        Ok(length) if length <= LONGEST => Ok(length),
        _ => Err(malformed(&format!(
            "a message has the Content-Length `{value}`: it may be at most {LONGEST}"
        ))),
    }
}

fn malformed(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the result of reading this input: the method of a notification, or an error.
    fn check(input: &str, expected: &str) {
        let found = match next(&mut input.as_bytes()) {
            Ok(Some(Ok(Message::Notification(notification)))) => notification.method,
            Ok(Some(Err(unreadable))) => {
                let mut answer = Vec::new();
                unreadable.answer(&mut answer).expect("there is room");
                String::from_utf8(answer).expect("it is text")
            }
            Ok(Some(other)) => format!("{other:?}"),
            Ok(None) => "the end".to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{input}: {found}");
    }

    #[test]
    fn a_message_is_as_long_as_its_header_states() {
        let text = "{\"method\":\"a/b\"}";
        check(
            &format!("content-length: {}\r\nContent-Type: x\r\n\r\n{text} more", text.len()),
            "a/b",
        );
        check(&format!("Content-Length: {}\r\n\r\n{text}", text.len() + 1), "end of file");
        check("", "the end");
    }

    #[test]
    fn a_message_that_cannot_be_read_is_answered_if_it_may_be_a_request() {
        let check = |text: &str, expected: &str| {
            check(&format!("Content-Length: {}\r\n\r\n{text}", text.len()), expected)
        };
        let deep = "[".repeat(200) + &"]".repeat(200);
        for request in [
            r#"{"id":7,"method":"a","params":"\ud83d"}"#,
            &format!(r#"{{"id":7,"method":"a","params":{deep}}}"#),
        ] {
            check(request, r#""id":7"#);
            check(request, "-32700");
        }
        for unknown in [r#"{"a":"#, "", r#"[{"id":7,"method":"a"}]"#, "{}", "\0"] {
            check(unknown, r#""id":null"#);
            check(unknown, "-32700");
        }
        let ignored = Unreadable::new(
            br#"{"method":"a","params":"\ud83d"}"#,
            &serde_json::from_str::<u8>("").unwrap_err(),
        );
        assert!(ignored.is_ignored, "{ignored:?}");
    }

    #[test]
    fn a_message_that_is_too_long_is_refused() {
        check(
            "Content-Length: 99999999999999\r\n\r\n{",
            "Content-Length `99999999999999`: it may be at most 67108864",
        );
        check("Content-Length: -5\r\n\r\n{", "it may be at most");
        check("X: 5\r\n\r\n{", "no Content-Length");
        check(&"x\n".repeat(100_000), "more than 64 KiB");
    }
}
