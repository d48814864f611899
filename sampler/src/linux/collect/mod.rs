//! Collector that turns the kernel's records into samples. Each stack is unwound at once, so that
//! no copy of a stack is kept.
//!
//! Copies are not kept as perf keeps them, because an hour of them would take 60 GB. The frames
//! take some MB, since most stacks repeat.

mod image;
mod late;
mod made;
mod mapped;
mod modules;
pub mod process;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use metaspy_reader::Store;

use crate::code_map::{PerfMap, find_bytecode};
use crate::events::Recordings;
use crate::linux::perf::record::{Map, RawSample, Record, What};
use crate::samples::{CodeLocation, NO_EVENT, Sample, Samples, Stack, StackEnd, Thread};
use made::Made;
use modules::Modules;
use process::{Cache, Process};

/// Maximum number of directories with maps of code that stay open.
const PERF_MAPS_MAX: usize = 64;

/// Frame as it is found on the stack.
enum FoundFrame {
    Code(CodeLocation),
    /// Instruction of an interpreter.
    Bytecode(u64),
}

/// Converter from records to samples.
#[derive(Default)]
pub struct Collector {
    modules: Modules,
    processes: HashMap<u32, Process>,
    names: HashMap<(u32, u32), String>,
    threads: HashMap<(u32, u32), u32>,
    stacks: HashMap<Stack, u32>,
    addresses: HashMap<CodeLocation, u32>,
    /// Processes that execute a new program, but have not mapped it yet.
    executing: HashSet<u32>,
    cache: Option<Cache>,
    /// Records that must wait for older records of other rings.
    waiting: Vec<Record>,
    /// Newest time of the previous round.
    settled_ns: u64,
    places: Vec<FoundFrame>,
    made: Made,
    samples: Samples,
    recordings: Recordings,
}

impl Collector {
    /// Reads the mappings and the threads' names of a running process.
    pub(crate) fn add_running(&mut self, pid: u32) {
        let process = Process::read(pid, &mut self.modules);
        if let Some(program) = process.program(&self.modules) {
            self.modules.set_program(program);
        }
        for map in process::mappings(pid) {
            self.note_file(&map);
        }
        self.names.extend(process::threads(pid).into_iter().filter_map(|tid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/comm")).ok()?;
            Some(((pid, tid), name.trim_end().to_owned()))
        }));
        self.processes.insert(pid, process);
    }

    /// Takes the records of a round: all that the rings held.
    ///
    /// Records of the same ring are in order. For several rings, records that are newer than the
    /// newest record of the previous round are held back, which sorts them.
    pub fn round(&mut self, records: &mut Vec<Record>) {
        let newest = records.iter().map(|record| record.time_ns).max();
        self.waiting.append(records);
        self.made.read();
        self.apply_until(self.settled_ns);
        self.settled_ns = self.settled_ns.max(newest.unwrap_or(0));
        self.recordings.look(&mut self.samples);
    }

    /// Takes the remaining records, and returns the samples, with the recordings that the processes
    /// wrote.
    pub fn finish(mut self) -> (Samples, Vec<(PathBuf, Store)>) {
        self.made.read();
        self.apply_until(u64::MAX);
        self.find_late();
        let mut samples = std::mem::take(&mut self.samples);
        self.name(&mut samples);
        let stores = self.recordings.finish(&mut samples);
        (samples, stores)
    }

    /// Returns the samples of the most recent time.
    pub fn recent(&self, time: Duration) -> Samples {
        let known = self.recordings.known(&self.samples);
        let newest = known.last().map_or(0, |sample| sample.time_ns);
        let since = newest.saturating_sub(time.as_nanos() as u64);
        let mut samples =
            self.samples.part(&known[known.partition_point(|sample| sample.time_ns < since)..]);
        self.name(&mut samples);
        self.recordings.name(&mut samples.events);
        samples
    }

    /// Writes the names of files and threads.
    fn name(&self, samples: &mut Samples) {
        samples.modules = self.modules.all().to_vec();
        for (&(pid, tid), &number) in &self.threads {
            if let Some(name) = self.names.get(&(pid, tid)) {
                samples.threads[number as usize].name.clone_from(name);
            }
        }
    }

    fn apply_until(&mut self, time_ns: u64) {
        self.waiting.sort_by_key(|record| record.time_ns);
        let ready = self.waiting.partition_point(|record| record.time_ns <= time_ns);
        let later = self.waiting.split_off(ready);
        for record in std::mem::replace(&mut self.waiting, later) {
            self.apply(record);
        }
    }

    fn apply(&mut self, record: Record) {
        match record.what {
            What::Sample(sample) => self.sample(record.time_ns, &sample),
            What::Map(map) => self.map(&map),
            What::Name { pid, tid, name, is_exec } => {
                if is_exec {
                    // The process has another program now, so no earlier mapping remains.
                    self.processes.insert(pid, Process::new(pid, name.clone()));
                    self.made.exec(pid);
                    self.executing.insert(pid);
                }
                if let Some(&thread) = self.threads.get(&(pid, tid)) {
                    self.samples.threads[thread as usize].name.clone_from(&name);
                }
                self.names.insert((pid, tid), name);
            }
            What::Fork { pid, parent, .. } => {
                if pid != parent {
                    let child = match self.processes.get(&parent) {
                        Some(parent) => parent.fork(pid),
                        None => Process::read(pid, &mut self.modules),
                    };
                    self.samples.counts.processes += 1;
                    self.made.fork(parent, pid, record.time_ns);
                    self.processes.insert(pid, child);
                }
            }
            What::Exit { pid, tid } => {
                if pid == tid {
                    self.processes.remove(&pid);
                }
            }
            What::Lost(count) => self.samples.counts.lost += count,
            What::Throttled => self.samples.counts.throttled += 1,
        }
    }

    fn map(&mut self, map: &Map) {
        self.note_file(map);
        let modules = &mut self.modules;
        let process =
            self.processes.entry(map.pid).or_insert_with(|| Process::read(map.pid, modules));
        process.map(map, modules);
        // The first code that a new program maps is its own.
        if map.is_code
            && self.executing.contains(&map.pid)
            && let Some(program) =
                modules.module(map).filter(|_| map.path != Path::new(crate::vdso::NAME))
        {
            self.executing.remove(&map.pid);
            modules.set_program(program);
        }
    }

    fn note_file(&mut self, map: &Map) {
        self.made.note(map);
        let path = &map.path;
        if path.extension().is_some_and(|extension| extension == "spy") {
            let found = (map.pid, path.clone());
            if !self.samples.recordings.contains(&found) {
                self.samples.recordings.push(found);
            }
        }
    }

    fn sample(&mut self, time_ns: u64, raw: &RawSample) {
        let modules = &mut self.modules;
        let process =
            self.processes.entry(raw.pid).or_insert_with(|| Process::read(raw.pid, modules));
        let places = &mut self.places;
        let kernel = raw.kernel.iter().enumerate();
        places.extend(kernel.map(|(depth, &address)| {
            FoundFrame::Code(CodeLocation::Kernel(address - u64::from(depth > 0)))
        }));
        let mut end = StackEnd::Whole;
        if let Some(registers) = raw.registers {
            let cache = self.cache.get_or_insert_with(Cache::new);
            let mut cells = find_bytecode(&raw.stack, registers[registers.len() - 2]).peekable();
            let frame = |address: u64, end: u64| {
                // Interpreted code is above the frame of the interpreter's loop.
                while let Some((_, instruction)) = cells.next_if(|&(at, _)| at < end) {
                    places.push(FoundFrame::Bytecode(instruction));
                }
                places.push(FoundFrame::Code(process.place(address)));
            };
            end = match process.unwind(cache, registers, &raw.stack, frame) {
                StackEnd::Cut if !raw.is_cut => StackEnd::Broken,
                end => end,
            };
        } else {
            let chain = raw.chain.iter().enumerate();
            let address =
                |(depth, &address): (usize, &u64)| address - u64::from(depth > 0 && address > 0);
            places.extend(chain.map(|frame| FoundFrame::Code(process.place(address(frame)))));
        }
        if places.is_empty() {
            places.push(FoundFrame::Code(process.place(raw.ip)));
        }
        let samples = &mut self.samples;
        let addresses = &mut self.addresses;
        let mut made = |address| self.made.place(&mut samples.made, raw.pid, address, time_ns);
        let mut has_other_code = false;
        let mut frames = Vec::with_capacity(places.len());
        for found in places.drain(..) {
            let place = match found {
                FoundFrame::Code(place @ CodeLocation::Anonymous { address, .. }) => made(address)
                    .unwrap_or_else(|| {
                        has_other_code = true;
                        place
                    }),
                FoundFrame::Code(place) => place,
                FoundFrame::Bytecode(instruction) => match made(instruction) {
                    Some(place) => place,
                    None => continue,
                },
            };
            frames.push(*addresses.entry(place).or_insert_with(|| {
                samples.addresses.push(place);
                samples.addresses.len() as u32 - 1
            }));
        }
        if has_other_code && samples.perf_maps.len() < PERF_MAPS_MAX {
            samples.perf_maps.entry(raw.pid).or_insert_with(|| PerfMap::of_running(raw.pid));
        }
        let thread = *self.threads.entry((raw.pid, raw.tid)).or_insert_with(|| {
            let name = self.names.get(&(raw.pid, raw.tid)).unwrap_or(&process.name).clone();
            samples.threads.push(Thread { pid: raw.pid, tid: raw.tid, name });
            samples.threads.len() as u32 - 1
        });
        let stack = Stack { frames: frames.into(), end };
        let stack = *self.stacks.entry(stack).or_insert_with_key(|stack| {
            samples.stacks.push(stack.clone());
            samples.stacks.len() as u32 - 1
        });
        let cpu_ns = raw.cpu_ns;
        let wall_ns = raw.wall_ns;
        samples.samples.push(Sample {
            time_ns,
            thread,
            stack,
            events: NO_EVENT,
            event: None,
            cpu_ns,
            wall_ns,
        });
    }
}
