//! A file that is open in the editor, with what is known of its functions.

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

/// A file that is open.
#[derive(Debug)]
pub struct Document {
    /// Its path; `None` for a text without a file.
    pub path: Option<PathBuf>,
    /// Its version, as the client counts them.
    pub version: i32,
    /// Its text.
    pub lines: Lines,
    outline: OnceCell<Outline>,
    /// An earlier state, which answers if this one exceeds a bound.
    earlier: Option<Box<Document>>,
}

impl Document {
    /// Reads a text, whose document was in another state before.
    pub fn new(uri: &str, version: i32, text: String, before: Option<Document>) -> Document {
        let path = uri::to_path(uri).map(|path| fs::canonicalize(&path).unwrap_or(path));
        let earlier = before.and_then(Document::into_earlier);
        Document { path, version, lines: Lines::new(text), outline: OnceCell::new(), earlier }
    }

    /// Reads the text of a file that is not open.
    pub fn of_file(file: &Path, text: String) -> Document {
        let (path, lines) = (Some(file.to_owned()), Lines::new(text));
        Document { path, version: 0, lines, outline: OnceCell::new(), earlier: None }
    }

    /// The last state that exceeds no bound, as far as states were read. One state is kept.
    fn into_earlier(mut self) -> Option<Box<Document>> {
        let is_known = self.outline.get().is_some();
        let earlier = self.earlier.take();
        if is_known && self.outline().exceeded.is_some() || !is_known && earlier.is_some() {
            return earlier;
        }
        Some(Box::new(self))
    }

    /// Its functions, types and modules. They are read when they are needed, which is not after each letter.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::new(&self.lines.text))
    }

    /// The state that answers: this one, or an earlier one if this one exceeds a bound.
    pub fn answering(&self) -> &Document {
        let earlier = self.earlier.as_deref().filter(|_| self.outline().exceeded.is_some());
        earlier.filter(|earlier| earlier.outline().exceeded.is_none()).unwrap_or(self)
    }
}

/// A document beside the model that has its file.
pub struct View<'a> {
    /// The document.
    pub document: &'a Document,
    /// The model.
    pub model: &'a Model,
    /// The modules that the file is.
    pub modules: FileModules,
    /// The recorded methods of each function of the outline.
    pub matches: Vec<Option<Match>>,
    /// Where other functions are.
    pub declarations: Declarations<'a>,
    /// What columns count.
    pub columns: Columns,
    /// The settings.
    pub settings: &'a Settings,
}

/// The modules that a file is, and the recorded methods of each function of its outline.
pub fn matches(document: &Document, model: &Model) -> (FileModules, Vec<Option<Match>>) {
    let path = document.path.as_deref().unwrap_or(Path::new(""));
    let line_of = |function: &Function| document.lines.line(function.whole.start) + 1;
    let functions = &document.outline().functions;
    let modules = FileModules::new(path, functions, model.methods_of(path).map(|(_, method)| &method.site));
    let matches = matching::find(functions, line_of, &modules, model.methods_of(path));
    (modules, matches)
}

impl<'a> View<'a> {
    /// The view of a document; `None` if no chosen run has a function of its file.
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

    /// The functions that were recorded, with their numbers. True for stale ones.
    pub fn functions(&self) -> impl Iterator<Item = (&'a Function, Numbers, bool)> {
        let all = self.document.outline().functions.iter().zip(&self.matches);
        all.filter_map(|(function, found)| {
            let found = found.as_ref()?;
            Some((function, self.model.numbers(&found.places), found.is_stale))
        })
    }

    /// The range of these bytes.
    pub fn range(&self, bytes: &std::ops::Range<usize>) -> lsp_types::Range {
        self.document.lines.range(bytes, self.columns)
    }
}
