//! `metaspy demo`: the layout story, in a process of its own and live in the crawler; or recorded
//! without a screen.

mod child;
mod guide;
mod live;
mod record;
mod story;

pub use live::show;
pub use record::record;
pub(crate) use story::attended;
