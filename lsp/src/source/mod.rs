//! The source as the editor shows it: its functions, types and modules, also while it is being edited.

mod call;
mod outline;
mod position;
mod recovery;
mod signature;

pub use call::{called_at, calls_in};
pub use outline::{Function, Item, ItemKind, Outline};
pub use position::{Columns, Lines};
pub use signature::open_traits;
