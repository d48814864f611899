//! Separate debug files, as distributions have them. They are found by the build id of the code, or
//! by the name in its debug link.

use std::io::Read;
use std::path::{Path, PathBuf};

use metaspy_reader::files;
use object::read::ReadCache;
use object::{Object, ObjectSection, ReadRef};

use crate::samples::Module;
use crate::symbols::elf::{Symbol, symbols};

/// System directory of debug files.
const DEBUG_DIR: &str = "/usr/lib/debug";

/// File with the debug information of a code file.
pub struct DebugFile {
    /// Path at which the file was found.
    pub path: PathBuf,
    /// Functions of the file's symbol table.
    pub functions: Vec<Symbol>,
    /// Set if the file has lines and inlined functions.
    pub has_lines: bool,
}

/// Finds the debug file of a code file that has no debug information itself.
pub fn find<'a, R: ReadRef<'a>>(file: &object::File<'a, R>, module: &Module) -> Option<DebugFile> {
    let root = module.root.path("/");
    let by_build_id = build_id_path(file).map(|path| root.join(path));
    if let Some(found) = by_build_id.and_then(|path| read(&path, |_| true)) {
        return Some(found);
    }
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = Path::new(std::str::from_utf8(name).ok()?);
    // A name with directories could lead anywhere.
    name.file_name().filter(|last| *last == name.as_os_str())?;
    let parent = module.path.parent()?;
    let beside = module.beside.path(parent);
    let system = Path::new(DEBUG_DIR.trim_start_matches('/')).join(parent.strip_prefix("/").ok()?);
    // The files of a container may be those of this system, mounted elsewhere.
    let directories = [
        beside.clone(),
        beside.join(".debug"),
        root.join(&system),
        parent.to_owned(),
        parent.join(".debug"),
        Path::new("/").join(system),
    ];
    directories.iter().find_map(|directory| {
        read(&directory.join(name), |path: &Path| checksum_of(path) == Some(checksum))
    })
}

/// Returns the path of the debug file for a build id, below the root directory.
fn build_id_path<'a, R: ReadRef<'a>>(file: &object::File<'a, R>) -> Option<PathBuf> {
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(PathBuf::from(format!(
        "{}/.build-id/{first:02x}/{rest}.debug",
        DEBUG_DIR.trim_start_matches('/')
    )))
}

fn read(path: &Path, is_of_code: impl Fn(&Path) -> bool) -> Option<DebugFile> {
    let cache = ReadCache::new(files::open(path).ok()?);
    let file = object::File::parse(&cache).ok().filter(|_| is_of_code(path))?;
    let has_lines = file.section_by_name(".debug_info").is_some_and(|section| section.size() > 0);
    Some(DebugFile { path: path.to_owned(), functions: symbols(&file), has_lines })
}

/// Returns the checksum of a debug file's content.
fn checksum_of(path: &Path) -> Option<u32> {
    let mut file = files::open(path).ok()?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize()),
            count => hasher.update(&buffer[..count]),
        }
    }
}
