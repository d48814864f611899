//! What the code that `#[observe]` writes needs beside the core's hooks. Programs do not call this module themselves.

mod ask;
mod frame;
mod place_of;
mod told;
mod who;

pub use ask::subject;
pub use frame::{Frame, Guard, enter, enter_as, enter_by, enter_on, enter_with};
pub use place_of::PlaceOf;
pub use told::{TellsNothing, Told};
pub use who::{AskedIdentity, PlainIdentity, Who, WithoutIdentity};
