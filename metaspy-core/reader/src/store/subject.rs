//! Text of a subject on screens and in reports.

use crate::Store;
use metaspy_format::row::OTHERS;
use metaspy_probe::{KindId, Subject};

/// Kind of a row that stands for all subjects of a site without a row of their own.
pub(crate) const OTHERS_KIND: KindId = KindId(OTHERS);

impl Store {
    /// Returns the label of a subject, or its kind and key if it has no label.
    pub fn subject_text(&self, subject: Subject) -> String {
        match self.label(subject) {
            Some(label) => label.to_owned(),
            None => self.subject_name(subject),
        }
    }

    /// Returns the kind and the key of a subject, without its label: `NodeId #5`, `Scene @7f3a…`,
    /// `#412` if the kind has no name.
    pub fn subject_name(&self, subject: Subject) -> String {
        if subject.is_none() {
            return "nobody".to_owned();
        }
        if subject.kind == OTHERS_KIND {
            return "others".to_owned();
        }
        match self.kind(subject.kind) {
            Some(kind) if kind.place => format!("{} @{:x}", kind.whole_name(), subject.key),
            Some(kind) if !kind.process.is_empty() => {
                format!("{}/{} #{}", kind.process, kind.short_name(), subject.key)
            }
            Some(kind) if !kind.name.is_empty() => {
                format!("{} #{}", kind.short_name(), subject.key)
            }
            _ => format!("#{}", subject.key),
        }
    }
}
