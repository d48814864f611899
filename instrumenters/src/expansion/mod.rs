//! What the code that `#[observe]` writes needs beside the core's hooks. Programs do not call this module themselves.

mod ask;
mod place_of;
mod told;
mod who;

pub use ask::subject;
pub use place_of::PlaceOf;
pub use told::{TellsNothing, Told};
pub use who::{Who, WithoutIdentity};
