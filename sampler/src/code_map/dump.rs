//! Reader of a JIT's dump: the code that it made, moved, and freed, with times. The format is that
//! of `perf` (*jitdump specification*, version 2, in the kernel's `tools/perf/Documentation`), and
//! times are of the monotonic clock.
//!
//! Code that a program registers is such a dump as well, because its entries have times. VMProfiler
//! requests a map at the end. With a dump, code that was moved or freed keeps its samples, and
//! dumps of other JITs work as well.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use metaspy_reader::files;

use crate::code_map::{CodeFunction, CodeMap, Position};

/// First word of a dump.
pub const MAGIC: u32 = 0x4A69_5444;
/// Bytes of the header.
pub(crate) const HEADER: usize = 40;
/// Bytes of the beginning of each record.
pub(crate) const RECORD: usize = 16;
/// Kinds of records.
pub(crate) const LOAD: u32 = 0;
const MOVE: u32 = 1;
/// Kind of the record with the positions of the next load.
pub(crate) const POSITIONS: u32 = 2;
/// Stands for the file of the previous position.
pub(crate) const SAME_FILE: &[u8] = &[0xFF];
/// Name of memory that code has left.
pub const FREED: &str = "[freed]";
/// Largest record, in bytes. A larger length means that the dump is malformed.
const RECORD_MAX: usize = 64 << 20;

/// Dump that may still be written.
#[derive(Clone, Debug)]
pub struct Dump {
    path: PathBuf,
    /// Offset of the next record in the file.
    at: u64,
    /// Set if nothing more is read.
    is_ended: bool,
    /// Time of the fork that created this process. Later changes belong to its parent.
    until_ns: u64,
    /// Records that were read and are not yet in force.
    later: std::collections::VecDeque<Change>,
    /// Positions of the next function, and their files.
    positions: Vec<Position>,
    files: Vec<String>,
    map: CodeMap,
}

/// Change of the code in memory.
#[derive(Clone, Debug)]
enum Change {
    Load(u64, CodeFunction),
    Move { time_ns: u64, from: u64, to: Range<u64> },
}

impl Change {
    fn time_ns(&self) -> u64 {
        match self {
            Change::Load(time_ns, _) | Change::Move { time_ns, .. } => *time_ns,
        }
    }
}

/// Returns true for the name of a dump, `jit-PID.dump`.
pub(crate) fn is_dump(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix("jit-")
        .and_then(|rest| rest.strip_suffix(".dump"))
        .is_some_and(|pid| pid.parse::<u32>().is_ok())
}

impl Dump {
    /// Opens a dump, without reading it yet.
    pub fn new(path: &Path) -> Dump {
        Dump {
            path: path.to_owned(),
            at: 0,
            is_ended: false,
            until_ns: u64::MAX,
            later: Default::default(),
            positions: Vec::new(),
            files: Vec::new(),
            map: CodeMap::default(),
        }
    }

    /// Reads the additions since the last call. An incomplete record is read later; a malformed
    /// record ends the reading.
    pub fn read(&mut self) {
        loop {
            let from = self.at;
            let mut bytes = Vec::new();
            let read = |bytes: &mut Vec<u8>| -> std::io::Result<()> {
                let mut file = files::open(&self.path)?;
                file.seek(SeekFrom::Start(from))?;
                file.take(RECORD_MAX as u64).read_to_end(bytes).map(drop)
            };
            if self.is_ended || read(&mut bytes).is_err() {
                return;
            }
            self.take(&bytes);
            // A dump may be larger than the buffer of a single read.
            if self.at == from {
                return;
            }
        }
    }

    /// Returns the code of a child that was forked at a time. Later changes belong to the parent
    /// alone.
    pub fn forked(&self, time_ns: u64) -> Dump {
        let mut child = self.clone();
        child.until_ns = self.until_ns.min(time_ns);
        child.later.retain(|change| change.time_ns() <= child.until_ns);
        child.is_ended = true;
        child
    }

    /// Starts again at the beginning of the dump, with the present content of its file.
    pub fn again(&self) -> Dump {
        let mut dump = Dump::new(&self.path);
        dump.read();
        dump.forked(self.until_ns)
    }

    fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if self.at == 0 {
            let mut fields = Fields(rest);
            let (Some(magic), Some(_), Some(size)) = (fields.u32(), fields.u32(), fields.u32())
            else {
                return;
            };
            self.is_ended = magic != MAGIC || (size as usize) < HEADER;
            let Some(behind) = rest.get(size as usize..).filter(|_| !self.is_ended) else { return };
            self.at = size.into();
            rest = behind;
        }
        loop {
            let mut fields = Fields(rest);
            let (Some(kind), Some(size), Some(time_ns)) =
                (fields.u32(), fields.u32(), fields.u64())
            else {
                return;
            };
            let size = size as usize;
            if !(RECORD..=RECORD_MAX).contains(&size) {
                self.is_ended = true;
                return;
            }
            let Some((record, behind)) = rest.split_at_checked(size) else { return };
            self.record(kind, time_ns, Fields(&record[RECORD..]));
            self.at += size as u64;
            rest = behind;
        }
    }

    /// Takes a record. A record that contradicts itself is left out.
    fn record(&mut self, kind: u32, time_ns: u64, mut fields: Fields<'_>) -> Option<()> {
        match kind {
            LOAD => {
                let _pid = fields.u32()?;
                let _tid = fields.u32()?;
                let _vma = fields.u64()?;
                let start = fields.u64()?;
                let bytes = fields.u64()?;
                let _index = fields.u64()?;
                let name = fields.text()?;
                let (positions, files) =
                    (std::mem::take(&mut self.positions), std::mem::take(&mut self.files));
                let function = CodeFunction::new(
                    &name,
                    start..start.checked_add(bytes)?,
                    positions,
                    files,
                    time_ns,
                )?;
                self.later.push_back(Change::Load(time_ns, function));
            }
            MOVE => {
                let _pid = fields.u32()?;
                let _tid = fields.u32()?;
                let _vma = fields.u64()?;
                let from = fields.u64()?;
                let to = fields.u64()?;
                let bytes = fields.u64()?;
                self.later.push_back(Change::Move {
                    time_ns,
                    from,
                    to: to..to.checked_add(bytes)?,
                });
            }
            POSITIONS => (self.positions, self.files) = positions(fields).unwrap_or_default(),
            _ => {}
        }
        Some(())
    }

    /// Returns the function that was at an address at a time. Calls must have increasing times.
    pub fn find(&mut self, address: u64, time_ns: u64) -> Option<&CodeFunction> {
        while self.later.front().is_some_and(|change| change.time_ns() <= time_ns) {
            match self.later.pop_front() {
                Some(Change::Load(_, function)) => self.map.insert(function),
                Some(Change::Move { from, to, .. }) => self.map.move_to(from, to),
                None => {}
            }
        }
        self.map.find(address).filter(|function| function.name != FREED)
    }
}

/// Parses the positions of a record, and their files.
///
/// A record with an unreadable name is malformed as a whole: V8 sometimes writes a name that is
/// shorter than its place, and all further fields are read from a wrong place.
fn positions(mut fields: Fields<'_>) -> Option<(Vec<Position>, Vec<String>)> {
    let _address = fields.u64()?;
    let count = fields.u64()?;
    let mut positions = Vec::new();
    let mut files = Vec::new();
    let mut numbers = HashMap::new();
    let mut file = None;
    for _ in 0..count {
        let address = fields.u64()?;
        let line = fields.u32()?;
        let _ = fields.u32()?;
        match fields.bytes_of_text()? {
            SAME_FILE => {}
            [] => file = None,
            name => {
                let name = std::str::from_utf8(name)
                    .ok()
                    .filter(|name| !name.chars().any(char::is_control))?;
                file = Some(*numbers.entry(name).or_insert_with(|| {
                    files.push(name.to_owned());
                    files.len() as u32 - 1
                }));
            }
        }
        positions.push(Position { address, position: line.into(), file });
    }
    Some((positions, files))
}

/// Remaining fields of a record.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_ne_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_ne_bytes)
    }

    /// Reads the bytes up to a zero, and skips the zero.
    fn bytes_of_text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }

    /// Reads the text up to a zero.
    fn text(&mut self) -> Option<String> {
        self.bytes_of_text().map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_map::register::{load, positions};

    /// Builds a dump of these records.
    fn dump(records: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = crate::code_map::register::header(7);
        records.iter().for_each(|record| bytes.extend(record));
        bytes
    }

    fn moved(time_ns: u64, from: u64, to: u64, size: u64) -> Vec<u8> {
        let mut record = [MOVE.to_ne_bytes(), 64_u32.to_ne_bytes()].concat();
        record.extend(time_ns.to_ne_bytes());
        [7 << 32 | 7, to, from, to, size, 0]
            .iter()
            .for_each(|word: &u64| record.extend(word.to_ne_bytes()));
        record
    }

    #[test]
    fn code_that_moves_or_ends_keeps_the_samples_from_before() {
        let records = [
            load(10, "fib", 100..200, &[]),
            moved(20, 100, 300, 100),
            load(25, "next", 150..180, &[]),
            load(30, FREED, 300..400, &[]),
        ];
        let mut dump_of = Dump::new("none".as_ref());
        dump_of.take(&dump(&records));
        let mut at = |address, time| dump_of.find(address, time).map(|of| of.name.clone());
        assert_eq!(
            [at(150, 9), at(150, 10), at(150, 20), at(350, 20)],
            [None, Some("fib".into()), None, Some("fib".into())]
        );
        assert_eq!(
            [at(150, 26), at(350, 29), at(350, 30)],
            [Some("next".into()), Some("fib".into()), None]
        );
    }

    #[test]
    fn a_child_has_the_code_that_its_parent_had_made_when_it_forked() {
        let mut parent = Dump::new("none".as_ref());
        parent.take(&dump(&[load(10, "fib", 100..200, &[]), load(30, "next", 100..200, &[])]));
        let mut child = parent.forked(20);
        let name = |of: &mut Dump| of.find(150, 40).map(|of| of.name.clone());
        assert_eq!(
            [name(&mut parent), name(&mut child)],
            [Some("next".into()), Some("fib".into())]
        );
    }

    #[test]
    fn a_position_has_the_file_whose_line_it_is() {
        let of = |at, line, file| (at, line, Some(file));
        let lines = [
            of(100, 2, "f.lang"),
            of(104, 90, "other.lang"),
            of(108, 91, "other.lang"),
            of(112, 3, "f.lang"),
        ];
        let mut of_dump = Dump::new("none".as_ref());
        of_dump.take(&dump(&[
            positions(5, 100, lines),
            load(5, "f", 96..120, &[]),
            load(6, "g", 200..220, &[]),
        ]));
        let found = of_dump.find(100, 6).expect("it is registered").clone();
        let lines = [96, 100, 107, 108, 119].map(|at| found.line(at));
        let [f, other] = ["f.lang", "other.lang"];
        assert_eq!(lines, [None, Some((f, 2)), Some((other, 90)), Some((other, 91)), Some((f, 3))]);
        assert_eq!(found.file(), Some(f));
        assert_eq!(
            of_dump.find(200, 6).and_then(|it| it.file()),
            None,
            "lines are those of the next function alone"
        );
        // V8 wrote names whose memory was used for something else.
        let mut of_dump = Dump::new("none".as_ref());
        of_dump.take(&dump(&[
            positions(5, 100, [of(100, 2, "\u{7}\u{1}zX")]),
            load(5, "f", 96..120, &[]),
        ]));
        assert_eq!(of_dump.find(100, 6).map(|it| (&*it.name, it.line(100))), Some(("f", None)));
    }

    #[test]
    fn a_dump_that_is_cut_anywhere_or_lies_has_what_is_whole() {
        let whole = dump(&[
            positions(5, 100, [(104, 2, None), (108, 9, None)]),
            load(5, "f", 100..120, &[1; 20]),
            load(6, "g", 200..u64::MAX, &[]),
        ]);
        for length in 0..=whole.len() {
            let mut cut = Dump::new("none".as_ref());
            cut.take(&whole[..length]);
            // The rest of the record arrives later.
            let read = cut.at as usize;
            cut.take(&whole[read..]);
            assert_eq!(
                cut.find(105, 6).and_then(|of| of.range(105)),
                Some((2, 9)),
                "cut at {length}"
            );
        }
        for at in 0..whole.len() {
            for lie in [0, 0xFF, 0x80] {
                let mut bytes = whole.clone();
                bytes[at] = lie;
                let mut false_one = Dump::new("none".as_ref());
                false_one.take(&bytes);
                false_one.find(105, u64::MAX);
            }
        }
        assert!(is_dump("/tmp/jit-12.dump".as_ref()) && !is_dump("/tmp/jit-x.dump".as_ref()));
    }
}
