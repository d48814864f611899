//! Registration of generated code: a program writes its functions to a dump that samplers read.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::code_map::CodeMap;
use crate::code_map::dump::{FREED, HEADER, LOAD, MAGIC, POSITIONS, RECORD, SAME_FILE};

/// Kind of a registered function. Reports show it behind the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Machine code of a function.
    Function,
    /// Machine code between functions: trampolines, entries.
    Stub,
    /// An inline cache.
    InlineCache,
    /// Instructions of an interpreter that publishes its position with
    /// [`Bytecode`](crate::code_map::Bytecode).
    Bytecode,
}

impl Kind {
    fn suffix(self) -> &'static str {
        match self {
            Kind::Function => "",
            Kind::Stub => " (stub)",
            Kind::InlineCache => " (inline cache)",
            Kind::Bytecode => " (bytecode)",
        }
    }
}

impl CodeMap {
    /// Registers generated code, so that samplers attribute its time to source positions.
    ///
    /// `positions` has pairs of an address and the position of the source from there on. Code that
    /// was registered at the same addresses before is removed.
    ///
    /// Call it before the code runs. Without a sampler it does nothing: `metaspy sample` sets
    /// `METASPY_CODE_MAP` to the directory of the dumps for the programs that it starts. If a dump
    /// cannot be written, names are lost, and nothing else.
    ///
    /// ```
    /// use metaspy_sampler::code_map::{CodeMap, Kind};
    ///
    /// let code = [0x48, 0xFF, 0xCF, 0xC3_u8];
    /// let start = code.as_ptr() as u64;
    /// CodeMap::register("Integer>>benchFib", Kind::Function, start..start + 4, &[(start, 1), (start + 3, 23)]);
    /// CodeMap::unregister(start..start + 4);
    /// ```
    pub fn register(name: &str, kind: Kind, code: Range<u64>, positions: &[(u64, u64)]) {
        add(
            name,
            kind,
            code,
            positions.iter().map(|&(address, position)| (address, position, None)),
        );
    }

    /// Registers generated code with the source file and the line from each address on.
    ///
    /// This is [`register`](CodeMap::register) for code with line numbers, which reports show. A
    /// line in another file than the first line's counts as inlined from there.
    pub fn register_lines(name: &str, kind: Kind, code: Range<u64>, lines: &[(u64, &str, u32)]) {
        add(
            name,
            kind,
            code,
            lines.iter().map(|&(address, file, line)| (address, line.into(), Some(file))),
        );
    }

    /// Removes the code that is registered at these addresses. Earlier samples keep their names.
    pub fn unregister(code: Range<u64>) {
        if is_wanted() {
            write(|time_ns| load(time_ns, FREED, code, &[]));
        }
    }
}

fn add<'a>(
    name: &str,
    kind: Kind,
    code: Range<u64>,
    positions: impl ExactSizeIterator<Item = (u64, u64, Option<&'a str>)>,
) {
    if !is_wanted() {
        return;
    }
    let name = format!("{}{}", name.replace('\0', "?"), kind.suffix());
    let mut content = Vec::new();
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    if kind != Kind::Bytecode && code.end.saturating_sub(code.start) <= CODE_MAX {
        content = crate::own_memory::copy_range(code.clone());
    }
    write(|time_ns| {
        let has_positions = positions.len() > 0;
        let mut records = if has_positions {
            self::positions(time_ns, code.start, positions)
        } else {
            Vec::new()
        };
        records.extend(load(time_ns, &name, code, &content));
        records
    });
}

/// Maximum number of dumps of a process, which needs a new dump after each `exec`.
const DUMPS_MAX: u32 = 64;
/// Maximum bytes of machine code that are copied into a dump.
const CODE_MAX: u64 = 16 << 20;

/// Returns true if a sampler reads registered code.
pub fn is_wanted() -> bool {
    directory().is_some()
}

/// Returns the directory of the dumps, or `None` if no sampler reads them.
fn directory() -> Option<&'static Path> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || {
        std::env::var_os("METASPY_CODE_MAP").filter(|value| !value.is_empty()).map(PathBuf::from)
    };
    DIRECTORY.get_or_init(read).as_deref()
}

/// Writes records into the dump of this process. The records are made under the lock, so that their
/// times do not decrease.
fn write(records: impl FnOnce(u64) -> Vec<u8>) {
    /// The process and its dump, or no dump if it cannot be written. A forked child gets its own
    /// dump.
    static DUMP: Mutex<Option<(u32, Option<File>)>> = Mutex::new(None);
    let mut dump = DUMP.lock().unwrap_or_else(PoisonError::into_inner);
    let pid = std::process::id();
    if dump.as_ref().is_none_or(|(of, _)| *of != pid) {
        *dump = Some((pid, directory().and_then(|directory| create(directory, pid).ok())));
    }
    if let Some((_, Some(file))) = &mut *dump {
        let _ = file.write_all(&records(now_ns()));
    }
}

/// Creates a file. If the program that this process replaced has used the name, the file is in a
/// new subdirectory.
fn new_file(directory: &Path, name: &str) -> io::Result<File> {
    let new = |directory: &Path| {
        OpenOptions::new().read(true).write(true).create_new(true).open(directory.join(name))
    };
    let mut file = new(directory);
    for number in 1..=DUMPS_MAX {
        if !file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
        let next = directory.join(number.to_string());
        file = std::fs::create_dir_all(&next).and_then(|()| new(&next));
    }
    file
}

/// Creates the dump and maps its beginning. The kernel records the mapping, and samplers find the
/// file through it.
fn create(directory: &Path, pid: u32) -> io::Result<File> {
    let mut file = new_file(directory, &format!("jit-{pid}.dump"))?;
    file.write_all(&header(pid))?;
    #[cfg(target_os = "linux")]
    // SAFETY: a new mapping that nothing reads. If the file system forbids executable mappings, a
    // data mapping has the same effect.
    unsafe {
        use std::os::fd::AsRawFd;
        for protection in [libc::PROT_READ | libc::PROT_EXEC, libc::PROT_READ] {
            let at = libc::mmap(
                std::ptr::null_mut(),
                HEADER,
                protection,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            );
            if at != libc::MAP_FAILED {
                break;
            }
        }
    }
    Ok(file)
}

/// Encodes the header of a dump.
pub fn header(pid: u32) -> Vec<u8> {
    // The machine's number in ELF.
    let machine = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    let mut bytes = Vec::with_capacity(HEADER);
    [MAGIC, 1, HEADER as u32, machine, 0, pid]
        .iter()
        .for_each(|word| bytes.extend(word.to_ne_bytes()));
    [now_ns(), 0].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes
}

/// Encodes the record of a function with its machine code.
pub fn load(time_ns: u64, name: &str, code: Range<u64>, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let pid = std::process::id();
    [pid, pid].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    let size = code.end.saturating_sub(code.start);
    [code.start, code.start, size, time_ns]
        .iter()
        .for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.extend(name.as_bytes());
    bytes.push(0);
    bytes.extend(content);
    record(LOAD, time_ns, &bytes)
}

/// Encodes the positions of the function that the next record loads. A position with a file is a
/// line.
pub fn positions<'a>(
    time_ns: u64,
    start: u64,
    positions: impl IntoIterator<Item = (u64, u64, Option<&'a str>), IntoIter: ExactSizeIterator>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let positions = positions.into_iter();
    [start, positions.len() as u64].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    let mut before = None;
    for (address, position, file) in positions {
        bytes.extend(address.to_ne_bytes());
        bytes.extend(u32::try_from(position).unwrap_or(u32::MAX).to_ne_bytes());
        // The discriminator of the line, which separates blocks on the same line.
        bytes.extend([0; 4]);
        match file {
            Some(file) if before == Some(file) => bytes.extend(SAME_FILE),
            Some(file) => bytes.extend(file.bytes().filter(|&byte| byte != 0)),
            None => {}
        }
        bytes.push(0);
        before = file;
    }
    record(POSITIONS, time_ns, &bytes)
}

fn record(kind: u32, time_ns: u64, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(RECORD + content.len());
    [kind, (RECORD + content.len()) as u32]
        .iter()
        .for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.extend(time_ns.to_ne_bytes());
    bytes.extend(content);
    bytes
}

#[cfg(target_os = "linux")]
fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(not(target_os = "linux"))]
fn now_ns() -> u64 {
    0
}
