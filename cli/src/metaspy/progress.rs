//! The progress of a long run: a line on standard error.

use std::io::{self, IsTerminal, Stderr, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

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
    pub(crate) fn on_stderr() -> Self {
        Progress::new(io::stderr(), io::stderr().is_terminal())
    }
}

/// Does work whose steps are not counted. The line of it shows the time that it took so far.
pub(crate) fn with_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return work();
    }
    let show = |ended: mpsc::Receiver<()>| {
        let mut progress = Progress::on_stderr();
        while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let s = progress.began.elapsed().as_secs_f64();
            progress.update(|| format!("{what}: {s:.1} s"));
        }
    };
    thread::scope(|scope| {
        // Dropped when the work ends or panics.
        let (_running, ended) = mpsc::channel();
        scope.spawn(move || show(ended));
        work()
    })
}

impl<W: Write> Progress<W> {
    fn new(out: W, seen: bool) -> Self {
        Progress { out, began: Instant::now(), next: seen.then_some(PATIENCE), written: false }
    }

    /// Shows this text.
    pub fn update(&mut self, text: impl FnOnce() -> String) {
        if self.next.is_some() {
            self.update_at(self.began.elapsed(), text);
        }
    }

    fn update_at(&mut self, elapsed: Duration, text: impl FnOnce() -> String) {
        if self.next.is_some_and(|next| elapsed >= next) {
            self.next = Some(elapsed + INTERVAL);
            self.written = true;
            // A line that cannot be written is not missed.
            let _ = write!(self.out, "\r\x1b[K{}", text());
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
            progress.update_at(Duration::from_millis(ms), || format!("parsed {ms} of 5000 inputs"));
        }
        drop(progress);
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }

    #[test]
    fn a_line_is_written_after_a_second_and_wiped_at_the_end() {
        check(true, &[0, 999], "");
        check(true, &[1200, 1250], "\r\x1b[Kparsed 1200 of 5000 inputs\r\x1b[K");
        check(false, &[1200], "");
    }
}
