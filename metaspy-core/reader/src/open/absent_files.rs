//! Files of a rotation that are not read.

use std::fmt;

use serde::Serialize;

use metaspy_format::Words;
use metaspy_format::superblock as sb;

/// Value of [`sb::FOLLOWED`] in a file that another one follows, which is not read with it.
pub(crate) const IS_FOLLOWED: u64 = 1;
/// The same in several files that were read as one, with those that follow them.
pub(crate) const WAS_FOLLOWED: u64 = 2;

/// Files of a rotation that are not read. The files that are read count only a part of the
/// process's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AbsentFiles {
    /// Number of the file in its rotation, from 1 on; `None` if several files are read together.
    pub part: Option<u64>,
    /// Number of files before the last file that is read.
    pub earlier: u64,
    /// True if another file follows the last file that is read.
    pub has_later: bool,
}

impl AbsentFiles {
    /// Returns the absent files that a recording states, if any.
    pub(crate) fn read(words: Words<'_>) -> Option<Self> {
        let (earlier, has_later) =
            (words.get(sb::EARLIER_FILES), words.get(sb::FOLLOWED) == IS_FOLLOWED);
        (earlier > 0 || has_later).then(|| AbsentFiles {
            part: Some(earlier.saturating_add(1)),
            earlier,
            has_later,
        })
    }
}

impl AbsentFiles {
    /// Describes the files that are read: `part 2 of a rotation`.
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
