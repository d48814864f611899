//! Lookup of recorded functions in the present text, from the editor or else from the file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

use lsp_types::{Position, Range};
use metaspy_reader::files;

use crate::document::{self, Document};
use crate::snapshot::Model;
use crate::source::Columns;
use crate::uri;

/// Documents that are open in the editor, and files that were read because a link leads to them.
#[derive(Debug, Default)]
pub struct Documents {
    /// Open documents by their address.
    pub open: HashMap<String, Document>,
    read: RefCell<HashMap<PathBuf, (FileState, Rc<Document>)>>,
}

/// Length and modification time of a file.
type FileState = Option<(u64, SystemTime)>;

/// Positions of functions, by file and path. Each file is searched once.
pub struct Declarations<'a> {
    documents: &'a Documents,
    model: &'a Model,
    columns: Columns,
    found: RefCell<HashMap<PathBuf, HashMap<String, Range>>>,
}

impl Documents {
    /// Calls a function with the text of a file. Returns `None` if there is no such file.
    fn with<T>(&self, file: &Path, use_it: impl FnOnce(&Document) -> T) -> Option<T> {
        if let Some(open) =
            self.open.values().find(|document| document.path.as_deref() == Some(file))
        {
            return open.answering().map(use_it);
        }
        let state =
            fs::metadata(file).ok().and_then(|meta| Some((meta.len(), meta.modified().ok()?)));
        let known = self
            .read
            .borrow()
            .get(file)
            .filter(|(known, _)| *known == state)
            .map(|(_, known)| known.clone());
        let document = match known {
            Some(document) => document,
            None => {
                let document = Rc::new(Document::of_file(file, files::read_text(file).ok()?));
                self.read.borrow_mut().insert(file.to_owned(), (state, document.clone()));
                document
            }
        };
        Some(use_it(&document))
    }
}

impl<'a> Declarations<'a> {
    /// Creates the lookup for the functions of a model.
    pub fn new(documents: &'a Documents, model: &'a Model, columns: Columns) -> Self {
        Declarations { documents, model, columns, found: RefCell::default() }
    }

    /// Returns the file and the range of the function with this path, or `None` if several have it.
    ///
    /// The range is the recorded line if the text no longer has the function.
    pub fn of(&self, path: &str) -> Option<(PathBuf, Range)> {
        let (file, line) = self.model.declaration(path)?;
        let mut found = self.found.borrow_mut();
        let functions = found.entry(file.clone()).or_insert_with(|| {
            self.documents.with(&file, |document| self.functions(document)).unwrap_or_default()
        });
        let recorded = Position::new(line.saturating_sub(1), 0);
        let range = functions.get(path).copied().unwrap_or(Range::new(recorded, recorded));
        Some((file, range))
    }

    /// Returns the address and the line of the function with this path, or `None` if several have
    /// it.
    pub(crate) fn address_of(&self, path: &str) -> Option<String> {
        let (file, range) = self.of(path)?;
        Some(format!("{}#L{}", uri::of_path(&file)?.as_str(), range.start.line + 1))
    }

    /// Finds the identifiers of a document's functions, by the paths of their recorded methods.
    fn functions(&self, document: &Document) -> HashMap<String, Range> {
        let (_, matches) = document::matches(document, self.model);
        let functions = document.outline().functions.iter().zip(matches);
        let named = functions.flat_map(|(function, found)| {
            let range = document.lines.range(&function.ident, self.columns);
            let methods = found.unwrap_or_default().places.into_iter();
            let methods = methods.filter_map(|place| self.model.element(place).method.as_deref());
            methods.map(|method| (method.site.path.clone(), range)).collect::<Vec<_>>()
        });
        named.collect()
    }
}
