//! Transport of messages over standard input and output. A message above the maximum length is
//! refused before memory is allocated for it.

use std::io::{self, BufRead, Read, stdin, stdout};
use std::thread::{self, JoinHandle};

use crossbeam_channel::bounded;
use lsp_server::{Connection, Message};

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
    let write = move || {
        let mut output = stdout().lock();
        to_write.into_iter().try_for_each(|message| message.write(&mut output))
    };
    let read = move || {
        let mut input = stdin().lock();
        while let Some(message) = next(&mut input)? {
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
        let ended =
            |thread: JoinHandle<io::Result<()>>| thread.join().unwrap_or_else(|_| Err(io::Error::other("panic")));
        ended(self.reader)?;
        ended(self.writer)
    }
}

/// Reads the next message. Returns `None` at the end of the input.
fn next(input: &mut impl BufRead) -> io::Result<Option<Message>> {
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
    let mut message = headers;
    // Memory grows with the received bytes, whatever the header states.
    if input.by_ref().take(length).read_to_end(&mut message)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Message::read(&mut message.as_slice())
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
        _ => Err(malformed(&format!("a message has the Content-Length `{value}`: it may be at most {LONGEST}"))),
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
            Ok(Some(Message::Notification(notification))) => notification.method,
            Ok(Some(other)) => format!("{other:?}"),
            Ok(None) => "the end".to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{input}: {found}");
    }

    #[test]
    fn a_message_is_as_long_as_its_header_states() {
        let text = "{\"method\":\"a/b\"}";
        check(&format!("content-length: {}\r\nContent-Type: x\r\n\r\n{text} more", text.len()), "a/b");
        check(&format!("Content-Length: {}\r\n\r\n{text}", text.len() + 1), "end of file");
        check("", "the end");
    }

    #[test]
    fn a_message_that_is_too_long_is_refused() {
        check("Content-Length: 99999999999999\r\n\r\n{", "Content-Length `99999999999999`: it may be at most 67108864");
        check("Content-Length: -5\r\n\r\n{", "it may be at most");
        check("X: 5\r\n\r\n{", "no Content-Length");
        check(&"x\n".repeat(100_000), "more than 64 KiB");
    }
}
