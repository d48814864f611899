//! Limits of a page, and the errors beyond them.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Limits within which a page is read.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of HTML.
    pub bytes: u64,
    /// Elements.
    pub elements: usize,
    /// Elements nested in each other. Layout recurses once per level, so this bounds the stack too.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: 8 << 20, elements: 200_000, depth: 96 }
    }
}

impl Limits {
    /// The checks before parsing.
    pub(super) fn check_bytes(&self, html: &[u8]) -> Result<(), PageError> {
        let bytes = html.len() as u64;
        if bytes > self.bytes {
            return Err(PageError::TooLarge { bytes, limit: self.bytes });
        }
        if html.iter().all(u8::is_ascii_whitespace) {
            return Err(PageError::Empty);
        }
        // No HTML in any encoding that we read holds a NUL; images, archives and UTF-16 do.
        if html.contains(&0) { Err(PageError::NotHtml) } else { Ok(()) }
    }
}

/// True if the first bytes are those of HTML, even without any further element.
pub(super) fn declares_html(html: &[u8]) -> bool {
    let start = html[..html.len().min(1024)].to_ascii_lowercase();
    ["<!doctype html", "<html", "<body"]
        .iter()
        .any(|tag| start.windows(tag.len()).any(|at| at == tag.as_bytes()))
}

/// Why a page cannot be laid out.
#[derive(Debug)]
#[non_exhaustive]
pub enum PageError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// Not one character.
    Empty,
    /// Something else than HTML.
    NotHtml,
    /// HTML in which nothing can be seen.
    Blank,
    /// More bytes than the limit.
    TooLarge {
        /// Bytes of the page.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// More elements than the limit.
    TooManyElements {
        /// Elements allowed.
        limit: usize,
    },
    /// Elements nested deeper than the limit.
    TooDeep {
        /// Levels allowed.
        limit: usize,
    },
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::Unreadable { path, error } => {
                write!(f, "cannot read {}: {error}", path.display())
            }
            PageError::Empty => {
                write!(f, "the page is empty: give an HTML file with some text in it")
            }
            PageError::NotHtml => {
                write!(f, "the page is not HTML: it holds no element; give an HTML file in UTF-8")
            }
            PageError::Blank => write!(
                f,
                "nothing can be seen on the page: it has elements, but no text to lay out"
            ),
            PageError::TooLarge { bytes, limit } => {
                let mib = |bytes: u64| bytes as f64 / (1 << 20) as f64;
                let is = mib(*bytes);
                let may = mib(*limit);
                write!(
                    f,
                    "the page is too large: {is:.1} MiB, the limit is {may:.1} MiB; give a smaller one"
                )
            }
            PageError::TooManyElements { limit } => {
                write!(
                    f,
                    "the page has too many elements: the limit is {limit}; give a smaller one"
                )
            }
            PageError::TooDeep { limit } => {
                write!(
                    f,
                    "the page is nested too deep: the limit is {limit} elements inside each other"
                )
            }
        }
    }
}

impl std::error::Error for PageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            PageError::Unreadable { error, .. } => Some(error),
            _ => None,
        }
    }
}
