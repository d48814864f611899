//! The files with code that any sampled process mapped.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::linux::collect::image::Image;
use crate::vdso;

/// A file with code.
pub struct Module {
    /// Its path, or a name in brackets.
    pub path: PathBuf,
    /// True if another file has this path by now, so that functions cannot be named.
    pub is_replaced: bool,
    image: Option<Arc<Image>>,
}

/// All files with code, by number.
#[derive(Default)]
pub struct Modules {
    all: Vec<Module>,
    numbers: HashMap<(PathBuf, u64), u32>,
}

impl Modules {
    /// The number of a file. It is read when it is first seen.
    pub fn number(&mut self, path: &Path, inode: u64) -> u32 {
        if let Some(&number) = self.numbers.get(&(path.to_owned(), inode)) {
            return number;
        }
        let is_file = path.is_absolute();
        let is_replaced = is_file && !fs::metadata(path).is_ok_and(|now| inode == 0 || now.ino() == inode);
        let image = match path.to_str() {
            Some(vdso::NAME) => Image::vdso(),
            _ if !is_file || is_replaced => None,
            _ => Image::read(path),
        };
        let number = self.all.len() as u32;
        self.all.push(Module { path: path.to_owned(), is_replaced, image: image.map(Arc::new) });
        self.numbers.insert((path.to_owned(), inode), number);
        number
    }

    /// The image of a file, if it could be read.
    pub fn image(&self, number: u32) -> Option<&Arc<Image>> {
        self.all.get(number as usize)?.image.as_ref()
    }

    /// The path of a file.
    pub fn path(&self, number: u32) -> Option<&Path> {
        Some(&self.all.get(number as usize)?.path)
    }

    /// All of them, by number.
    pub fn all(&self) -> &[Module] {
        &self.all
    }
}
