//! The side of a program that makes code: it registers its functions, and a dump has them for samplers.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::code_map::CodeMap;
use crate::code_map::dump::{FREED, HEADER, LOAD, MAGIC, POSITIONS, RECORD, SAME_FILE};

/// What a registered function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Machine code of a function.
    Function,
    /// Machine code between functions: trampolines, entries.
    Stub,
    /// An inline cache.
    InlineCache,
    /// Instructions of an interpreter, which publishes its position with [`Bytecode`](crate::code_map::Bytecode).
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
    /// Registers a function that the program has made, so that samplers attribute its time to `positions`: pairs of an
    /// address and the position of its source from there on. Code that was registered at its addresses before is gone.
    ///
    /// Call it before the code runs. Without a sampler it does nothing: `metaspy sample` sets `METASPY_CODE_MAP` to the
    /// directory of the dumps for the programs that it starts. A dump that cannot be written loses names, and nothing else.
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
        add(name, kind, code, positions.iter().map(|&(address, position)| (address, position, None)));
    }

    /// As [`register`](CodeMap::register), with the file and the line of the source from each address on. Reports show
    /// the lines. A line of another file than the first one counts as inlined from there.
    pub fn register_lines(name: &str, kind: Kind, code: Range<u64>, lines: &[(u64, &str, u32)]) {
        add(name, kind, code, lines.iter().map(|&(address, file, line)| (address, line.into(), Some(file))));
    }

    /// Removes what is registered at these addresses. Its samples keep their names.
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
        content = crate::linux::copy_memory(code.clone());
    }
    write(|time_ns| {
        let has_positions = positions.len() > 0;
        let mut records = if has_positions { self::positions(time_ns, code.start, positions) } else { Vec::new() };
        records.extend(load(time_ns, &name, code, &content));
        records
    });
}

/// Programs with dumps that one process executes, one after the other, at most.
const DUMPS_MAX: u32 = 64;
/// Bytes of code that are copied at most.
const CODE_MAX: u64 = 16 << 20;

/// True if a sampler reads what is registered.
pub fn is_wanted() -> bool {
    directory().is_some()
}

/// Where the dumps are, if a sampler reads them.
fn directory() -> Option<&'static Path> {
    static DIRECTORY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || std::env::var_os("METASPY_CODE_MAP").filter(|value| !value.is_empty()).map(PathBuf::from);
    DIRECTORY.get_or_init(read).as_deref()
}

/// Writes records into the dump of this process. They are made when it is their turn, so that times do not decrease.
fn write(records: impl FnOnce(u64) -> Vec<u8>) {
    /// The process and its dump, if that can be written. A forked child has one of its own.
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

/// A new file; in a directory of its own if a program that this one replaced had the same name for its own.
fn new_file(directory: &Path, name: &str) -> io::Result<File> {
    let new = |directory: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(directory.join(name));
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

/// Makes the dump, and maps its beginning: the kernel records the mapping, and samplers find the file by it.
fn create(directory: &Path, pid: u32) -> io::Result<File> {
    let mut file = new_file(directory, &format!("jit-{pid}.dump"))?;
    file.write_all(&header(pid))?;
    #[cfg(target_os = "linux")]
    // SAFETY: a new mapping that nothing reads. Code can be mapped only where the file system permits it; data do as well.
    unsafe {
        use std::os::fd::AsRawFd;
        for protection in [libc::PROT_READ | libc::PROT_EXEC, libc::PROT_READ] {
            let at = libc::mmap(std::ptr::null_mut(), HEADER, protection, libc::MAP_PRIVATE, file.as_raw_fd(), 0);
            if at != libc::MAP_FAILED {
                break;
            }
        }
    }
    Ok(file)
}

/// The header of a dump.
pub fn header(pid: u32) -> Vec<u8> {
    // The machine as ELF has it.
    let machine = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
    let mut bytes = Vec::with_capacity(HEADER);
    [MAGIC, 1, HEADER as u32, machine, 0, pid].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    [now_ns(), 0].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes
}

/// The record of a function.
pub fn load(time_ns: u64, name: &str, code: Range<u64>, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let pid = std::process::id();
    [pid, pid].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    let size = code.end.saturating_sub(code.start);
    [code.start, code.start, size, time_ns].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.extend(name.as_bytes());
    bytes.push(0);
    bytes.extend(content);
    record(LOAD, time_ns, &bytes)
}

/// The record of the positions of the next function, each with the file whose line it is.
pub fn positions<'a>(
    time_ns: u64,
    start: u64,
    positions: impl IntoIterator<Item = (u64, u64, Option<&'a str>), IntoIter: ExactSizeIterator>,
) -> Vec<u8> {
    let (mut bytes, positions) = (Vec::new(), positions.into_iter());
    [start, positions.len() as u64].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    let mut before = None;
    for (address, position, file) in positions {
        bytes.extend(address.to_ne_bytes());
        bytes.extend(u32::try_from(position).unwrap_or(u32::MAX).to_ne_bytes());
        // The number of a block of the line.
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
    [kind, (RECORD + content.len()) as u32].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
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
