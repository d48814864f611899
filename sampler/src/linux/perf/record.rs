//! Parser of the records in the kernel's ring: samples, mappings, names, and new threads.
//!
//! A record that is too short for its kind is ignored. The layout is that of `perf_event_open(2)`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use perf_event_open_sys::bindings as sys;

use crate::linux::perf::attributes::REGISTERS;
use crate::options::Stacks;

/// Upper limit of addresses in a call chain. Greater words mark its parts.
const CONTEXT_MAX: u64 = -4095_i64 as u64;
/// Marker before the kernel's part of a call chain.
const CONTEXT_KERNEL: u64 = -128_i64 as u64;

/// Record with its time, in ns of the monotonic clock.
#[derive(Debug)]
pub struct Record {
    pub time_ns: u64,
    pub what: What,
}

impl Record {
    /// Returns the number of a thread that has begun.
    pub(crate) fn new_thread(&self) -> Option<u32> {
        match self.what {
            What::Fork { tid, .. } => Some(tid),
            _ => None,
        }
    }
}

/// Content of a record.
#[derive(Debug)]
pub enum What {
    Sample(RawSample),
    Map(Map),
    /// New name of a thread; after an `exec`, the process has another program.
    Name {
        pid: u32,
        tid: u32,
        name: String,
        is_exec: bool,
    },
    Fork {
        pid: u32,
        parent: u32,
        tid: u32,
    },
    Exit {
        pid: u32,
        tid: u32,
    },
    /// Number of samples that found no room in the ring.
    Lost(u64),
    /// The kernel paused sampling, because samples took too long.
    Throttled,
}

/// Sample as the kernel took it, before its stack is unwound.
#[derive(Debug)]
pub struct RawSample {
    pub pid: u32,
    pub tid: u32,
    /// Address of the instruction. It is in the kernel if the sample was taken there.
    pub ip: u64,
    /// Processor time and wall time since the thread's last sample, in ns; 0 stands for a period of
    /// processor time.
    pub cpu_ns: u32,
    pub wall_ns: u32,
    /// Frames in the kernel, innermost first.
    pub kernel: Vec<u64>,
    /// Frames of the program by frame pointers, innermost first.
    pub chain: Vec<u64>,
    /// Registers at the point where the thread left the program, in the order of [`REGISTERS`].
    pub registers: Option<[u64; REGISTERS.len()]>,
    /// Copied part of the stack, from the stack pointer upwards.
    pub stack: Vec<u8>,
    /// Set if the stack is larger than its copy.
    pub is_cut: bool,
}

/// Mapping of a file, or of memory without a file, into a process.
#[derive(Debug)]
pub struct Map {
    pub pid: u32,
    pub start: u64,
    pub length: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Device of the file and its inode there; 0 without a file.
    pub device: u64,
    pub inode: u64,
    pub path: PathBuf,
    /// Set if the mapping is executable.
    pub is_code: bool,
}

/// Bytes of a record's header.
pub(crate) const HEADER: usize = 8;

/// Reads the length from a record's header.
pub fn length(header: [u8; HEADER]) -> usize {
    usize::from(u16::from_ne_bytes([header[6], header[7]]))
}

/// Parses a whole record. Returns `None` for unused kinds, and for records that are too short.
pub fn parse(record: &[u8], stacks: Stacks, stack_bytes: u32) -> Option<Record> {
    let mut fields = Fields(record);
    let kind = fields.u32()?;
    let misc = u32::from(fields.u16()?);
    fields.u16()?;
    if kind == sys::PERF_RECORD_SAMPLE {
        return sample(fields, misc, stacks, stack_bytes);
    }
    let what = match kind {
        sys::PERF_RECORD_MMAP2 => {
            let pid = fields.u32()?;
            let _tid = fields.u32()?;
            let start = fields.u64()?;
            let length = fields.u64()?;
            let offset = fields.u64()?;
            let device = libc::makedev(fields.u32()?, fields.u32()?);
            let inode = fields.u64()?;
            fields.u64()?; // The generation of the inode.
            let protection = fields.u32()?;
            fields.u32()?; // Flags.
            let is_code = protection & libc::PROT_EXEC as u32 != 0;
            let path = OsString::from_vec(fields.text().to_vec()).into();
            What::Map(Map { pid, start, length, offset, device, inode, path, is_code })
        }
        sys::PERF_RECORD_COMM => {
            let pid = fields.u32()?;
            let tid = fields.u32()?;
            let name = String::from_utf8_lossy(fields.text()).into_owned();
            What::Name { pid, tid, name, is_exec: misc & sys::PERF_RECORD_MISC_COMM_EXEC != 0 }
        }
        sys::PERF_RECORD_FORK => {
            What::Fork { pid: fields.u32()?, parent: fields.u32()?, tid: fields.u32()? }
        }
        sys::PERF_RECORD_EXIT => {
            let pid = fields.u32()?;
            let _parent = fields.u32()?;
            let tid = fields.u32()?;
            What::Exit { pid, tid }
        }
        sys::PERF_RECORD_LOST => {
            fields.u64()?;
            What::Lost(fields.u64()?)
        }
        sys::PERF_RECORD_THROTTLE => What::Throttled,
        _ => return None,
    };
    // The last words of a record are pid, tid and time.
    let time = record.len().checked_sub(8).and_then(|at| record[at..].try_into().ok())?;
    Some(Record { time_ns: u64::from_ne_bytes(time), what })
}

fn sample(mut fields: Fields<'_>, misc: u32, stacks: Stacks, stack_bytes: u32) -> Option<Record> {
    let ip = fields.u64()?;
    let pid = fields.u32()?;
    let tid = fields.u32()?;
    let time_ns = fields.u64()?;
    let mut sample = RawSample {
        pid,
        tid,
        ip,
        cpu_ns: 0,
        wall_ns: 0,
        kernel: Vec::new(),
        chain: Vec::new(),
        registers: None,
        stack: Vec::new(),
        is_cut: false,
    };
    let in_kernel = misc & sys::PERF_RECORD_MISC_CPUMODE_MASK == sys::PERF_RECORD_MISC_KERNEL;
    if stacks != Stacks::None {
        let count = fields.u64()?;
        let mut is_kernel = in_kernel;
        for _ in 0..count {
            match fields.u64()? {
                mark if mark >= CONTEXT_MAX => is_kernel = mark == CONTEXT_KERNEL,
                address if is_kernel => sample.kernel.push(address),
                address => sample.chain.push(address),
            }
        }
    }
    if in_kernel && sample.kernel.is_empty() {
        sample.kernel.push(ip);
    }
    if stacks == Stacks::Dwarf {
        // The value 0 means a kernel thread, which has no registers of a program; 1 means 32-bit
        // registers.
        if fields.u64()? != 0 {
            let mut registers = [0; REGISTERS.len()];
            for register in &mut registers {
                *register = fields.u64()?;
            }
            sample.registers = Some(registers);
        }
        let size = usize::try_from(fields.u64()?).ok()?;
        if size > 0 {
            let copy = fields.bytes(size)?;
            let filled = usize::try_from(fields.u64()?).ok()?.min(copy.len());
            sample.is_cut = filled >= stack_bytes as usize;
            sample.stack = copy[..filled].to_vec();
        }
    }
    Some(Record { time_ns, what: What::Sample(sample) })
}

/// Remaining fields of a record.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_ne_bytes(self.bytes(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.bytes(8)?.try_into().ok()?))
    }

    /// Reads text up to its zero byte.
    fn text(&mut self) -> &'a [u8] {
        self.0.split(|&byte| byte == 0).next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(kind: u32, misc: u16, words: &[u64]) -> Vec<u8> {
        let mut record = kind.to_ne_bytes().to_vec();
        record.extend(misc.to_ne_bytes());
        record.extend(((HEADER + words.len() * 8) as u16).to_ne_bytes());
        words.iter().for_each(|word| record.extend(word.to_ne_bytes()));
        record
    }

    /// A sample at `0x10` of process 7, thread 8.
    fn a_sample(in_kernel: bool, rest: &[u64]) -> Vec<u8> {
        let mut all = vec![0x10, 8 << 32 | 7, 1234];
        all.extend(rest);
        words(sys::PERF_RECORD_SAMPLE, if in_kernel { 1 } else { 2 }, &all)
    }

    #[test]
    fn a_sample_has_its_chain_its_registers_and_its_stack() {
        let count = REGISTERS.len() as u64;
        let mut rest = vec![3, CONTEXT_KERNEL, 0xF1, 0xF2, 1];
        rest.extend(0..count);
        rest.extend([16, 0xAA, 0xBB, 8]);
        let record = parse(&a_sample(true, &rest), Stacks::Dwarf, 16).expect("the record is whole");
        let What::Sample(sample) = record.what else { panic!("{:?}", record.what) };
        assert_eq!((record.time_ns, sample.pid, sample.tid), (1234, 7, 8));
        assert_eq!((sample.kernel, sample.chain), (vec![0xF1, 0xF2], vec![]));
        assert_eq!(sample.registers.map(|registers| registers[1]), Some(1));
        assert_eq!((sample.stack, sample.is_cut), (0xAA_u64.to_ne_bytes().to_vec(), false));
    }

    #[test]
    fn a_record_that_is_cut_anywhere_is_not_read_or_is_a_shorter_one() {
        let mut rest = vec![2, CONTEXT_KERNEL, 0xF1, 1];
        rest.extend([5; REGISTERS.len()]);
        rest.extend([8, 0xAA, 8]);
        let whole = a_sample(true, &rest);
        for length in 0..whole.len() {
            assert!(
                parse(&whole[..length], Stacks::Dwarf, 8).is_none(),
                "{length} of {}",
                whole.len()
            );
        }
        // These counts are greater than the record.
        for lie in [1_u64 << 63, u64::MAX, 1 << 20] {
            assert!(parse(&a_sample(false, &[lie]), Stacks::FramePointers, 8).is_none());
            assert!(parse(&a_sample(false, &[0, 0, lie]), Stacks::Dwarf, 8).is_none());
        }
    }

    #[test]
    fn a_name_distinguishes_another_program() {
        let name = u64::from_ne_bytes(*b"worker\0\0");
        let misc = sys::PERF_RECORD_MISC_COMM_EXEC as u16;
        let record = parse(
            &words(sys::PERF_RECORD_COMM, misc, &[9 << 32 | 4, name, 1, 77]),
            Stacks::None,
            0,
        );
        let Some(Record { time_ns: 77, what: What::Name { pid: 4, tid: 9, name, is_exec: true } }) =
            record
        else {
            panic!("{record:?}")
        };
        assert_eq!(name, "worker");
    }
}
