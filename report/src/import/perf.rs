//! The text that `perf script` prints: a line for each sample,
//! `app 4711 12.345678: 1000000 cpu-clock:`, and its frames below it, the innermost first.

use super::samples::Samples;
use super::{Content, Format, Imported, Result, error, lines};
use crate::text::{clean, shorten};

/// Events whose period is a time in nanoseconds.
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];

/// Line of a sample.
struct Head<'l> {
    program: &'l str,
    period: Option<u64>,
    event: &'l str,
    /// The only frame, without call graphs.
    frame: &'l str,
}

impl<'l> Head<'l> {
    /// Reads a line; `None` if it is none of a sample.
    fn of(line: &'l str) -> Option<Head<'l>> {
        if line.starts_with(char::is_whitespace) {
            return None;
        }
        let is_time = |word: &&str| {
            word.strip_suffix(':')
                .is_some_and(|time| time.contains('.') && time.parse::<f64>().is_ok())
        };
        let time = line.split_whitespace().find(is_time)?;
        let (before, after) = line.split_once(time)?;
        // A name may have spaces, a processor is in brackets.
        let before = before
            .trim_end()
            .trim_end_matches(|c: char| c.is_ascii_digit() || "[]".contains(c))
            .trim_end();
        let program = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '/').trim_end();
        let program = if program.is_empty() { before } else { program };
        let after = after.trim_start();
        let (first, rest) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
        let (period, rest) = match first.parse() {
            Ok(period) => (Some(period), rest.trim_start()),
            Err(_) => (None, after),
        };
        let (event, frame) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Some(Head { program, period, event: event.strip_suffix(':')?, frame: frame.trim() })
    }
}

/// True if the first line is one of a sample.
pub fn is_perf(start: &str) -> bool {
    let line = start.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    line.is_some_and(|line| Head::of(line).is_some())
}

pub fn read(bytes: &[u8], period_ns: Option<u64>) -> Result<Imported> {
    let mut reader = Reader { samples: Samples::new(0, bytes), frames: Vec::new(), is_open: false };
    let (mut program, mut event, mut all_ns, mut count) =
        (String::new(), String::new(), Some(0_u64), 0_u64);
    for line in lines(bytes) {
        let (number, line) = line?;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with(char::is_whitespace) {
            reader.frame(line.trim());
            continue;
        }
        reader.finish()?;
        let head = Head::of(line).ok_or_else(|| {
            error(format!("line {number} is none of `perf script`: {}", shorten(&clean(line), 60)))
        })?;
        if event.is_empty() {
            (program, event) = (head.program.to_owned(), head.event.to_owned());
        } else if event != head.event {
            let other = head.event;
            return Err(error(format!(
                "it has samples of {event} and of {other}: record one event, perf record -e {event}"
            )));
        }
        reader.is_open = true;
        count += 1;
        all_ns = all_ns.and_then(|all| all.checked_add(head.period?));
        if !head.frame.is_empty() {
            reader.frame(head.frame);
        }
    }
    reader.finish()?;
    let is_clock = CLOCKS.contains(&event.split(':').next().unwrap_or_default());
    let mut samples = reader.samples;
    samples.period_ns = match (period_ns, all_ns) {
        (Some(_), Some(_)) if is_clock => {
            return Err(error(format!(
                "--period is not needed: the samples of {event} state their times"
            )));
        }
        (Some(period_ns), _) => period_ns,
        (None, Some(all_ns)) if is_clock => all_ns / count.max(1),
        (None, _) => {
            return Err(error(format!(
                "{event} is no time: --period 1ms for `perf record -F 1000`, or record with -e cpu-clock"
            )));
        }
    };
    Ok(Imported {
        format: Format::Perf,
        program,
        content: Content::Samples(samples),
        notes: Vec::new(),
    })
}

/// The sample that is read.
struct Reader {
    samples: Samples,
    /// Names of functions and the files with their code, the innermost first.
    frames: Vec<(String, String)>,
    is_open: bool,
}

impl Reader {
    /// Reads `13d7d app::parse+0x16d (/bin/app)`. A line of the source, which has no address, is
    /// left out.
    fn frame(&mut self, line: &str) {
        let Some((address, rest)) = line.split_once(char::is_whitespace) else { return };
        if u64::from_str_radix(address, 16).is_err() {
            return;
        }
        let (name, module) = match rest.rsplit_once(" (") {
            Some((name, module)) => (name, module.trim_end_matches(')')),
            None => (rest, ""),
        };
        let name = name.rsplit_once("+0x").map_or(name, |(name, _)| name).trim();
        self.frames.push((name.to_owned(), module.to_owned()));
    }

    /// Adds the sample.
    fn finish(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        let mut at = None;
        let mut module = String::new();
        for (name, of) in self.frames.drain(..).rev() {
            // Inlined code is in the file of the function around it.
            if of != "inlined" {
                module = of;
            }
            let function = self.samples.function(&name, "", &module)?;
            at = Some(self.samples.frame(at, function, 0)?);
        }
        self.samples.add(at, 1)
    }
}
