//! Sampled process: its mappings, and an unwinder for its code.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use framehop::{
    CacheNative, FrameAddress, MayAllocateDuringUnwind, Module, UnwindRegsNative, Unwinder,
    UnwinderNative,
};

use crate::linux::collect::image::Bytes;
use crate::linux::collect::mapped;
use crate::linux::collect::modules::Modules;
use crate::linux::perf::REGISTERS;
use crate::linux::perf::record::Map;
use crate::samples::{CodeLocation, StackEnd};

/// Maximum number of frames in a stack.
const DEPTH_MAX: usize = 512;
/// Maximum bytes of a stack. A register that is not a frame pointer usually points farther away.
const STACK_MAX: usize = 1 << 30;

/// Cache of unwinding rules, shared by all processes.
pub type Cache = CacheNative<MayAllocateDuringUnwind>;

/// Mapped range of code.
#[derive(Clone, Copy)]
struct Mapping {
    end: u64,
    /// Number of the mapped file; `None` for memory without a file.
    module: Option<u32>,
    bias: u64,
}

/// Sampled process with its mappings of code.
pub struct Process {
    pub pid: u32,
    /// Name of the process, from the system.
    pub name: String,
    mappings: BTreeMap<u64, Mapping>,
    unwinder: UnwinderNative<Bytes, MayAllocateDuringUnwind>,
}

impl Process {
    /// Creates a process without mappings.
    pub fn new(pid: u32, name: String) -> Process {
        Process { pid, name, mappings: BTreeMap::new(), unwinder: UnwinderNative::new() }
    }

    /// Reads the present mappings of a process. They are empty if it has ended.
    pub fn read(pid: u32, modules: &mut Modules) -> Process {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let mut process = Process::new(pid, name.trim().to_owned());
        for map in mappings(pid) {
            process.map(&map, modules);
        }
        process
    }

    /// Creates a forked child with the same mappings.
    pub fn fork(&self, pid: u32) -> Process {
        let unwinder = self.unwinder.clone();
        Process { pid, name: self.name.clone(), mappings: self.mappings.clone(), unwinder }
    }

    /// Adds a mapping, which replaces older mappings of the same addresses.
    pub fn map(&mut self, map: &Map, modules: &mut Modules) {
        let Some(end) = map.start.checked_add(map.length) else { return };
        self.unmap(map.start, end, modules);
        if !map.is_code {
            return;
        }
        let module = modules.module(map);
        let Some(number) = module else {
            self.mappings.insert(map.start, Mapping { end, module, bias: 0 });
            return;
        };
        let bias = modules.image(number).and_then(|image| image.bias(map.start, map.offset));
        // Without an image, only the offset in the file is known.
        let bias = bias.unwrap_or_else(|| map.start.wrapping_sub(map.offset));
        self.insert(map.start, Mapping { end, module: Some(number), bias }, modules);
    }

    /// Removes the mappings between two addresses. A mapping that is only partly in the range keeps
    /// the rest.
    fn unmap(&mut self, start: u64, end: u64, modules: &Modules) {
        let below: Vec<u64> = self
            .mappings
            .range(..end)
            .rev()
            .take_while(|(_, it)| it.end > start)
            .map(|(&at, _)| at)
            .collect();
        for at in below {
            let Some(old) = self.mappings.remove(&at) else { continue };
            self.unwinder.remove_module(at);
            if at < start {
                self.insert(at, Mapping { end: start, ..old }, modules);
            }
            if old.end > end {
                self.insert(end, old, modules);
            }
        }
    }

    /// Adds a mapping at free addresses, also to the unwinder.
    fn insert(&mut self, start: u64, mapping: Mapping, modules: &Modules) {
        if let Some(image) = mapping.module.and_then(|number| modules.image(number)) {
            let range = start..mapping.end;
            self.unwinder.add_module(Module::new(
                String::new(),
                range,
                mapping.bias,
                image.unwinding(),
            ));
        }
        self.mappings.insert(start, mapping);
    }

    /// Returns the number of the file that the process was started from, if it maps code of that
    /// file.
    pub fn program(&self, modules: &Modules) -> Option<u32> {
        let path = mapped::without_mark(&fs::read_link(format!("/proc/{}/exe", self.pid)).ok()?);
        let mut numbers = self.mappings.values().filter_map(|mapping| mapping.module);
        numbers.find(|&number| modules.path(number) == Some(&path))
    }

    /// Returns the place of an address.
    pub fn place(&self, address: u64) -> CodeLocation {
        match self.mappings.range(..=address).next_back() {
            Some((_, mapping)) if address < mapping.end => match mapping.module {
                Some(module) => {
                    CodeLocation::Module { module, address: address.wrapping_sub(mapping.bias) }
                }
                None => CodeLocation::Anonymous { pid: self.pid, address },
            },
            _ => CodeLocation::Nowhere,
        }
    }

    /// Finds the frames of a stack, innermost first, and returns how the stack ends.
    ///
    /// A frame has the address of its instruction, which for a caller is in the call, and its end
    /// on the stack.
    pub fn unwind(
        &self,
        cache: &mut Cache,
        registers: [u64; REGISTERS.len()],
        stack: &[u8],
        mut each: impl FnMut(u64, u64),
    ) -> StackEnd {
        let (ip, sp, mut registers) = unwind_registers(registers);
        let is_cut = Cell::new(false);
        let mut read = |address: u64| {
            let at = usize::try_from(address.checked_sub(sp).ok_or(())?).map_err(|_| ())?;
            // An address far away does not belong to this stack.
            is_cut.set((stack.len().saturating_sub(7)..STACK_MAX).contains(&at));
            let bytes = stack.get(at..at.checked_add(8).ok_or(())?).ok_or(())?;
            Ok(u64::from_ne_bytes(bytes.try_into().map_err(|_| ())?))
        };
        let mut address = FrameAddress::from_instruction_pointer(ip);
        for _ in 0..DEPTH_MAX {
            let caller = self.unwinder.unwind_frame(address, &mut registers, cache, &mut read);
            let end = if matches!(caller, Ok(Some(_))) { registers.sp() } else { u64::MAX };
            each(address.address_for_lookup(), end);
            match caller.map(|caller| caller.and_then(FrameAddress::from_return_address)) {
                Ok(Some(caller)) => address = caller,
                Ok(None) => return StackEnd::Whole,
                Err(_) => return if is_cut.get() { StackEnd::Cut } else { StackEnd::Broken },
            }
        }
        StackEnd::Broken
    }
}

#[cfg(target_arch = "x86_64")]
fn unwind_registers([bp, sp, ip]: [u64; 3]) -> (u64, u64, UnwindRegsNative) {
    (ip, sp, UnwindRegsNative::new(ip, sp, bp))
}

#[cfg(target_arch = "aarch64")]
fn unwind_registers([fp, lr, sp, pc]: [u64; 4]) -> (u64, u64, UnwindRegsNative) {
    (pc, sp, UnwindRegsNative::new(lr, sp, fp))
}

/// Returns false for the names that the kernel gives to memory without a file, where programs make
/// code.
pub fn is_file(path: &Path) -> bool {
    const NO_FILES: [&str; 4] = ["//", "/dev/zero", "/SYSV", "/anon_hugepage"];
    path.is_absolute()
        && !is_memory_file(path)
        && !NO_FILES
            .iter()
            .any(|start| path.as_os_str().as_encoded_bytes().starts_with(start.as_bytes()))
}

/// Returns true for the name of a file in memory. Such a file is a program, or holds code that a
/// program makes.
pub(crate) fn is_memory_file(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().starts_with(b"/memfd:")
}

/// Lists the present threads of a process.
pub fn threads(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Lists the present mappings of a process. The list is empty if the process has ended or belongs
/// to another user.
pub fn mappings(pid: u32) -> Vec<Map> {
    let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(|line| mapping(pid, line)).collect()
}

/// Parses a line of `/proc/PID/maps`: addresses, permissions, offset in the file, device, inode,
/// path.
pub fn mapping(pid: u32, line: &str) -> Option<Map> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok()?;
    let is_code = fields.next()?.contains('x');
    let offset = u64::from_str_radix(fields.next()?, 16).ok()?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let device =
        libc::makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    let inode = fields.next()?.parse().ok()?;
    let path = PathBuf::from(fields.next().unwrap_or_default().trim_start());
    Some(Map { pid, start, length: end.checked_sub(start)?, offset, device, inode, path, is_code })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(start: u64, length: u64) -> Map {
        Map {
            pid: 1,
            start,
            length,
            offset: 0,
            device: 0,
            inode: 0,
            path: PathBuf::new(),
            is_code: true,
        }
    }

    fn is_placed(process: &Process, address: u64) -> bool {
        process.place(address) != CodeLocation::Nowhere
    }

    #[test]
    fn a_later_mapping_replaces_the_part_that_it_covers() {
        let mut process = Process::new(1, String::new());
        let mut modules = Modules::default();
        process.map(&code(100, 100), &mut modules);
        process.map(&Map { is_code: false, ..code(140, 20) }, &mut modules);
        let placed: Vec<u64> =
            (90..210).step_by(10).filter(|&at| is_placed(&process, at)).collect();
        assert_eq!(placed, [100, 110, 120, 130, 160, 170, 180, 190]);
        process.map(&code(0, 1000), &mut modules);
        process.map(&Map { is_code: false, ..code(0, 1000) }, &mut modules);
        assert!((0..1000).all(|at| !is_placed(&process, at)));
    }

    #[test]
    fn code_that_is_covered_in_part_keeps_its_unwinding_tables() {
        let (mut process, mut modules) =
            (Process::new(std::process::id(), String::new()), Modules::default());
        let own = std::env::current_exe().expect("a program has a path");
        let code =
            mappings(std::process::id()).into_iter().find(|map| map.is_code && map.path == own);
        let code = code.expect("its code is mapped");
        process.map(&code, &mut modules);
        let start = code.start;
        let end = code.start + code.length;
        assert_eq!(process.unwinder.max_known_code_address(), end);
        // The loader maps the whole file first, then data over its end.
        process.map(
            &Map { start: end - 0x1000, length: 0x1000, is_code: false, ..code },
            &mut modules,
        );
        assert_eq!(process.unwinder.max_known_code_address(), end - 0x1000);
        let place = process.place(start + 0x10);
        assert!(matches!(place, CodeLocation::Module { .. }), "{place:?}");
    }

    #[test]
    fn mappings_of_this_process_are_read_and_a_broken_line_is_left_out() {
        let own = std::env::current_exe().expect("a program has a path");
        assert!(mappings(std::process::id()).iter().any(|map| map.is_code && map.path == own));
        assert!(
            mapping(1, "7f-zz r-xp 0 00:00 0").is_none()
                && mapping(1, "9-1 r-xp 0 0:0 0 /a").is_none()
        );
        let map = mapping(1, "1000-3000 r-xp 00002000 08:01 77   /a b").expect("the line is whole");
        assert_eq!((map.start, map.length, map.offset, map.inode), (0x1000, 0x2000, 0x2000, 77));
        assert_eq!(map.path, Path::new("/a b"));
    }

    #[test]
    fn a_stack_of_noise_ends_without_a_fault() {
        let (process, mut cache) =
            (Process::read(std::process::id(), &mut Modules::default()), Cache::new());
        let here = a_stack_of_noise_ends_without_a_fault as *const () as u64;
        let mut noise: u64 = 0x9E37_79B9_7F4A_7C15;
        for length in [0, 1, 7, 8, 1000, 65_528] {
            let stack: Vec<u8> = (0..length)
                .map(|_| {
                    noise =
                        noise.rotate_left(7).wrapping_mul(0x2545_F491_4F6C_DD1D).wrapping_add(here);
                    noise as u8
                })
                .collect();
            for ip in [0, 1, here, here + 9, u64::MAX, 0xFFFF_8000_0000_0000] {
                for sp in [0, 0x7FFF_0000, u64::MAX - 8] {
                    let mut registers = [noise; REGISTERS.len()];
                    registers[REGISTERS.len() - 2] = sp;
                    registers[REGISTERS.len() - 1] = ip;
                    let mut frames = 0;
                    process.unwind(&mut cache, registers, &stack, |_, _| frames += 1);
                    assert!(frames <= DEPTH_MAX);
                }
            }
        }
    }
}
