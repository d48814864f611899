//! The layout story: `taffy` lays out a real page that changes frame by frame.
//!
//! The domain is a tree of boxes, and its nodes are the subjects. A page is parsed ([`Page`]), made
//! into a tree ([`Scene`]) for which taffy's own traits are implemented, and then changes as pages
//! do ([`Story`]): a user types, hides a section, appends a row, resizes the window. Each request
//! of taffy to a node is observed:
//!
//! | site | is one |
//! |---|---|
//! | `Scene::frame` | frame: changes, layout, paint |
//! | `Scene::change` | change of a node |
//! | `Scene::layout` | re-layout of a node, linked to every change that made the node dirty |
//! | `Scene::needless` | re-layout that should not have happened: nothing changed at the node, below it or above it, and it had answered the same before |
//! | `Scene::measure` | measuring of a text |
//! | `Scene::recall_size`, `Scene::recall_layout` | question to the cache of a node: a hit succeeds, a miss fails |
//! | `Scene::store` | answer for the cache of a node; it fails if the cache does not keep it |
//! | `Scene::paint` | painting of a node |
//!
//! It answers the questions of an author of a layout engine: which nodes are laid out too often,
//! how many measures the cache saves, which changes cause which re-layouts, and which re-layouts
//! should not have happened. The answer to the last is [a surprise](surprise).
//!
//! ```
//! use metaspy_layout_story::{Page, Story};
//!
//! let mut story = Story::open(&Page::shipped(), 1).expect("the shipped page can be laid out");
//! let frame = story.frame().expect("it still can");
//! assert_eq!(frame.number, 1);
//! ```
#![forbid(unsafe_code)]

pub mod bench;
pub mod changes;
pub mod page;
pub mod profiler;
pub mod report;
pub mod run;
pub mod script;
pub mod surprise;
pub mod text;
pub mod tree;

pub use changes::Change;
pub use page::{Limits, Page, PageError};
pub use profiler::profiler;
pub use report::report;
pub use run::{Frame, STACK, Story, Until};
pub use script::Script;
pub use tree::{Counts, Overrun, Scene};
