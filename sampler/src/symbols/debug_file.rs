//! Debug information in a file of its own, as distributions have it: found by the build id of the code, or by the name that
//! the code has for it.

use std::io::Read;
use std::path::{Path, PathBuf};

use metaspy_reader::files;
use object::read::ReadCache;
use object::{Object, ObjectSection, ReadRef};

use crate::samples::Module;
use crate::symbols::elf::{Symbol, symbols};

/// Where debug information of the whole system is.
const DEBUG_DIR: &str = "/usr/lib/debug";

/// A file with the debug information of another one.
pub struct DebugFile {
    /// Where it is.
    pub path: PathBuf,
    /// The functions of its symbol table.
    pub functions: Vec<Symbol>,
    /// True if it has lines and inlined functions.
    pub has_lines: bool,
}

/// The debug information of a file with code that has none itself.
pub fn find<'a, R: ReadRef<'a>>(file: &object::File<'a, R>, module: &Module) -> Option<DebugFile> {
    let root = module.root.path("/");
    let by_build_id = build_id_path(file).map(|path| root.join(path));
    if let Some(found) = by_build_id.and_then(|path| read(&path, |_| true)) {
        return Some(found);
    }
    let (name, checksum) = file.gnu_debuglink().ok()??;
    let name = Path::new(std::str::from_utf8(name).ok()?);
    // A name with directories would lead anywhere.
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
    let is_of_code = |path: &Path| checksum_of(path) == Some(checksum);
    directories.iter().find_map(|directory| read(&directory.join(name), is_of_code))
}

/// The path below the root directory of the file with a build id.
fn build_id_path<'a, R: ReadRef<'a>>(file: &object::File<'a, R>) -> Option<PathBuf> {
    let id = file.build_id().ok()??;
    let (first, rest) = id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(PathBuf::from(format!("{}/.build-id/{first:02x}/{rest}.debug", DEBUG_DIR.trim_start_matches('/'))))
}

fn read(path: &Path, is_of_code: impl Fn(&Path) -> bool) -> Option<DebugFile> {
    let cache = ReadCache::new(files::open(path).ok()?);
    let file = object::File::parse(&cache).ok().filter(|_| is_of_code(path))?;
    let has_lines = file.section_by_name(".debug_info").is_some_and(|section| section.size() > 0);
    Some(DebugFile { path: path.to_owned(), functions: symbols(&file), has_lines })
}

/// The checksum that a file with code has of its debug information.
fn checksum_of(path: &Path) -> Option<u32> {
    let mut file = files::open(path).ok()?;
    let (mut hasher, mut buffer) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize()),
            count => hasher.update(&buffer[..count]),
        }
    }
}
