//! Code that the sampled processes made and registered, at the time of each sample.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::code_map::{CodeFunction, Dump, is_dump};
use crate::samples::Place;

/// The dumps of the processes.
#[derive(Default)]
pub struct Made {
    dumps: HashMap<u32, Vec<(PathBuf, Dump)>>,
    /// Functions by process, address and time.
    numbers: HashMap<(u32, u64, u64), u32>,
}

impl Made {
    /// Notes the dump that a process maps, if the file is one. It is read at once: samples that follow may be in its code.
    pub fn note(&mut self, pid: u32, path: &Path) {
        if is_dump(path) {
            let dumps = self.dumps.entry(pid).or_default();
            if dumps.iter().all(|(known, _)| known != path) {
                let mut dump = Dump::new(path);
                dump.read();
                dumps.push((path.to_owned(), dump));
            }
        }
    }

    /// A child begins with the code of its parent, at the same addresses.
    pub fn fork(&mut self, parent: u32, child: u32, time_ns: u64) {
        let Some(dumps) = self.dumps.get(&parent) else { return };
        let dumps = dumps.iter().map(|(path, dump)| (path.clone(), dump.forked(time_ns))).collect();
        self.dumps.insert(child, dumps);
    }

    /// Forgets the code of a program that another one has replaced.
    pub fn exec(&mut self, pid: u32) {
        self.dumps.remove(&pid);
    }

    /// Reads what was added to the dumps.
    pub fn read(&mut self) {
        self.dumps.values_mut().flatten().for_each(|(_, dump)| dump.read());
    }

    /// The same dumps from their beginning, as the files are now.
    pub fn again(self) -> Made {
        let again = |dumps: Vec<(PathBuf, Dump)>| dumps.into_iter().map(|(path, dump)| (path, dump.again())).collect();
        let dumps = self.dumps.into_iter().map(|(pid, dumps)| (pid, again(dumps))).collect();
        Made { dumps, numbers: self.numbers }
    }

    /// True if a process registers code.
    pub fn has(&self, pid: u32) -> bool {
        self.dumps.contains_key(&pid)
    }

    /// The place of an address in a registered function. Times do not decrease.
    pub fn place(&mut self, made: &mut Vec<CodeFunction>, pid: u32, address: u64, time_ns: u64) -> Option<Place> {
        let dumps = self.dumps.get_mut(&pid)?;
        let found = dumps.iter_mut().find_map(|(_, dump)| dump.find(address, time_ns))?;
        let function = *self.numbers.entry((pid, found.code.start, found.since_ns)).or_insert_with(|| {
            made.push(found.clone());
            made.len() as u32 - 1
        });
        Some(Place::Made { function, address })
    }
}
