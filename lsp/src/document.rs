//! Document that is open in the editor.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use crate::file_modules::FileModules;
use crate::matching::{self, Match};
use crate::snapshot::Model;
use crate::source::{Bound, Function, Lines, Outline};
use crate::uri;

/// Size up to which a text is read when a request needs it, in bytes. A longer text is read by
/// another thread.
const SHORT: usize = 64 << 10;

/// Open document, or the text of a file that is not open.
#[derive(Debug)]
pub struct Document {
    /// Path of the file; `None` for a text without a file.
    pub path: Option<PathBuf>,
    /// Version number that the client has sent.
    pub version: i32,
    /// Present text, with an index of its lines.
    pub lines: Lines,
    /// Number of the state.
    state: u64,
    outline: OnceCell<Outline>,
    /// Last state within the bounds. It answers requests if the present state exceeds a bound, or
    /// is not read yet.
    earlier: Option<Box<Document>>,
}

impl Document {
    /// Creates the state after a change; `before` is the state before the change.
    pub fn new(uri: &str, version: i32, text: String, before: Option<Document>) -> Document {
        let path = uri::to_path(uri).map(|path| fs::canonicalize(&path).unwrap_or(path));
        let state = before.as_ref().map_or(0, |before| before.state + 1);
        let earlier = before.and_then(Document::into_earlier);
        Document {
            path,
            version,
            lines: Lines::new(text),
            state,
            outline: OnceCell::new(),
            earlier,
        }
    }

    /// Creates a document for a file that is not open in the editor.
    pub fn of_file(file: &Path, text: String) -> Document {
        let path = Some(file.to_owned());
        let lines = Lines::new(text);
        Document { path, version: 0, lines, state: 0, outline: OnceCell::new(), earlier: None }
    }

    /// Returns the last state within the bounds, as far as states were read. Only a single earlier
    /// state is kept.
    fn into_earlier(mut self) -> Option<Box<Document>> {
        let earlier = self.earlier.take();
        let is_kept = match self.outline.get() {
            Some(outline) => outline.exceeded.is_none(),
            None => earlier.is_none() && !self.is_long(),
        };
        if is_kept { Some(Box::new(self)) } else { earlier }
    }

    /// Returns true for a text that takes too long to read while a request waits.
    fn is_long(&self) -> bool {
        self.lines.text.len() > SHORT
    }

    /// Returns the text with the number of its state, if another thread should read it.
    pub fn to_read(&self) -> Option<(u64, String)> {
        self.is_long().then(|| (self.state, self.lines.text.clone()))
    }

    /// Sets the outline of a state. Returns false if it is not the present one.
    pub(crate) fn set_outline(&self, state: u64, outline: Outline) -> bool {
        state == self.state && self.outline.set(outline).is_ok()
    }

    /// Returns the functions, types and modules. They are read on demand, which is not after each
    /// keystroke.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::new(&self.lines.text))
    }

    /// Returns true if the text is long, and was not read yet.
    fn is_awaited(&self) -> bool {
        self.is_long() && self.outline.get().is_none()
    }

    /// Returns the bound that the text exceeds, as far as it was read.
    pub fn exceeded(&self) -> Option<Bound> {
        if self.is_awaited() { None } else { self.outline().exceeded }
    }

    /// Returns the state that answers requests: this state, or an earlier state if this state
    /// exceeds a bound or is not read yet. Without an earlier state, nothing answers until it is
    /// read.
    pub(crate) fn answering(&self) -> Option<&Document> {
        let earlier = self.earlier.as_deref();
        if self.is_awaited() {
            return earlier;
        }
        let earlier = earlier.filter(|earlier| {
            self.outline().exceeded.is_some() && earlier.outline().exceeded.is_none()
        });
        Some(earlier.unwrap_or(self))
    }
}

/// Finds the modules of a file, and the recorded methods of each function in its outline.
pub fn matches(document: &Document, model: &Model) -> (FileModules, Vec<Option<Match>>) {
    let path = document.path.as_deref().unwrap_or(Path::new(""));
    let line_of = |function: &Function| document.lines.line(function.whole.start) + 1;
    let functions = &document.outline().functions;
    let modules =
        FileModules::new(path, functions, model.methods_of(path).map(|(_, method)| &method.site));
    let matches = matching::find(functions, line_of, &modules, model.methods_of(path));
    (modules, matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URI: &str = "file:///none/lib.rs";

    fn long(functions: usize) -> String {
        "fn x() { 1 }\n".repeat(functions)
    }

    #[test]
    fn a_long_text_is_not_read_for_a_request() {
        let first = Document::new(URI, 1, long(10_000), None);
        assert!(first.answering().is_none(), "nothing was read yet");
        let (state, text) = first.to_read().expect("another thread reads it");
        assert!(first.set_outline(state, Outline::new(&text)));
        assert!(first.answering().is_some_and(|it| it.version == 1));

        let second = Document::new(URI, 2, long(11_000), Some(first));
        assert!(
            second.answering().is_some_and(|it| it.version == 1) && second.exceeded().is_none()
        );
        assert!(!second.set_outline(state, Outline::default()), "it is that of the first text");
        let third = Document::new(URI, 3, long(12_000), Some(second));
        assert!(
            third.answering().is_some_and(|it| it.version == 1),
            "the second text was not read"
        );
        let (state, text) = third.to_read().expect("another thread reads it");
        assert!(third.set_outline(state, Outline::new(&text)));
        assert!(third.answering().is_some_and(|it| it.outline().functions.len() == 12_000));
    }

    #[test]
    fn a_text_beyond_a_bound_is_answered_by_the_last_one_within() {
        let within = Document::new(URI, 1, "fn a() {}".to_owned(), None);
        assert!(within.to_read().is_none());
        let beyond = Document::new(URI, 2, long(100_000), Some(within));
        let (state, text) = beyond.to_read().expect("another thread reads it");
        assert!(beyond.set_outline(state, Outline::new(&text)));
        assert_eq!(beyond.exceeded(), Some(Bound::Length));
        assert!(beyond.answering().is_some_and(|it| it.version == 1));
    }
}
