//! Code files that the sampled processes mapped.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::code_file::{CodeFile, Directory, MappedFile};
use crate::linux::collect::image::Image;
use crate::linux::collect::{mapped, process};
use crate::linux::perf::record::Map;
use crate::samples::Module;
use crate::vdso;

/// Maximum number of files that stay open. Perf also needs a descriptor for each thread of a
/// process that it joins.
const OPEN_MAX: usize = 128;

/// Identity of a file, which distinguishes files that had the same path.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// Identity of a root directory and of the mounts below it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RootKey {
    mounts: u64,
    device: u64,
    inode: u64,
}

impl RootKey {
    fn of(pid: &str) -> Option<RootKey> {
        let mounts = fs::metadata(format!("/proc/{pid}/ns/mnt")).ok()?.ino();
        let root = fs::metadata(format!("/proc/{pid}/root")).ok()?;
        Some(RootKey { mounts, device: root.dev(), inode: root.ino() })
    }
}

/// Code files by number.
#[derive(Default)]
pub struct Modules {
    all: Vec<Module>,
    images: Vec<Option<Arc<Image>>>,
    numbers: HashMap<Key, u32>,
    roots: HashMap<RootKey, Directory>,
    kept: usize,
}

impl Modules {
    /// Returns the number of a mapping's file, or `None` for memory in which a program makes code.
    pub fn module(&mut self, map: &Map) -> Option<u32> {
        if process::is_memory_file(&map.path) {
            let number = self.number(map);
            return self.image(number).map(|_| number);
        }
        let is_module = process::is_file(&map.path) || map.path == Path::new(vdso::NAME);
        is_module.then(|| self.number(map))
    }

    /// Returns the number of a file. It opens and reads a new file.
    fn number(&mut self, map: &Map) -> u32 {
        let path = mapped::unmarked(map);
        let key = Key { path, device: map.device, inode: map.inode };
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let mut file = CodeFile::AtPath;
        let image;
        if key.path == Path::new(vdso::NAME) {
            image = Image::vdso();
        } else {
            file = self.open(map, &key.path);
            image = file.readable(&key.path).ok().and_then(|path| Image::read(&path));
        }
        let root = self.root(map.pid);
        let parent = key.path.parent().filter(|_| !root.is_ours() && self.all.len() < OPEN_MAX);
        let beside = parent.and_then(|parent| Directory::open(&mapped::in_root(map.pid, parent)));
        let number = self.all.len() as u32;
        self.all.push(Module {
            path: key.path.clone(),
            is_program: false,
            file,
            root,
            beside: beside.unwrap_or_default(),
        });
        self.images.push(image.map(Arc::new));
        self.numbers.insert(key, number);
        number
    }

    fn open(&mut self, map: &Map, path: &Path) -> CodeFile {
        let file = match mapped::open(map, path) {
            Ok(file) => file,
            Err(why) => return CodeFile::Missing(why),
        };
        let is_kept = self.kept < OPEN_MAX;
        self.kept += usize::from(is_kept);
        MappedFile::new(file, is_kept).map_or(CodeFile::AtPath, CodeFile::Mapped)
    }

    /// Returns the root directory of a process, if it differs from the root of this process.
    fn root(&mut self, pid: u32) -> Directory {
        let (Some(key), own) = (RootKey::of(&pid.to_string()), RootKey::of("self")) else {
            return Directory::default();
        };
        if own == Some(key) || self.roots.len() >= OPEN_MAX {
            return self.roots.get(&key).cloned().unwrap_or_default();
        }
        let open = || Directory::open(Path::new(&format!("/proc/{pid}/root"))).unwrap_or_default();
        self.roots.entry(key).or_insert_with(open).clone()
    }

    /// Marks a file as the program of a process.
    pub(crate) fn set_program(&mut self, number: u32) {
        self.all[number as usize].is_program = true;
    }

    /// Returns the image of a file, or `None` if it could not be read.
    pub fn image(&self, number: u32) -> Option<&Arc<Image>> {
        self.images.get(number as usize)?.as_ref()
    }

    /// Returns the path of a file.
    pub fn path(&self, number: u32) -> Option<&Path> {
        Some(&self.all.get(number as usize)?.path)
    }

    /// Returns all files, in the order of their numbers.
    pub fn all(&self) -> &[Module] {
        &self.all
    }
}
