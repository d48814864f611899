//! Generated code that the sampled processes registered, as of the time of each sample.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code_file::path_of;
use crate::code_map::{CodeFunction, Dump, is_dump};
use crate::linux::collect::mapped;
use crate::linux::perf::record::Map;
use crate::samples::CodeLocation;

/// Maximum number of dumps that stay open.
const OPEN_MAX: usize = 64;

/// Dump file that a process maps.
#[derive(Clone)]
struct MappedDump {
    path: PathBuf,
    /// Open file, so that the dump stays readable if its path changes.
    _file: Option<Arc<File>>,
    dump: Dump,
}

/// Registered code of all sampled processes.
#[derive(Default)]
pub struct Made {
    dumps: HashMap<u32, Vec<MappedDump>>,
    /// Numbers of functions by process, address and time.
    numbers: HashMap<(u32, u64, u64), u32>,
    kept: usize,
}

impl Made {
    /// Notes a dump that a process maps, and ignores other files. The dump is read at once, because
    /// the next samples may be in its code.
    pub fn note(&mut self, map: &Map) {
        let path = mapped::without_mark(&map.path);
        if !is_dump(&path) {
            return;
        }
        let dumps = self.dumps.entry(map.pid).or_default();
        if dumps.iter().all(|known| known.path != path) {
            let file = if self.kept < OPEN_MAX { mapped::open(map, &path).ok() } else { None };
            self.kept += usize::from(file.is_some());
            let mut dump =
                file.as_ref().map_or_else(|| Dump::new(&path), |file| Dump::new(&path_of(file)));
            dump.read();
            dumps.push(MappedDump { path, _file: file.map(Arc::new), dump });
        }
    }

    /// Copies the code of a parent to its forked child, at the same addresses.
    pub fn fork(&mut self, parent: u32, child: u32, time_ns: u64) {
        let Some(dumps) = self.dumps.get(&parent) else { return };
        let forked = |of: &MappedDump| MappedDump { dump: of.dump.forked(time_ns), ..of.clone() };
        let dumps = dumps.iter().map(forked).collect();
        self.dumps.insert(child, dumps);
    }

    /// Forgets the code of a process whose program was replaced by `exec`.
    pub fn exec(&mut self, pid: u32) {
        self.dumps.remove(&pid);
    }

    /// Reads the additions to all dumps.
    pub fn read(&mut self) {
        self.dumps.values_mut().flatten().for_each(|of| of.dump.read());
    }

    /// Starts again at the beginning of the same dumps, with the present content of their files.
    pub fn again(mut self) -> Made {
        for of in self.dumps.values_mut().flatten() {
            of.dump = of.dump.again();
        }
        self
    }

    /// Returns true if a process registers code.
    pub fn has(&self, pid: u32) -> bool {
        self.dumps.contains_key(&pid)
    }

    /// Finds the registered function at an address. Calls must have increasing times.
    pub fn place(
        &mut self,
        made: &mut Vec<CodeFunction>,
        pid: u32,
        address: u64,
        time_ns: u64,
    ) -> Option<CodeLocation> {
        let dumps = self.dumps.get_mut(&pid)?;
        let found = dumps.iter_mut().find_map(|of| of.dump.find(address, time_ns))?;
        let function =
            *self.numbers.entry((pid, found.code.start, found.since_ns)).or_insert_with(|| {
                made.push(found.clone());
                made.len() as u32 - 1
            });
        Some(CodeLocation::Made { function, address })
    }
}
