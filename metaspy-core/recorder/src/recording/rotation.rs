//! Rotation: with `METASPY_ROTATE=256MiB,1h`, the recording that the environment selects continues
//! in another file when it is large or old. The one before is closed then, so its file is complete.
//!
//! A thread of its own watches. No hook waits: lanes continue in the next log when they meet its
//! epoch, as always when a recording replaces another one.
//!
//! A rotation is one recording after another, instead of segments of one recording. So every file
//! is complete, and every reader takes it.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use metaspy_reader::units::{parse_duration_ns, parse_size};

use crate::platform::{uncounted_thread, warn};
use crate::recorder::{Level, Log, is_full};
use crate::recording::{StartError, requested};

/// The time between two looks at the log.
const WATCH: Duration = Duration::from_millis(20);
/// The time between two attempts to make a file on a full disk.
const RETRY: Duration = Duration::from_secs(1);

/// When another recording follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rotation {
    /// The budget of each recording; `None` for that of `METASPY_BUDGET`.
    pub bytes: Option<u64>,
    age: Option<Duration>,
}

impl Rotation {
    /// The one that `METASPY_ROTATE` selects. A value that cannot be read is reported.
    pub fn of_environment() -> Option<Self> {
        static SELECTED: OnceLock<Option<Rotation>> = OnceLock::new();
        *SELECTED.get_or_init(|| {
            let value = std::env::var("METASPY_ROTATE").ok().filter(|value| !value.is_empty())?;
            let rotation = Self::parse(&value);
            rotation
                .map_err(|error| {
                    warn(&format!("METASPY_ROTATE: {error}; the recording does not rotate"))
                })
                .ok()
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut rotation = Rotation { bytes: None, age: None };
        for part in text.split(',').map(str::trim) {
            match (parse_size(part), parse_duration_ns(part)) {
                (Ok(bytes), _) if bytes > 0 && rotation.bytes.is_none() => {
                    rotation.bytes = Some(bytes)
                }
                (_, Ok(ns)) if ns > 0 && rotation.age.is_none() => {
                    rotation.age = Some(Duration::from_nanos(ns))
                }
                _ => {
                    return Err(format!(
                        "`{text}` is no size and age: write 256MiB, 1h, or 256MiB,1h"
                    ));
                }
            }
        }
        Ok(rotation)
    }

    /// True if the log is three quarters full, so that no event has left it, or if a thread has
    /// called hooks and it is old.
    fn is_due(&self, log: &Log, began: Instant) -> bool {
        log.used_blocks() >= log.layout.blocks / 4 * 3
            || (self.age.is_some_and(|age| began.elapsed() >= age) && log.was_written())
    }

    /// Watches a log and those that follow it.
    pub fn watch(self, log: &'static Log) {
        let watch = move || {
            // To the end of the thread: it frees memory of metaspy.
            std::mem::forget(Level::raise(1));
            self.follow(log);
        };
        if let Err(error) = uncounted_thread::spawn(c"metaspy-rotation", watch) {
            log.note(&format!("The recording does not rotate: its thread did not start: {error}."));
        }
    }

    /// Returns when the program ends, when it starts a recording of its own, and when no recording
    /// can follow.
    fn follow(self, mut log: &'static Log) {
        let mut began = Instant::now();
        let mut is_reported = false;
        while !log.is_closing() {
            thread::sleep(WATCH);
            if !self.is_due(log, began) {
                continue;
            }
            match requested::follow(log) {
                Ok(Some(next)) => (log, began, is_reported) = (next, Instant::now(), false),
                Ok(None) => return,
                // Events that leave its window are counted, so it goes on as long as it must.
                Err(StartError::File { source, .. }) if is_full(&source) => {
                    if !std::mem::replace(&mut is_reported, true) {
                        let note = format!(
                            "There is no room for the next file ({source}): this recording goes on, and another one follows \
                             when there is room."
                        );
                        log.note(&note);
                        warn(&note);
                    }
                    thread::sleep(RETRY);
                }
                Err(error) => {
                    let note = format!(
                        "The recording rotates no more, and this is its last file: {error}."
                    );
                    log.note(&note);
                    warn(&note);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_a_size_an_age_or_both() {
        let of = |bytes, seconds: Option<u64>| {
            Ok(Rotation { bytes, age: seconds.map(Duration::from_secs) })
        };
        assert_eq!(Rotation::parse("256MiB,1h"), of(Some(256 << 20), Some(3_600)));
        assert_eq!(Rotation::parse("90s, 1GiB"), of(Some(1 << 30), Some(90)));
        assert_eq!(Rotation::parse("4MiB"), of(Some(4 << 20), None));
        for wrong in ["often", "1h,2h", "1MiB,1MiB", "0", "0s", "1h,", ","] {
            assert!(
                Rotation::parse(wrong).is_err_and(|error| error.contains("256MiB,1h")),
                "{wrong}"
            );
        }
    }
}
