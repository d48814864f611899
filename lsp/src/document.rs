//! Document that is open in the editor, with the recorded numbers of its functions.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use crate::declarations::{Declarations, Documents};
use crate::file_modules::FileModules;
use crate::matching::{self, Match};
use crate::numbers::Numbers;
use crate::settings::Settings;
use crate::snapshot::{Model, Snapshot};
use crate::source::{Columns, Function, Lines, Outline};
use crate::uri;

/// Open document, or the text of a file that is not open.
#[derive(Debug)]
pub struct Document {
    /// Path of the file; `None` for a text without a file.
    pub path: Option<PathBuf>,
    /// Version number that the client has sent.
    pub version: i32,
    /// Present text, with an index of its lines.
    pub lines: Lines,
    outline: OnceCell<Outline>,
    /// Last state within the bounds. It answers requests if the present state exceeds a bound.
    earlier: Option<Box<Document>>,
}

impl Document {
    /// Creates the state after a change; `before` is the state before the change.
    pub fn new(uri: &str, version: i32, text: String, before: Option<Document>) -> Document {
        let path = uri::to_path(uri).map(|path| fs::canonicalize(&path).unwrap_or(path));
        let earlier = before.and_then(Document::into_earlier);
        Document { path, version, lines: Lines::new(text), outline: OnceCell::new(), earlier }
    }

    /// Creates a document for a file that is not open in the editor.
    pub fn of_file(file: &Path, text: String) -> Document {
        let (path, lines) = (Some(file.to_owned()), Lines::new(text));
        Document { path, version: 0, lines, outline: OnceCell::new(), earlier: None }
    }

    /// Returns the last state within the bounds, as far as states were read. Only a single earlier
    /// state is kept.
    fn into_earlier(mut self) -> Option<Box<Document>> {
        let is_known = self.outline.get().is_some();
        let earlier = self.earlier.take();
        if is_known && self.outline().exceeded.is_some() || !is_known && earlier.is_some() {
            return earlier;
        }
        Some(Box::new(self))
    }

    /// Returns the functions, types and modules. They are read on demand, which is not after each
    /// keystroke.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::new(&self.lines.text))
    }

    /// Returns the state that answers requests: this state, or an earlier state if this state
    /// exceeds a bound.
    pub fn answering(&self) -> &Document {
        let earlier = self.earlier.as_deref().filter(|_| self.outline().exceeded.is_some());
        earlier.filter(|earlier| earlier.outline().exceeded.is_none()).unwrap_or(self)
    }
}

/// Document together with the model that contains its file.
pub struct View<'a> {
    /// State of the document that answers requests.
    pub document: &'a Document,
    /// Program of the document's workspace.
    pub model: &'a Model,
    /// Modules whose code the file contains.
    pub modules: FileModules,
    /// Recorded methods of each function in the outline; `None` without a recording.
    pub matches: Vec<Option<Match>>,
    /// Lookup of functions in other files.
    pub declarations: Declarations<'a>,
    /// Unit of columns.
    pub columns: Columns,
    /// Settings of the client.
    pub settings: &'a Settings,
}

/// Finds the modules of a file, and the recorded methods of each function in its outline.
pub fn matches(document: &Document, model: &Model) -> (FileModules, Vec<Option<Match>>) {
    let path = document.path.as_deref().unwrap_or(Path::new(""));
    let line_of = |function: &Function| document.lines.line(function.whole.start) + 1;
    let functions = &document.outline().functions;
    let modules = FileModules::new(path, functions, model.methods_of(path).map(|(_, method)| &method.site));
    let matches = matching::find(functions, line_of, &modules, model.methods_of(path));
    (modules, matches)
}

impl<'a> View<'a> {
    /// Creates the view of a document. Returns `None` if no chosen run has a function of its file.
    pub fn new(
        document: &'a Document,
        documents: &'a Documents,
        snapshot: &'a Snapshot,
        columns: Columns,
        settings: &'a Settings,
    ) -> Option<Self> {
        let model = snapshot.model_of(document.path.as_deref()?)?;
        let document = document.answering();
        let (modules, matches) = matches(document, model);
        let declarations = Declarations::new(documents, model, columns);
        Some(View { document, model, modules, matches, declarations, columns, settings })
    }

    /// Returns the recorded functions with their numbers, and true for functions that were edited
    /// after the run.
    pub fn functions(&self) -> impl Iterator<Item = (&'a Function, Numbers, bool)> {
        let all = self.document.outline().functions.iter().zip(&self.matches);
        all.filter_map(|(function, found)| {
            let found = found.as_ref()?;
            Some((function, self.model.numbers(&found.places), found.is_stale))
        })
    }

    /// Converts bytes to a range of the protocol.
    pub fn range(&self, bytes: &std::ops::Range<usize>) -> lsp_types::Range {
        self.document.lines.range(bytes, self.columns)
    }
}
