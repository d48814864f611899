//! Source in the editor: its functions, types and modules, also during editing.

mod call;
mod foreign;
mod outline;
mod position;
mod qualifier;
mod recovery;
mod signature;
mod tokens;

pub(crate) use call::{called_at, calls_in, names_in, receiver_before};
pub(crate) use foreign::runs_unnamed;
pub use foreign::{is_running, returned, words};
pub use outline::{Bound, Function, Item, ItemKind, Outline};
pub use position::{Columns, Lines};
pub use qualifier::Qualifier;
pub use signature::Value;
pub(crate) use signature::{open_traits, type_parameters, values_in};
pub(crate) use tokens::tokens_of;
