//! Views of the recorded numbers in the editor, with a module for each kind of request.

pub mod edges;
pub mod files;
pub mod findings;
pub mod heat;
pub mod hints;
pub mod hover;
pub mod inlays;
pub mod lenses;
pub mod symbols;

mod call;
mod header;
mod item;
mod own_calls;
mod summary;
mod type_names;
mod types;
mod view;

pub use view::View;
