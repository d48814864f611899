//! The script of all changes: who makes them, and when. The same seed makes the same changes.

mod dice;

use taffy::NodeId;

use crate::changes::Change;
use crate::tree::Scene;
pub(crate) use dice::Dice;

/// A user types and reads, a table fills, and now and then the window is resized.
#[derive(Clone, Debug)]
pub struct Script {
    dice: Dice,
    /// Texts that can be edited.
    texts: Vec<NodeId>,
    /// Sections that may be hidden.
    sections: Vec<NodeId>,
    /// Tables and lists that may grow.
    lists: Vec<NodeId>,
    typist: Option<Typist>,
    hidden: Option<NodeId>,
    width: f32,
}

/// A typist writes a line, and takes it back letter by letter.
#[derive(Clone, Copy, Debug)]
struct Typist {
    node: NodeId,
    letters: usize,
    erased: usize,
}

/// The text that typists write.
const LINE: &str = " and one more thing that nobody had thought of before";

/// Rows that a table or list may grow by.
const ROWS: usize = 24;

impl Script {
    /// A script for this page.
    pub fn new(scene: &Scene, seed: u64) -> Script {
        let tag = |id: &NodeId| &*scene[*id].tag;
        let texts = |paragraphs: bool| -> Vec<NodeId> {
            let fits = |id: &NodeId| scene[*id].text().is_some() && (!paragraphs || tag(id) == "p");
            scene.ids().filter(fits).collect()
        };
        let paragraphs = texts(true);
        let boxes = boxes_within(scene);
        let is_section = |id: &NodeId| (3..=boxes[0] / 3).contains(&boxes[usize::from(*id)]);
        let is_list =
            |id: &NodeId| matches!(tag(id), "table" | "ul" | "ol") && scene[*id].children.len() > 1;
        Script {
            dice: Dice(seed),
            texts: if paragraphs.is_empty() { texts(false) } else { paragraphs },
            sections: scene.ids().filter(is_section).collect(),
            lists: scene.ids().filter(is_list).collect(),
            typist: None,
            hidden: None,
            width: scene.window().width,
        }
    }

    /// The changes of the next frame; in some frames there are none.
    pub fn frame(&mut self, scene: &Scene) -> Vec<Change> {
        let mut changes = Vec::new();
        if !self.dice.once_in(4) {
            changes.extend(self.type_letter());
        }
        if self.dice.once_in(8) {
            changes.extend(self.dice.pick(&self.texts).map(|node| Change::Hover { node }));
        }
        if self.dice.once_in(16)
            && let Some(node) = self.dice.pick(&self.lists)
        {
            let full = scene.rows_shown(node) >= ROWS;
            changes.push(if full { Change::Trim { node } } else { Change::Append { node } });
        }
        if self.dice.once_in(32) {
            // The hidden section is shown before another one is hidden, so that most of the page
            // stays on screen.
            let node = self.hidden.take().or_else(|| {
                self.hidden = self.dice.pick(&self.sections);
                self.hidden
            });
            changes.extend(node.map(|node| Change::Toggle { node }));
        }
        if self.dice.once_in(128) {
            let by = (self.dice.roll() % 17) as f32 - 8.0;
            self.width = (self.width + by).clamp(900.0, 1500.0);
            changes.push(Change::Resize { width: self.width });
        }
        changes
    }

    /// The visible node: where the user types.
    pub fn in_view(&self) -> Option<NodeId> {
        self.typist.map(|typist| typist.node)
    }

    fn type_letter(&mut self) -> Option<Change> {
        if self.typist.as_ref().is_none_or(|typist| typist.erased == LINE.len()) {
            let node = self.dice.pick(&self.texts)?;
            self.typist = Some(Typist { node, letters: 0, erased: 0 });
        }
        let typist = self.typist.as_mut()?;
        match LINE.as_bytes().get(typist.letters) {
            Some(&letter) => {
                typist.letters += 1;
                Some(Change::Type { node: typist.node, letter: char::from(letter) })
            }
            None => {
                typist.erased += 1;
                Some(Change::Erase { node: typist.node })
            }
        }
    }
}

/// For each node, how many boxes it lays out, itself included.
fn boxes_within(scene: &Scene) -> Vec<usize> {
    let ids: Vec<NodeId> = scene.ids().collect();
    let mut boxes = vec![1; ids.len()];
    // A node comes after the one that lays it out.
    for &id in ids.iter().rev() {
        if let Some(parent) = scene[id].parent {
            boxes[usize::from(parent)] += boxes[usize::from(id)];
        }
    }
    boxes
}
