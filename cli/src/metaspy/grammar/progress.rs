//! The progress of a long run: a line on standard error.

use std::io::{self, IsTerminal, Stderr, Write};
use std::time::{Duration, Instant};

use metaspy_report::text::grouped;

/// A shorter run has no line.
const PATIENCE: Duration = Duration::from_secs(1);

/// The time between two updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// The line of a run. It is wiped when the run ends.
pub struct Progress<W: Write = Stderr> {
    out: W,
    began: Instant,
    /// The time of the next update; `None` if standard error is not a terminal.
    next: Option<Duration>,
    written: bool,
}

impl Progress {
    /// A line on standard error, if that is a terminal.
    pub fn on_stderr() -> Self {
        Progress::new(io::stderr(), io::stderr().is_terminal())
    }
}

impl<W: Write> Progress<W> {
    fn new(out: W, seen: bool) -> Self {
        Progress { out, began: Instant::now(), next: seen.then_some(PATIENCE), written: false }
    }

    /// Shows that `done` of `of` inputs are done.
    pub fn update(&mut self, what: &str, done: usize, of: usize) {
        if self.next.is_some() {
            self.update_at(self.began.elapsed(), what, done, of);
        }
    }

    fn update_at(&mut self, elapsed: Duration, what: &str, done: usize, of: usize) {
        if self.next.is_some_and(|next| elapsed >= next) {
            self.next = Some(elapsed + INTERVAL);
            self.written = true;
            let (done, of) = (grouped(done as u64), grouped(of as u64));
            // A line that cannot be written is not missed.
            let _ = write!(self.out, "\r\x1b[K{what} {done} of {of} inputs");
            let _ = self.out.flush();
        }
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        if self.written {
            let _ = write!(self.out, "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seen: bool, at: &[u64], expected: &str) {
        let mut written = Vec::new();
        let mut progress = Progress::new(&mut written, seen);
        for &ms in at {
            progress.update_at(Duration::from_millis(ms), "parsed", ms as usize, 5000);
        }
        drop(progress);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn a_line_is_written_after_a_second_and_wiped_at_the_end() {
        check(true, &[0, 999], "");
        check(true, &[1200, 1250], "\r\x1b[Kparsed 1,200 of 5,000 inputs\r\x1b[K");
        check(false, &[1200], "");
    }
}
