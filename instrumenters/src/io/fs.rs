//! Functions of [`std::fs`] that are events, at the sites `fs::read`, `fs::write` and so on.
//!
//! The subject is the path. An open file has the sites `file::read`, `file::write`, `file::flush`
//! and `file::seek`.
//!
//! ```
//! use metaspy::io::fs;
//! use metaspy::prelude::*;
//!
//! let (missing, profile) = Profiler::new("files").observe(methods("fs::read")).profile(|| fs::read("no such file"))?;
//! assert!(missing.is_err());
//! assert_eq!(profile.counts().by_site().at("fs::read").unwrap().measure.failed, 1);
//! # Ok::<(), metaspy::InstallError>(())
//! ```

use std::fs::{self, File, Metadata};
use std::io::Result;
use std::path::Path;

use metaspy_core::site::register;
use metaspy_core::{Kind, Site, SiteDef, SiteKind, Subject};

use super::{About, Sites, SpiedIo, record};
use crate::text_key;

/// Returns the subject of a path.
pub fn path(path: impl AsRef<Path>) -> Subject {
    static PATH: Kind = Kind::new("Path");
    text_key::subject(PATH.id(), &format_args!("{}", path.as_ref().display()))
}

macro_rules! sites {
    ($($site:ident = $module:literal $name:expr;)+) => {$(
        register! {
            static $site: Site = Site::new(SiteDef {
                kind: SiteKind::State,
                module: $module,
                name: $name,
                file: file!(),
                lines: (line!(), line!()),
                skipped: None,
            });
        }
    )+};
}

sites! {
    FILE_READ = "file" "read";
    FILE_WRITE = "file" "write";
    FILE_FLUSH = "file" "flush";
    FILE_SEEK = "file" "seek";
}

/// Generates functions of a path, with a site each.
macro_rules! functions {
    ($($site:ident = $function:path as $name:ident($($argument:ident: $of:ty)?) -> $output:ty $(, $wrap:ident)?;)+) => {$(
        sites! { $site = "fs" stringify!($name); }

        #[doc = concat!("As [`", stringify!($function), "`].")]
        pub fn $name(path: impl AsRef<Path> $(, $argument: $of)?) -> Result<$output> {
            let of = path.as_ref();
            let Hidden(value) = record(&$site, || self::path(of), || $function(of $(, $argument)?).map(Hidden))?;
            Ok(functions!(@ value of $($wrap)?))
        }
    )+};
    (@ $value:ident $of:ident) => { $value };
    (@ $value:ident $of:ident $wrap:ident) => { $wrap($value, $of) };
}

/// Value that is not shown in details: the content of a file.
struct Hidden<T>(T);

impl<T> std::fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

functions! {
    OPEN = File::open as open() -> SpiedIo<File>, spied;
    CREATE = File::create as create() -> SpiedIo<File>, spied;
    READ = fs::read as read() -> Vec<u8>;
    READ_TO_STRING = fs::read_to_string as read_to_string() -> String;
    WRITE = fs::write as write(content: impl AsRef<[u8]>) -> ();
    COPY = fs::copy as copy(to: impl AsRef<Path>) -> u64;
    RENAME = fs::rename as rename(to: impl AsRef<Path>) -> ();
    REMOVE_FILE = fs::remove_file as remove_file() -> ();
    CREATE_DIR_ALL = fs::create_dir_all as create_dir_all() -> ();
    REMOVE_DIR_ALL = fs::remove_dir_all as remove_dir_all() -> ();
    METADATA = fs::metadata as metadata() -> Metadata;
}

/// Wraps a file whose operations are events about its path, at the sites `file::read` and so on.
fn spied(file: File, path: &Path) -> SpiedIo<File> {
    let sites = Sites {
        read: &FILE_READ,
        write: &FILE_WRITE,
        flush: &FILE_FLUSH,
        seek: &FILE_SEEK,
        // A file has no shutdown, so this site stands in.
        #[cfg(feature = "tokio")]
        shutdown: &FILE_FLUSH,
    };
    SpiedIo::of(file, sites, About::Other(self::path(path)))
}
