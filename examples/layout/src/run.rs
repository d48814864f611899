//! The story, run frame by frame: change the page, lay it out, paint it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::page::Page;
use crate::script::Script;
use crate::tree::{Overrun, Painted, Scene};

/// The stack that the layout of the deepest page needs. The main thread of a program has it; other
/// threads need it set.
pub const STACK: usize = 8 << 20;

/// A page, and its changes.
#[derive(Debug)]
pub struct Story {
    scene: Scene,
    script: Script,
    frames: u64,
}

/// When a run ends; whatever comes first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Until<'a> {
    /// After so many frames.
    pub frames: Option<u64>,
    /// After so long.
    pub time: Option<Duration>,
    /// When this is set.
    pub stop: Option<&'a AtomicBool>,
}

/// The result of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Its number; the first layout of the page is frame 0.
    pub number: u64,
    /// Changes of the page.
    pub changes: usize,
    /// The painted nodes.
    pub painted: Painted,
}

impl Story {
    /// Opens a page and lays it out for the first time. The same seed makes the same story.
    pub fn open(page: &Page, seed: u64) -> Result<Story, Overrun> {
        let mut scene = page.scene();
        scene.introduce();
        scene.relayout()?;
        let script = Script::new(&scene, seed);
        Ok(Story { scene, script, frames: 0 })
    }

    /// The page as it is now.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Changes the page, lays it out and paints it.
    pub fn frame(&mut self) -> Result<Frame, Overrun> {
        self.frames += 1;
        let changes = self.script.frame(&self.scene);
        let scroll =
            self.script.in_view().map_or(0.0, |node| self.scene.top(node) - 200.0).max(0.0);
        let painted = self.scene.frame(&changes, scroll)?;
        Ok(Frame { number: self.frames, changes: changes.len(), painted })
    }

    /// Runs frames until the end, or until `each` breaks.
    pub fn run(
        &mut self,
        until: Until<'_>,
        mut each: impl FnMut(&Frame) -> ControlFlow<()>,
    ) -> Result<(), Overrun> {
        let begin = Instant::now();
        let last = until.frames.map(|frames| self.frames + frames);
        loop {
            let stopped = until.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
            let late = until.time.is_some_and(|time| begin.elapsed() >= time);
            if stopped || late || last == Some(self.frames) {
                return Ok(());
            }
            if each(&self.frame()?).is_break() {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(seed: u64, frames: u64) -> (Vec<Frame>, crate::tree::Counts) {
        let mut story = Story::open(&Page::shipped(), seed).unwrap();
        let mut all = Vec::new();
        let until = Until { frames: Some(frames), ..Until::default() };
        story
            .run(until, |frame| {
                all.push(*frame);
                ControlFlow::Continue(())
            })
            .unwrap();
        (all, story.scene().counts())
    }

    #[test]
    fn the_same_seed_makes_the_same_run() {
        assert_eq!(story(7, 12), story(7, 12));
        assert_ne!(story(7, 12).0, story(8, 12).0);
    }

    #[test]
    fn every_kind_of_change_happens_soon() {
        let mut story = Story::open(&Page::shipped(), 1).unwrap();
        let mut kinds = std::collections::BTreeSet::new();
        for _ in 0..600 {
            let changes = story.script.frame(&story.scene);
            kinds.extend(
                changes
                    .iter()
                    .map(|change| format!("{change:?}").split(' ').next().unwrap().to_owned()),
            );
            changes.into_iter().for_each(|change| story.scene.make(change));
        }
        assert_eq!(
            kinds.into_iter().collect::<Vec<_>>(),
            ["Append", "Erase", "Hover", "Resize", "Toggle", "Type"]
        );
    }

    #[test]
    fn a_run_ends_on_request() {
        let mut story = Story::open(&Page::shipped(), 1).unwrap();
        let stop = AtomicBool::new(false);
        let mut frames = 0;
        let until = Until { stop: Some(&stop), ..Until::default() };
        story
            .run(until, |_| {
                frames += 1;
                stop.store(frames == 3, Ordering::Relaxed);
                ControlFlow::Continue(())
            })
            .unwrap();
        story.run(Until::default(), |_| ControlFlow::Break(())).unwrap();
        story
            .run(Until { time: Some(Duration::ZERO), ..Until::default() }, |_| unreachable!())
            .unwrap();
        assert_eq!((frames, story.frames), (3, 4));
    }
}
