//! Code that the sampled processes made and registered, at the time of each sample.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code_file::path_of;
use crate::code_map::{CodeFunction, Dump, is_dump};
use crate::linux::collect::mapped;
use crate::linux::perf::record::Map;
use crate::samples::Place;

/// Dumps that are kept open at most.
const OPEN_MAX: usize = 64;

/// A dump that a process maps.
#[derive(Clone)]
struct MappedDump {
    path: PathBuf,
    /// The file that the dump reads, whatever becomes of its path.
    _file: Option<Arc<File>>,
    dump: Dump,
}

/// The dumps of the processes.
#[derive(Default)]
pub struct Made {
    dumps: HashMap<u32, Vec<MappedDump>>,
    /// Functions by process, address and time.
    numbers: HashMap<(u32, u64, u64), u32>,
    kept: usize,
}

impl Made {
    /// Notes the dump that a process maps, if the file is one. It is read at once: samples that follow may be in its code.
    pub fn note(&mut self, map: &Map) {
        let path = mapped::without_mark(&map.path);
        if !is_dump(&path) {
            return;
        }
        let dumps = self.dumps.entry(map.pid).or_default();
        if dumps.iter().all(|known| known.path != path) {
            let file = if self.kept < OPEN_MAX { mapped::open(map, &path).ok() } else { None };
            self.kept += usize::from(file.is_some());
            let mut dump = file.as_ref().map_or_else(|| Dump::new(&path), |file| Dump::new(&path_of(file)));
            dump.read();
            dumps.push(MappedDump { path, _file: file.map(Arc::new), dump });
        }
    }

    /// A child begins with the code of its parent, at the same addresses.
    pub fn fork(&mut self, parent: u32, child: u32, time_ns: u64) {
        let Some(dumps) = self.dumps.get(&parent) else { return };
        let forked = |of: &MappedDump| MappedDump { dump: of.dump.forked(time_ns), ..of.clone() };
        let dumps = dumps.iter().map(forked).collect();
        self.dumps.insert(child, dumps);
    }

    /// Forgets the code of a program that another one has replaced.
    pub fn exec(&mut self, pid: u32) {
        self.dumps.remove(&pid);
    }

    /// Reads what was added to the dumps.
    pub fn read(&mut self) {
        self.dumps.values_mut().flatten().for_each(|of| of.dump.read());
    }

    /// The same dumps from their beginning, as the files are now.
    pub fn again(mut self) -> Made {
        for of in self.dumps.values_mut().flatten() {
            of.dump = of.dump.again();
        }
        self
    }

    /// True if a process registers code.
    pub fn has(&self, pid: u32) -> bool {
        self.dumps.contains_key(&pid)
    }

    /// The place of an address in a registered function. Times do not decrease.
    pub fn place(&mut self, made: &mut Vec<CodeFunction>, pid: u32, address: u64, time_ns: u64) -> Option<Place> {
        let dumps = self.dumps.get_mut(&pid)?;
        let found = dumps.iter_mut().find_map(|of| of.dump.find(address, time_ns))?;
        let function = *self.numbers.entry((pid, found.code.start, found.since_ns)).or_insert_with(|| {
            made.push(found.clone());
            made.len() as u32 - 1
        });
        Some(Place::Made { function, address })
    }
}
