//! The story itself: a page that changes and is laid out, with a profiler on it.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Result;
use metaspy_core::Recording;
use metaspy_layout_story::page::Limits as PageLimits;
use metaspy_layout_story::{Page, STACK, Story, Until};

use crate::exit::{Ended, say};

/// The same story each time.
const SEED: u64 = 1;
/// The time of a frame on a screen.
const FRAME: Duration = Duration::from_millis(33);

/// When a story ends.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// After so long.
    pub time: Option<Duration>,
    /// After so many events.
    pub events: Option<u64>,
    /// When this is set.
    pub stop: Arc<AtomicBool>,
    /// True to run as fast as possible, and not at the pace of a screen.
    pub hurry: bool,
}

/// Opens the page. Errors in it are reported before anything is recorded.
pub fn open(page: Option<&Path>) -> Result<Page> {
    match page {
        None => Ok(Page::shipped()),
        Some(path) => Page::open(path, PageLimits::default()).map_err(|error| {
            let name = path.display().to_string();
            let text = error.to_string();
            say(if text.contains(&name) { text } else { format!("{name}: {text}") })
        }),
    }
}

/// Runs the story on a page into the recording of this process.
pub fn run(page: Page, end: End) -> Result<()> {
    let recording = Recording::current()?;
    let installed = metaspy_layout_story::profiler().install()?;
    // The layout of a deep page needs more stack than a thread is given.
    let story = std::thread::Builder::new().name("layout".into()).stack_size(STACK).spawn(
        move || -> Result<()> {
            let mut story = Story::open(&page, SEED)?;
            let mut goal = Goal::new(end.events);
            let mut next = Instant::now();
            let until = Until { time: end.time, stop: Some(&end.stop), ..Until::default() };
            story.run(until, |_| {
                if !end.hurry {
                    next += FRAME;
                    std::thread::sleep(next.saturating_duration_since(Instant::now()));
                    next = next.max(Instant::now() - FRAME);
                }
                goal.frame(&recording)
            })?;
            Ok(())
        },
    )?;
    let ended = story.join().map_err(|_| say("the story panicked; its recording is kept"))?;
    drop(installed);
    recording.close();
    ended
}

/// Runs the story until standard input is closed: until whoever started this process is gone.
pub(crate) fn attended(page: Option<&Path>) -> Result<Ended> {
    let page = open(page)?;
    let end = End::default();
    let stop = Arc::clone(&end.stop);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        stop.store(true, Relaxed);
    });
    let ended = run(page, end);
    // Who started it removes the recording, unless they ended in a way that left them no time.
    if let Some(path) = Recording::current()?.path() {
        let _ = std::fs::remove_file(path);
    }
    ended?;
    Ok(Ended::Fine)
}

/// A number of events to reach. A look opens the recording, which costs more than a frame. So the
/// next look is where seven eighths of the remaining events are expected, and soon, because frames
/// differ: one more in eight frames.
struct Goal {
    events: Option<u64>,
    frames: u64,
    look_at: u64,
    /// Frames and events at the last look.
    looked: (u64, u64),
}

impl Goal {
    fn new(events: Option<u64>) -> Self {
        Goal { events, frames: 0, look_at: 1, looked: (0, 0) }
    }

    fn frame(&mut self, recording: &Recording) -> ControlFlow<()> {
        let Some(goal) = self.events else { return ControlFlow::Continue(()) };
        self.frames += 1;
        if self.frames < self.look_at {
            return ControlFlow::Continue(());
        }
        let emitted = recording.store().totals().emitted;
        if emitted >= goal {
            return ControlFlow::Break(());
        }
        let (frames, before) = std::mem::replace(&mut self.looked, (self.frames, emitted));
        // The first frame lays out the whole page; the later ones do not.
        let per_frame = (emitted.saturating_sub(before) / (self.frames - frames)).max(1);
        self.look_at =
            self.frames + ((goal - emitted) / per_frame * 7 / 8).clamp(1, 1 + self.frames / 8);
        ControlFlow::Continue(())
    }
}
