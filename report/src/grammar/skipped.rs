//! Files and lines that should have been inputs and were none: counted, and the first few named.

use crate::text::{clean, counted};

/// So many are named.
const NAMED: usize = 5;

/// A count, and the names of the first few.
#[derive(Debug, Default)]
pub struct Named {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub first: Vec<String>,
}

impl Named {
    /// One more.
    pub fn push(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(name());
        }
    }
}

/// The files and lines that were left out of the corpus.
#[derive(Debug, Default)]
pub struct Skipped {
    /// Files and lines that are no text, or cannot be read, with the reason.
    pub unreadable: Named,
    /// Files that were reached again, on another path.
    pub repeated: u64,
    /// Symbolic links that lead back to a directory that they stand in.
    pub loops: Named,
    /// Files of directories that `--glob` does not let through.
    pub excluded: u64,
}

impl Skipped {
    /// The error message if there is no input at all: it states where the named files went.
    pub fn no_input(&self) -> String {
        let mut text = "there are no inputs: nothing that was named holds one".to_owned();
        if self.excluded > 0 {
            text += &format!("; --glob does not let {} through", counted(self.excluded, "file"));
        }
        if self.unreadable.count > 0 {
            let first = self.unreadable.first.join(", ");
            text +=
                &format!("; {} cannot be read: {first}", counted(self.unreadable.count, "input"));
        }
        clean(&text).into_owned()
    }
}
