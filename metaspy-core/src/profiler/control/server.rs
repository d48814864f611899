//! The socket beside a recording. The collector serves it between its rounds, and never waits for a
//! reader.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::platform::clock::monotonic_ns;
use crate::platform::lock::lock;
use crate::platform::peer;
use crate::recorder::{self, Listener, Log, Module};
use crate::store::control::{ControlAnswer, MOST_BYTES, socket_of};

/// Connections at one time. Others wait in the queue of the system.
const CONNECTIONS: usize = 4;
/// The longest life of a connection.
const PATIENCE_NS: u64 = 5_000_000_000;
/// Bytes that are read at a time.
const PIECE: usize = 1 << 16;

/// The server of the current recording, while no round works with it.
static SERVER: Mutex<Option<Server>> = Mutex::new(None);

/// Lets readers of this recording arm and disarm sites. Why that fails is noted in the recording.
pub(super) fn allow(log: &'static Log) {
    let Some(file) = &log.file else { return };
    match Server::listen(log.serial, socket_of(file.path())) {
        Ok(server) => {
            let before = lock(&SERVER).replace(server);
            drop(before);
            recorder::listen(Module::Control, &Control);
        }
        Err(error) => log.note(&format!(
            "Readers cannot arm or disarm sites: the socket beside the recording: {error}"
        )),
    }
}

struct Control;

impl Listener for Control {
    fn round_ended(&self, log: &Log) {
        // No lock is held while a request is applied.
        let Some(mut server) = lock(&SERVER).take() else { return };
        // In a forked child, it is the parent's.
        if server.owner != std::process::id() {
            return;
        }
        if server.log == log.serial {
            if log.is_stopped() {
                return;
            }
            recorder::at_meta_level(|| server.serve());
        }
        let mut place = lock(&SERVER);
        // The log may have been closed meanwhile, or another one may have begun.
        if place.is_none() && !(server.log == log.serial && log.is_stopped()) {
            *place = Some(server);
        }
    }
}

struct Server {
    /// The serial number of the log.
    log: u64,
    listener: UnixListener,
    socket: PathBuf,
    connections: Vec<Connection>,
    /// The process. A forked child has a copy.
    owner: u32,
}

impl Server {
    fn listen(log: u64, socket: PathBuf) -> io::Result<Self> {
        remove_stale(&socket);
        // A copy has no number of a standard stream, which the program may have closed and may open
        // again.
        let listener = UnixListener::bind(&socket)?.try_clone()?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Server { log, listener, socket, connections: Vec::new(), owner: std::process::id() })
    }

    /// Accepts connections and continues each of them, as far as that is possible without waiting.
    fn serve(&mut self) {
        while self.connections.len() < CONNECTIONS {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if peer::is_own(&stream) && stream.set_nonblocking(true).is_ok() {
                self.connections.push(Connection::new(stream));
            }
        }
        let now = monotonic_ns();
        self.connections.retain_mut(|connection| connection.goes_on(now));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            remove_stale(&self.socket);
        }
    }
}

/// Removes a socket that an ended process has left, and no other file.
fn remove_stale(socket: &Path) {
    if fs::symlink_metadata(socket).is_ok_and(|meta| meta.file_type().is_socket()) {
        let _ = fs::remove_file(socket);
    }
}

/// A connection: a line comes in, and a line goes out.
struct Connection {
    stream: UnixStream,
    began_ns: u64,
    request: Vec<u8>,
    /// The rest of the answer.
    answer: Option<Vec<u8>>,
}

impl Connection {
    fn new(stream: UnixStream) -> Self {
        Connection { stream, began_ns: monotonic_ns(), request: Vec::new(), answer: None }
    }

    /// Continues without waiting. False if it has ended.
    fn goes_on(&mut self, now: u64) -> bool {
        now.saturating_sub(self.began_ns) < PATIENCE_NS
            && match self.step() {
                Ok(goes_on) => goes_on,
                Err(error) => error.kind() == ErrorKind::WouldBlock,
            }
    }

    fn step(&mut self) -> io::Result<bool> {
        while self.answer.is_none() {
            if !self.read()? {
                return Ok(false);
            }
        }
        let Some(answer) = &mut self.answer else { return Ok(true) };
        while !answer.is_empty() {
            let written = self.stream.write(answer)?;
            if written == 0 {
                return Ok(false);
            }
            answer.drain(..written);
        }
        Ok(false)
    }

    /// Reads a piece of the request, and answers a complete one. False at the end.
    fn read(&mut self) -> io::Result<bool> {
        let mut piece = [0; PIECE];
        let count = self.stream.read(&mut piece)?;
        self.request.extend_from_slice(&piece[..count]);
        if self.request.last() == Some(&b'\n') {
            self.answer = Some(answer_to(&self.request));
        }
        Ok(count > 0 && self.request.len() <= MOST_BYTES)
    }
}

fn answer_to(line: &[u8]) -> Vec<u8> {
    let answer: ControlAnswer = match serde_json::from_slice(line) {
        Ok(request) => super::answer(&request),
        Err(error) => Err(format!(
            "the request cannot be read ({error}): use a `metaspy` of the program's version"
        )),
    };
    let mut line = serde_json::to_vec(&answer).unwrap_or_default();
    line.push(b'\n');
    line
}
