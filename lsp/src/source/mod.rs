//! Source in the editor: its functions, types and modules, also during editing.

mod call;
mod foreign;
mod outline;
mod position;
mod qualifier;
mod recovery;
mod signature;
mod tokens;

pub use call::{called_at, calls_in, names_in, receiver_before};
pub use foreign::{is_running, returned, runs_unnamed, words};
pub use outline::{Bound, Function, Item, ItemKind, Outline};
pub use position::{Columns, Lines};
pub use qualifier::Qualifier;
pub use signature::{Value, open_traits, type_parameters, values_in};
pub use tokens::tokens_of;
