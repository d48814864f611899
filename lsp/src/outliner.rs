//! Thread that reads long texts, so that requests about other texts do not wait for them.

use std::io;
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::source::Outline;

/// Stack of the thread, in bytes: that of a main thread.
const STACK: usize = 8 << 20;

/// Text to read.
#[derive(Debug)]
pub struct Text {
    /// Address of the document.
    pub uri: String,
    /// Number of the document's state.
    pub state: u64,
    pub text: String,
}

/// Outline of a text.
#[derive(Debug)]
pub struct Read {
    /// Address of the document.
    pub uri: String,
    /// Number of the document's state.
    pub state: u64,
    pub outline: Outline,
}

/// Starts the thread, which ends when one of the channels is dropped.
pub fn start() -> io::Result<(Sender<Text>, Receiver<Read>)> {
    let (sender, texts) = unbounded::<Text>();
    let (outlines, receiver) = unbounded();
    let work = move || {
        while let Ok(text) = texts.recv() {
            let waiting: Vec<Text> = std::iter::once(text).chain(texts.try_iter()).collect();
            for Text { uri, state, text } in newest(waiting) {
                if outlines.send(Read { uri, state, outline: Outline::new(&text) }).is_err() {
                    return;
                }
            }
        }
    };
    thread::Builder::new().name("metaspy-outlines".into()).stack_size(STACK).spawn(work)?;
    Ok((sender, receiver))
}

/// Returns the last text of each document, because each keystroke sends one.
fn newest(mut texts: Vec<Text>) -> Vec<Text> {
    let mut kept: Vec<Text> = Vec::new();
    while let Some(text) = texts.pop() {
        if kept.iter().all(|newer| newer.uri != text.uri) {
            kept.push(text);
        }
    }
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_text_of_a_document_is_read() {
        let text = |(uri, state): &(&str, u64)| Text {
            uri: (*uri).to_owned(),
            state: *state,
            text: String::new(),
        };
        let texts = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)];
        let kept: Vec<u64> =
            newest(texts.iter().map(text).collect()).iter().map(|text| text.state).collect();
        assert_eq!(kept, [3, 4, 5]);
    }
}
