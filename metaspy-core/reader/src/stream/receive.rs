//! Receiving side of a stream. Words are written to a temporary file, which stores read meanwhile.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::merge::output::temporary_file;
use crate::platform::map;
use crate::store::stream_state::StreamState;
use crate::{EndState, OpenError, Store, debug_as_message};
use metaspy_format::stream::{self, Frame, HEAD_WORDS, HEADER_WORDS, Head};
use metaspy_format::{Region, SLOT_WORDS, header, superblock as sb};

/// Number of words of each allocation of the file.
const STEP: usize = 1 << 17;
/// Maximum number of words of a round in memory. The beginning of a longer round is shown before
/// its end arrives.
const ROUND_MAX: usize = 8 << 20;

/// Reason why a stream cannot be read.
#[non_exhaustive]
pub enum StreamError {
    /// The input is empty.
    Empty,
    /// The input is neither a stream nor a recording.
    NotAStream,
    /// A later version of metaspy sent the stream.
    Newer {
        /// Major version of the stream.
        major: u32,
    },
    /// The input ended before a first round was complete.
    Cut,
    /// The header contradicts itself.
    Damaged,
    /// The input cannot be read, or the temporary file cannot be written.
    Io(io::Error),
    /// The recording in the stream cannot be read.
    Open(OpenError),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::Empty => {
                f.write_str("the input is empty: check that the command before the pipe did not fail")
            }
            StreamError::NotAStream => f.write_str(
                "this is neither a recording nor a stream of one: send it with `metaspy stream PID`, or a `.spy` file",
            ),
            StreamError::Newer { major } => write!(
                f,
                "this stream has version {major}, and this metaspy reads up to {}: install a newer metaspy here",
                stream::MAJOR
            ),
            StreamError::Cut => f.write_str("the stream ended before anything of the recording had come: try again"),
            StreamError::Damaged => {
                f.write_str("the first words of the stream make no sense: it was changed on its way; send it again")
            }
            StreamError::Io(error) => {
                write!(f, "the stream cannot be kept ({error}): make room in the temporary directory, or set TMPDIR")
            }
            StreamError::Open(error) => error.fmt(f),
        }
    }
}

debug_as_message!(StreamError);

impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StreamError::Io(error) => Some(error),
            StreamError::Open(error) => Some(error),
            _ => None,
        }
    }
}

/// Receiver of a recording from a pipe: a stream, or a plain recording.
pub struct Receiver<R> {
    input: R,
    /// Number of bytes received.
    bytes: u64,
    target: Target,
    feed: Arc<StreamState>,
    /// Words of the current round: heads, each followed by its words.
    round: Vec<u64>,
    is_over: bool,
}

/// Memory for the received words: a mapped file that is allocated as it is filled.
struct Target {
    file: File,
    region: Region,
    allocated: Vec<bool>,
}

/// Result of reading a frame.
enum Received {
    Frame,
    Round(bool),
    End(EndState),
    /// The pipe was closed.
    Closed,
    /// The bytes are not a frame.
    Garbage,
}

impl<R: Read> Receiver<R> {
    /// Reads until a store can be shown: the first round of a stream, or all of a plain recording.
    pub fn start(mut input: R) -> Result<(Self, Store), StreamError> {
        let mut magic = [0; 8];
        match read_whole(&mut input, &mut magic).map_err(StreamError::Io)? {
            0 => return Err(StreamError::Empty),
            8 => {}
            _ => return Err(StreamError::NotAStream),
        }
        match u64::from_le_bytes(magic) {
            stream::MAGIC_WORD => Self::stream(input),
            sb::MAGIC_WORD => Self::plain(input),
            _ => Err(StreamError::NotAStream),
        }
    }

    fn stream(mut input: R) -> Result<(Self, Store), StreamError> {
        let mut rest = [0; (HEADER_WORDS - 1) * 8];
        if read_whole(&mut input, &mut rest).map_err(StreamError::Io)? < rest.len() {
            return Err(StreamError::Cut);
        }
        let word = |at: usize| {
            u64::from_le_bytes(rest[at * 8..at * 8 + 8].try_into().expect("eight bytes"))
        };
        let major = stream::major(word(0));
        if major > stream::MAJOR {
            return Err(StreamError::Newer { major });
        }
        if major == 0 || !(sb::BYTES as u64 / 8..=stream::RECORDING_MAX).contains(&word(1)) {
            return Err(StreamError::Damaged);
        }
        let target = Target::new(word(1) as usize).map_err(StreamError::Io)?;
        let bytes = (HEADER_WORDS * 8) as u64;
        let feed = Arc::new(StreamState::new());
        let mut receiver =
            Receiver { input, bytes, target, feed, round: Vec::new(), is_over: false };
        receiver.receive_round().map_err(StreamError::Io)?;
        if receiver.is_over && receiver.target.region.words().get(sb::MAGIC) != sb::MAGIC_WORD {
            return Err(if receiver.feed.notes().is_empty() {
                StreamError::Cut
            } else {
                StreamError::Damaged
            });
        }
        let store = Store::from_stream(receiver.target.region.clone(), Arc::clone(&receiver.feed));
        let store = store.map_err(StreamError::Open)?;
        Ok((receiver, store))
    }

    /// Reads a whole recording, as it is in a file.
    fn plain(mut input: R) -> Result<(Self, Store), StreamError> {
        let mut file = temporary_file().map_err(StreamError::Io)?;
        let mut bytes = sb::MAGIC_WORD.to_le_bytes().to_vec();
        let mut at = 0_u64;
        loop {
            let read =
                input.by_ref().take((STEP * 8) as u64 - bytes.len() as u64).read_to_end(&mut bytes);
            read.map_err(StreamError::Io)?;
            let is_last = bytes.len() < STEP * 8;
            // Zeros are not written, because most of a recording that may grow is zero.
            if bytes.iter().any(|&byte| byte != 0) {
                file.seek(SeekFrom::Start(at))
                    .and_then(|_| file.write_all(&bytes))
                    .map_err(StreamError::Io)?;
            }
            at += bytes.len() as u64;
            bytes.clear();
            if is_last {
                break;
            }
        }
        file.set_len(at).map_err(StreamError::Io)?;
        let map = map::file(&file, at as usize).map_err(StreamError::Io)?;
        let target = Target { file, region: Region::writable(map), allocated: Vec::new() };
        let feed = Arc::new(StreamState::new());
        let store = Store::from_stream(target.region.clone(), Arc::clone(&feed))
            .map_err(StreamError::Open)?;
        let ended = store.end_state_of_copy();
        // If the recording was written during the copy, its blocks come from different moments.
        feed.settle(ended != EndState::Snapshot);
        feed.end(ended);
        Ok((Receiver { input, bytes: at, target, feed, round: Vec::new(), is_over: true }, store))
    }

    /// Continues until the stream ends. [`Store::missing`] then reports any error.
    pub fn run(mut self) {
        while !self.is_over {
            if let Err(error) = self.receive_round() {
                self.stop(format!(
                    "the stream cannot be kept ({error}); everything before it is present"
                ));
            }
        }
    }

    /// Reads a round and shows it.
    fn receive_round(&mut self) -> io::Result<()> {
        loop {
            let settled = match self.frame()? {
                Received::Frame if self.round.len() < ROUND_MAX => continue,
                Received::Frame => {
                    self.feed.settle(false);
                    self.show()?;
                    continue;
                }
                Received::Round(settled) => settled,
                Received::End(ended) => {
                    self.show()?;
                    self.feed.end(ended);
                    self.is_over = true;
                    return Ok(());
                }
                Received::Closed => {
                    self.feed.settle(false);
                    self.show()?;
                    self.stop(format!(
                        "the stream was cut after {} bytes; everything before that is present",
                        self.bytes
                    ));
                    return Ok(());
                }
                Received::Garbage => {
                    self.feed.settle(false);
                    self.show()?;
                    self.stop(format!(
                        "the stream makes no sense from byte {} on; everything before that is present",
                        self.bytes
                    ));
                    return Ok(());
                }
            };
            self.show()?;
            self.feed.settle(settled);
            return Ok(());
        }
    }

    fn stop(&mut self, why: String) {
        self.feed.note(why);
        self.feed.end(EndState::Snapshot);
        self.is_over = true;
    }

    /// Adds a frame to the current round.
    fn frame(&mut self) -> io::Result<Received> {
        let mut head = [0; HEAD_WORDS * 8];
        let read = read_whole(&mut self.input, &mut head)?;
        if read < head.len() {
            self.bytes += read as u64;
            return Ok(Received::Closed);
        }
        let word = |at: usize| {
            u64::from_le_bytes(head[at * 8..at * 8 + 8].try_into().expect("eight bytes"))
        };
        let (Some(head), second) = (Head::unpack(word(0)), word(1)) else {
            return Ok(Received::Garbage);
        };
        let total = self.target.region.len() as u64;
        let is_about = |frame: Frame| head.kind == frame as u8;
        if is_about(Frame::Round) || is_about(Frame::End) {
            let sane = head.words == 0 && head.span == 0 && second <= 2;
            self.bytes += (HEAD_WORDS * 8) as u64;
            return Ok(match (sane, is_about(Frame::Round), second) {
                (false, ..) => Received::Garbage,
                (_, true, settled) => Received::Round(settled == 1),
                (_, _, 1) => Received::End(EndState::Closed),
                _ => Received::End(EndState::Killed),
            });
        }
        if second.checked_add(head.span.into()).is_none_or(|end| end > total) {
            return Ok(Received::Garbage);
        }
        self.bytes += (HEAD_WORDS * 8) as u64;
        // Memory is allocated for the bytes that arrive, not for the length that the sender claims.
        let length = u64::from(head.words) * 8;
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(length).read_to_end(&mut bytes)? as u64;
        self.bytes += read;
        if read < length {
            return Ok(Received::Closed);
        }
        // In a frame of a later version, only the length is known.
        if is_about(Frame::Words) || is_about(Frame::Block) {
            self.round.extend([head.pack(), second]);
            let words = bytes
                .chunks_exact(8)
                .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
            self.round.extend(words);
        }
        Ok(Received::Frame)
    }

    /// Writes the received words to the memory that stores read.
    fn show(&mut self) -> io::Result<()> {
        let round = std::mem::take(&mut self.round);
        let mut rest = &round[..];
        while let [head, at, words @ ..] = rest {
            let head = Head::unpack(*head).expect("it was read as one");
            let (written, behind) = words.split_at(head.words as usize);
            let at = *at as usize;
            self.target.allocate(at, head.span as usize)?;
            let cells = self.target.region.cells().expect("it was made to be written");
            let cells = &cells[at..at + head.span as usize];
            if head.kind == Frame::Block as u8 {
                write_block(cells, written);
            } else {
                write_words(cells, written);
            }
            rest = behind;
        }
        self.round = round;
        self.round.clear();
        Ok(())
    }
}

impl Target {
    fn new(words: usize) -> io::Result<Self> {
        let file = temporary_file()?;
        file.set_len(words as u64 * 8)?;
        let region = Region::writable(map::file(&file, words * 8)?);
        Ok(Target { file, region, allocated: vec![false; words.div_ceil(STEP)] })
    }

    /// Allocates room on the disk before words are written.
    fn allocate(&mut self, at: usize, words: usize) -> io::Result<()> {
        if words == 0 {
            return Ok(());
        }
        for step in at / STEP..=(at + words - 1) / STEP {
            if !self.allocated[step] {
                let length = STEP.min(self.region.len() - step * STEP);
                map::allocate(&self.file, (step * STEP * 8) as u64, (length * 8) as u64)?;
                self.allocated[step] = true;
            }
        }
        Ok(())
    }
}

/// Writes words, the first word last: the first word of the first page is the magic word.
fn write_words(cells: &[AtomicU64], words: &[u64]) {
    for (at, cell) in cells.iter().enumerate().rev() {
        cell.store(words.get(at).copied().unwrap_or(0), Ordering::Release);
    }
}

/// Writes a block under its seqlock, as lanes and the collector do.
fn write_block(cells: &[AtomicU64], words: &[u64]) {
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let Some(sequence) = cells.get(header::SEQUENCE) else { return };
    if sequence.load(Ordering::Relaxed) != word(header::SEQUENCE) {
        sequence.store(0, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }
    for slot in (SLOT_WORDS..cells.len()).step_by(SLOT_WORDS) {
        // The commit word comes last.
        for at in (slot..(slot + SLOT_WORDS).min(cells.len())).rev() {
            cells[at].store(word(at), Ordering::Release);
        }
    }
    for at in (0..SLOT_WORDS.min(cells.len())).rev() {
        cells[at].store(word(at), Ordering::Release);
    }
}

/// Reads until the buffer is full or the pipe is closed.
fn read_whole(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < bytes.len() {
        match input.read(&mut bytes[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}
