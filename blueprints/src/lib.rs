#![forbid(unsafe_code)]
//! Pictures of a recorded run: see where time goes, who calls whom, and which code no test reaches.
//!
//! The modules, in reading order:
//!
//! - [`graph`]: the methods, their owners and the calls between them, from the program model of
//!   `metaspy-report`.
//! - [`grammar`]: the productions of a grammar, as a graph of the same form.
//! - [`view`]: the subjects of a recording, with numbers of their author's choice.
//! - [`evolution`]: two versions, and which methods changed beyond noise.
//! - [`scene`]: a picture as data. Layout is complete, so that all emitters draw the same.
//! - [`picture`]: which number becomes which height, width and fill, and where the boxes are.
//! - [`layout`]: columns, skyline, spanning tree, tidy tree.
//! - [`emit`]: SVG, a self-contained HTML file, and text for a terminal.
//!
//! ```
//! use metaspy_blueprints::{Graph, Kind, Options, emit, picture};
//! use metaspy_report::program::Program;
//!
//! let graph = Graph::new(&Program::default(), |ticks| ticks);
//! let error = picture::draw(Kind::Structural, &graph, &Options::default()).unwrap_err();
//! assert!(error.to_string().contains("nothing ran"));
//! ```

pub mod emit;
pub mod evolution;
pub mod grammar;
pub mod graph;
pub mod layout;
mod page;
pub mod picture;
pub mod scene;
pub mod view;

pub use graph::Graph;
pub use page::page;
pub use picture::{Options, PictureError};
pub use scene::{Kind, Scene};
