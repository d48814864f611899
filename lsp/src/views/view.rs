//! Document with the recorded numbers of its functions, which all views show.

use crate::declarations::{Declarations, Documents};
use crate::document::{self, Document};
use crate::file_modules::FileModules;
use crate::matching::Match;
use crate::numbers::Numbers;
use crate::settings::Settings;
use crate::snapshot::{Model, Snapshot};
use crate::source::{Columns, Function};

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
        let document = document.answering()?;
        let (modules, matches) = document::matches(document, model);
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
