//! Profiles of other tools, which become recordings: collapsed stacks, the text of perf, pprof, the
//! Firefox Profiler's JSON and callgrind's output.
//!
//! [`Imported::read`] knows the format by the content. A profile of samples becomes the tables that
//! `metaspy sample` writes, so reports, the crawler and the flame page read it as their own.
//! Callgrind counts calls and instructions by caller, and becomes sites with a table by caller. A
//! format that states neither the time of a sample nor another unit needs it as an option: nothing
//! is guessed.

mod addresses;
mod callgrind;
mod collapsed;
mod firefox;
mod perf;
mod pprof;
mod samples;
mod write;

use std::fmt;
use std::io::Read;

use flate2::read::GzDecoder;

pub use callgrind::Calls;
pub use samples::Samples;
pub use write::Counts;

const MIB: u64 = 1_048_576;
/// Most MiB of a profile that is read line by line, also after it is decompressed.
const LINES_MAX: u64 = 1024;
/// Most MiB of a profile that is decoded as a whole.
const DOCUMENT_MAX: u64 = 256;
/// Bytes that tell the format.
const BEGINNING: u64 = 4096;
/// Most frames and functions of a profile.
const FRAMES_MAX: usize = metaspy_format::profile::ROWS_MAX as usize;
/// Most MiB of the names of all functions together. A name that a file has once may be in many of
/// them.
const NAMES_MAX: u64 = 256;

/// Formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line for each stack, as `stackcollapse-perf.pl` and inferno write them.
    Collapsed,
    /// The text of `perf script`.
    Perf,
    /// pprof's protobuf, compressed or not.
    Pprof,
    /// The JSON of profiler.firefox.com, as samply writes it.
    Firefox,
    /// Callgrind's output, by function.
    Callgrind,
}

/// A profile of another tool.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its format.
    pub format: Format,
    /// Name of the program; empty if the profile does not state it.
    pub program: String,
    /// Samples, or calls with their costs.
    pub content: Content,
    /// Sentences about the parts that were left out.
    pub notes: Vec<String>,
}

/// The measurements of a profile.
#[derive(Clone, Debug)]
pub enum Content {
    /// Samples by stack.
    Samples(Samples),
    /// Calls and instructions by caller.
    Calls(Calls),
}

/// Reason why a profile cannot be read: what is wrong, then what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError(String);

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ImportError {}

fn error(text: impl Into<String>) -> ImportError {
    ImportError(text.into())
}

/// Result of reading a profile.
type Result<T> = std::result::Result<T, ImportError>;

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] =
        [Format::Collapsed, Format::Perf, Format::Pprof, Format::Firefox, Format::Callgrind];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Collapsed => "collapsed stacks",
            Format::Perf => "perf script",
            Format::Pprof => "pprof",
            Format::Firefox => "the Firefox Profiler's JSON",
            Format::Callgrind => "callgrind's output",
        }
    }

    /// Most MiB of a profile.
    fn most(self) -> u64 {
        match self {
            Format::Pprof | Format::Firefox => DOCUMENT_MAX,
            Format::Collapsed | Format::Perf | Format::Callgrind => LINES_MAX,
        }
    }

    /// The format of a profile, by its first bytes.
    fn of(bytes: &[u8]) -> Result<Format> {
        let beginning = &bytes[..bytes.len().min(BEGINNING as usize)];
        let start = String::from_utf8_lossy(beginning);
        let first = start.trim_start();
        let is_line = |prefix: &str| start.lines().any(|line| line.starts_with(prefix));
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(error("the file is empty"));
        }
        if first.starts_with('{') {
            return Ok(Format::Firefox);
        }
        if first.starts_with("# callgrind format")
            || is_line("events:") && (is_line("fn=") || is_line("creator:"))
        {
            return Ok(Format::Callgrind);
        }
        // A message of pprof begins with one of its fields, and has a byte that no text has.
        if beginning.iter().any(|&byte| byte < b' ' && !byte.is_ascii_whitespace()) {
            return Ok(Format::Pprof);
        }
        Ok(if perf::is_perf(&start) { Format::Perf } else { Format::Collapsed })
    }
}

impl Imported {
    /// Reads a profile. `period_ns` is the time of a sample, for formats that do not state it.
    ///
    /// # Errors
    ///
    /// If the profile is cut, damaged, too large, or in no known format; and if its numbers are no
    /// samples with a time.
    pub fn read(bytes: Vec<u8>, period_ns: Option<u64>) -> Result<Imported> {
        let bytes = decompressed(bytes)?;
        let format = Format::of(&bytes)?;
        if bytes.len() as u64 > format.most() * MIB {
            return Err(error(format!(
                "it has more than {} MiB: record less, or at a lower rate",
                format.most()
            )));
        }
        if !matches!(format, Format::Collapsed | Format::Perf) && period_ns.is_some() {
            return Err(error(format!(
                "--period is for collapsed stacks: {} states what a sample is",
                format.name()
            )));
        }
        match format {
            Format::Collapsed => collapsed::read(&bytes, period_ns),
            Format::Perf => perf::read(&bytes, period_ns),
            Format::Pprof => pprof::read(&bytes),
            Format::Firefox => firefox::read(&bytes),
            Format::Callgrind => callgrind::read(&bytes),
        }
    }
}

/// Decompresses a gzip file. The result may be much larger, up to the limit of its format.
fn decompressed(bytes: Vec<u8>) -> Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut out = Vec::new();
    let mut decoder = GzDecoder::new(&bytes[..]);
    let damaged = |why| error(format!("it is cut or damaged: gzip: {why}"));
    decoder.by_ref().take(BEGINNING).read_to_end(&mut out).map_err(damaged)?;
    let most = Format::of(&out).map_or(LINES_MAX, Format::most);
    let read = decoder.take(most * MIB).read_to_end(&mut out);
    if out.len() as u64 > most * MIB {
        return Err(error(format!(
            "decompressed it has more than {most} MiB: record less, or at a lower rate"
        )));
    }
    read.map_err(damaged)?;
    Ok(out)
}

/// Bound on the work and the names of a profile, by its size: a few bytes of a file may stand for a
/// long name or stack.
#[derive(Clone, Debug)]
struct Effort {
    steps_left: u64,
    name_bytes_left: u64,
}

impl Effort {
    /// Each byte may cost `STEPS`, so that a profile that repeats nothing never reaches the limit.
    fn of(bytes: &[u8]) -> Effort {
        const STEPS: u64 = 16;
        Effort {
            steps_left: (MIB / 16 + bytes.len() as u64) * STEPS,
            name_bytes_left: NAMES_MAX * MIB,
        }
    }

    /// Notes that a frame, or a text of some bytes, is looked up.
    fn look_up(&mut self, bytes: usize) -> Result<()> {
        let steps = 1 + bytes as u64 / 16;
        self.steps_left = self.steps_left.checked_sub(steps).ok_or_else(|| {
            error("it repeats long names or stacks more often than its size allows: it is damaged, or import a part of it")
        })?;
        Ok(())
    }

    /// Notes that the names of a function are kept.
    fn keep(&mut self, bytes: usize) -> Result<()> {
        self.name_bytes_left = self.name_bytes_left.checked_sub(bytes as u64).ok_or_else(|| {
            error(format!("the names of its functions have more than {NAMES_MAX} MiB: it is damaged, or import a part"))
        })?;
        Ok(())
    }
}

/// A line of text, with its number for messages.
fn lines(bytes: &[u8]) -> impl Iterator<Item = Result<(usize, &str)>> {
    let lines = bytes.split(|&byte| byte == b'\n').enumerate();
    lines.map(|(at, line)| {
        let line = std::str::from_utf8(line)
            .map_err(|_| error(format!("line {} is not UTF-8", at + 1)))?;
        Ok((at + 1, line.trim_end_matches('\r')))
    })
}

#[cfg(test)]
mod tests;
