//! The profiler of the story: every site of the tree, and the relations of its nodes.

use metaspy::Mode;
use metaspy::instrumenter::Arming;
use metaspy::{InstallError, Installation, Instrumenter, Session};
use metaspy::{Profiler, Selector};

/// A profiler of everything that happens to the nodes. Give it more instrumenters, or install it as
/// it is.
pub fn profiler() -> Profiler {
    Profiler::new("layout")
        .observe(Tree)
        .controlled()
        .relation("owner")
        .relation("sibling")
        .relation("cache")
}

/// Observes the tree of boxes: all nodes, every site.
#[derive(Clone, Copy, Debug)]
pub struct Tree;

impl Instrumenter for Tree {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        let tree: Selector = "metaspy_layout_story::tree::**".parse()?;
        session.arm_matching(&tree, &Arming::all(Mode::Full))?;
        Ok(Installation::none())
    }
}
