//! The files of a rotation that are not among those that are read.

use std::fmt;

use serde::Serialize;

use metaspy_format::Words;
use metaspy_format::superblock as sb;

/// Files of a rotation that are not read: what the others count is not all that the process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AbsentFiles {
    /// The number of the file in its rotation, from 1 on. `None` of several files that are read as one.
    pub part: Option<u64>,
    /// Files before the last one that is read.
    pub earlier: u64,
    /// True if another file follows that one.
    pub has_later: bool,
}

impl AbsentFiles {
    /// Those that a recording states, if any.
    pub(crate) fn read(words: Words<'_>) -> Option<Self> {
        let (earlier, has_later) = (words.get(sb::EARLIER_FILES), words.get(sb::FOLLOWED) != 0);
        (earlier > 0 || has_later).then(|| AbsentFiles { part: Some(earlier.saturating_add(1)), earlier, has_later })
    }
}

impl AbsentFiles {
    /// What is read, in few words.
    pub fn what_is_read(&self) -> String {
        match self.part {
            Some(part) => format!("part {part} of a rotation"),
            None => "parts of a rotation".to_owned(),
        }
    }
}

impl fmt::Display for AbsentFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.what_is_read())?;
        let earlier = match self.earlier {
            1 => "1 earlier file".to_owned(),
            earlier => format!("{earlier} earlier files"),
        };
        match (self.earlier, self.has_later) {
            (1, false) => write!(f, "{earlier} is not among the inputs"),
            (0, _) => f.write_str("later files are not among the inputs"),
            (_, false) => write!(f, "{earlier} are not among the inputs"),
            (_, true) => write!(f, "{earlier} and later ones are not among the inputs"),
        }
    }
}
