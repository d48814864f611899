//! Re-layouts without input or output, to be timed by a benchmark.

use taffy::NodeId;

use crate::changes::Change;
use crate::tree::{Content, Overrun, Scene};

/// The work of a re-layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Every node is dirty.
    WholePage,
    /// One letter has changed in one paragraph.
    OneChange,
}

/// Lays a page out again and again. Equal calls do equal work.
#[derive(Debug)]
pub struct Relayouts {
    scene: Scene,
    texts: Vec<NodeId>,
    done: usize,
}

impl Relayouts {
    /// Takes a page and lays it out for the first time.
    pub fn of(mut scene: Scene) -> Result<Relayouts, Overrun> {
        scene.relayout()?;
        let texts =
            scene.ids().filter(|&id| matches!(scene[id].content, Content::Text(_))).collect();
        Ok(Relayouts { scene, texts, done: 0 })
    }

    /// The page as it is now.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Lays the page out `times` times, and returns a sum of the heights it had. An even number of
    /// times leaves the page as it was.
    pub fn run(&mut self, case: Case, times: usize) -> Result<f64, Overrun> {
        let mut sum = 0.0;
        for _ in 0..times {
            match case {
                Case::WholePage => self.scene.dirty_all(),
                Case::OneChange => {
                    let change = self.next_letter();
                    self.scene.make(change);
                }
            }
            self.scene.relayout()?;
            sum += f64::from(self.scene[self.scene.root()].place.size.height);
        }
        Ok(sum)
    }

    /// Types a letter somewhere, or takes back the one typed before.
    fn next_letter(&mut self) -> Change {
        // A step that shares no factor with most numbers of texts visits them all, far apart from
        // each other.
        let node = self.texts[(self.done / 2 * 7919) % self.texts.len()];
        self.done += 1;
        if self.done % 2 == 1 { Change::Type { node, letter: 'm' } } else { Change::Erase { node } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;

    #[test]
    fn equal_runs_do_equal_work() {
        for case in [Case::WholePage, Case::OneChange] {
            let run = || {
                let mut relayouts = Relayouts::of(Page::shipped().scene()).unwrap();
                let sum = relayouts.run(case, 6).unwrap();
                (sum, relayouts.scene().counts())
            };
            assert_eq!(run(), run(), "{case:?}");
        }
    }

    #[test]
    fn one_change_dirties_one_path_and_the_whole_page_all() {
        let mut relayouts = Relayouts::of(Page::shipped().scene()).unwrap();
        let mut layouts = |case| {
            let before = relayouts.scene().counts();
            relayouts.run(case, 2).unwrap();
            (relayouts.scene().counts() - before).layouts
        };
        let whole = layouts(Case::WholePage);
        let one = layouts(Case::OneChange);
        assert!(one * 10 < whole, "{one} of {whole}");
    }
}
