//! A live recording through a pipe: one side sends the changes, the other reads them as if the
//! recording were local.
//!
//! `ssh host metaspy stream 4711 | metaspy open -` shows a process of another machine. The observed
//! process is not involved: the sender maps its recording as every reader does.
//!
//! A stream consists of changed pages rather than events, so the receiver has the file itself. The
//! sender compares digests of pages, and skips chunks in which nothing runs. Rounds record folds,
//! so counts are exact or marked "about".

mod receive;
mod send;
#[cfg(test)]
mod tests;

pub use receive::{Receiver, StreamError};
pub use send::Sender;
