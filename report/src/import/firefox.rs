//! The processed profile of profiler.firefox.com, as samply writes it.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::addresses::{Library, Names};
use super::samples::Samples;
use super::{Content, Format, Imported, Result, error};
use crate::text::counted;

/// Most threads. An empty one is two bytes of a file, and hundreds in memory.
const THREADS_MAX: usize = 1 << 16;

#[derive(Deserialize)]
struct Profile {
    meta: Meta,
    #[serde(default, deserialize_with = "threads")]
    threads: Option<Vec<Thread>>,
    shared: Option<Thread>,
    #[serde(default)]
    libs: Vec<Library>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    /// Milliseconds.
    interval: Option<f64>,
    product: Option<String>,
    preprocessed_profile_version: Option<u32>,
}

/// Samples and tables of a thread, or tables of all threads.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thread {
    samples: Option<Weighed>,
    string_array: Option<Vec<String>>,
    stack_table: Option<StackTable>,
    frame_table: Option<FrameTable>,
    func_table: Option<FuncTable>,
    resource_table: Option<ResourceTable>,
    sources: Option<Sources>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Weighed {
    stack: Option<Vec<Option<u32>>>,
    weight: Option<Vec<f64>>,
    weight_type: Option<String>,
}

#[derive(Deserialize)]
struct StackTable {
    prefix: Vec<Option<u32>>,
    frame: Vec<u32>,
}

#[derive(Deserialize)]
struct FrameTable {
    func: Vec<u32>,
    #[serde(default)]
    line: Vec<Option<u32>>,
    /// Bytes from the beginning of the library; -1 = not known.
    #[serde(default)]
    address: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FuncTable {
    name: Vec<u32>,
    #[serde(default)]
    file_name: Vec<Option<u32>>,
    #[serde(default)]
    source: Vec<Option<u32>>,
    #[serde(default)]
    resource: Vec<i64>,
}

#[derive(Deserialize)]
struct ResourceTable {
    name: Vec<u32>,
    #[serde(default)]
    lib: Vec<Option<i64>>,
}

#[derive(Deserialize)]
struct Sources {
    filename: Vec<u32>,
}

impl Thread {
    fn has_tables(&self) -> bool {
        let has_stacks =
            self.stack_table.is_some() || self.frame_table.is_some() || self.func_table.is_some();
        has_stacks
            || self.string_array.is_some()
            || self.resource_table.is_some()
            || self.sources.is_some()
    }
}

/// Frames of stacks that were read.
type Places = HashMap<usize, usize>;

/// Reads a list of threads up to the limit.
fn threads<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Vec<Thread>>, D::Error> {
    struct Threads;
    impl<'de> Visitor<'de> for Threads {
        type Value = Vec<Thread>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of threads")
        }

        fn visit_seq<A: SeqAccess<'de>>(
            self,
            mut list: A,
        ) -> std::result::Result<Vec<Thread>, A::Error> {
            let mut threads = Vec::new();
            while let Some(thread) = list.next_element()? {
                if threads.len() >= THREADS_MAX {
                    return Err(A::Error::custom(format_args!(
                        "it has more than {THREADS_MAX} threads"
                    )));
                }
                threads.push(thread);
            }
            Ok(threads)
        }
    }
    from.deserialize_seq(Threads).map(Some)
}

pub fn read(bytes: &[u8]) -> Result<Imported> {
    let profile: Profile = serde_json::from_slice(bytes).map_err(|why| {
        error(format!("it is cut, damaged, or no profile of profiler.firefox.com: {why}"))
    })?;
    let Some(threads) = &profile.threads else {
        return Err(error("it has no threads: it is no profile of profiler.firefox.com"));
    };
    if profile.meta.preprocessed_profile_version.is_none() {
        return Err(error(
            "it is a raw profile of Firefox: open it in profiler.firefox.com, and save it from there",
        ));
    }
    let period_ns = profile.meta.interval.map_or(0.0, |ms| ms * 1e6);
    if !(1.0..1e18).contains(&period_ns) {
        return Err(error("it does not state its interval, the time of a sample"));
    }
    let mut samples = Samples::new(period_ns.round() as u64, bytes);
    let mut used = 0;
    let mut names = Names::new(&profile.libs);
    let mut shared_places = HashMap::new();
    for thread in threads {
        let mut own_places = HashMap::new();
        let places = if thread.has_tables() { &mut own_places } else { &mut shared_places };
        used +=
            usize::from(add(&mut samples, thread, profile.shared.as_ref(), places, &mut names)?);
    }
    let mut notes = Vec::new();
    if used > 1 {
        notes.push(format!("the samples of {} are added up", counted(used as u64, "thread")));
    }
    let unnamed =
        samples.functions.iter().filter(|function| function.name.starts_with("0x")).count();
    if unnamed > 0 {
        notes.push(format!(
            "{} are addresses without a name, because the file that ran is not here, or has no symbols: open the profile \
             in profiler.firefox.com where it was made, and save it from there",
            counted(unnamed as u64, "function")
        ));
    }
    let program = profile
        .meta
        .product
        .or(profile.libs.into_iter().next().map(|of| of.name))
        .unwrap_or_default();
    Ok(Imported { format: Format::Firefox, program, content: Content::Samples(samples), notes })
}

/// Adds the samples of a thread. Returns true if it has any.
fn add(
    samples: &mut Samples,
    thread: &Thread,
    shared: Option<&Thread>,
    places: &mut Places,
    names: &mut Names<'_>,
) -> Result<bool> {
    let Some(Weighed { stack: Some(stacks), weight, weight_type }) = &thread.samples else {
        return Ok(false);
    };
    if stacks.is_empty() {
        return Ok(false);
    }
    if let Some(other) = weight_type.as_deref().filter(|of| *of != "samples") {
        return Err(error(format!(
            "its weights are {other}: metaspy imports samples with their time"
        )));
    }
    let tables = Tables::of(thread, shared)?;
    for (at, &stack) in stacks.iter().enumerate() {
        let weight = weight.as_ref().map_or(Some(1.0), |weights| weights.get(at).copied());
        let weight = weight.filter(|of| of.fract() == 0.0 && (0.0..1e15).contains(of)).ok_or_else(|| {
            error("a weight of a sample is no whole number: it is damaged, or a difference of two profiles")
        })?;
        let frame =
            stack.map(|stack| tables.frame(samples, places, names, stack as usize)).transpose()?;
        samples.add(frame, weight as u64)?;
    }
    Ok(true)
}

/// Tables that a thread's stacks are in.
struct Tables<'p> {
    texts: &'p [String],
    stacks: &'p StackTable,
    frames: &'p FrameTable,
    functions: &'p FuncTable,
    resources: Option<&'p ResourceTable>,
    sources: Option<&'p Sources>,
}

impl<'p> Tables<'p> {
    fn of(own: &'p Thread, shared: Option<&'p Thread>) -> Result<Tables<'p>> {
        let lacks =
            |name: &str| error(format!("it is damaged: a thread has samples and no {name}"));
        macro_rules! table {
            ($name:ident) => {
                own.$name.as_ref().or_else(|| shared?.$name.as_ref())
            };
        }
        Ok(Tables {
            texts: table!(string_array).ok_or_else(|| lacks("strings"))?,
            stacks: table!(stack_table).ok_or_else(|| lacks("stacks"))?,
            frames: table!(frame_table).ok_or_else(|| lacks("frames"))?,
            functions: table!(func_table).ok_or_else(|| lacks("functions"))?,
            resources: table!(resource_table),
            sources: table!(sources),
        })
    }

    fn text(&self, at: Option<u32>) -> &str {
        at.and_then(|at| self.texts.get(at as usize)).map_or("", String::as_str)
    }

    /// The frame of a stack, whose callers are its prefixes.
    fn frame(
        &self,
        samples: &mut Samples,
        places: &mut Places,
        names: &mut Names<'_>,
        stack: usize,
    ) -> Result<usize> {
        let damaged = || {
            error("it is damaged: a stack leads to a place that it lacks, or around in a circle")
        };
        let mut path = Vec::new();
        let mut next = Some(stack);
        let mut frame = None;
        while let Some(at) = next {
            if let Some(&known) = places.get(&at) {
                frame = Some(known);
                break;
            }
            path.push(at);
            if path.len() > self.stacks.frame.len() {
                return Err(damaged());
            }
            next = self.stacks.prefix.get(at).ok_or_else(damaged)?.map(|at| at as usize);
        }
        for at in path.into_iter().rev() {
            let of = *self.stacks.frame.get(at).ok_or_else(damaged)? as usize;
            let function = *self.frames.func.get(of).ok_or_else(damaged)? as usize;
            let name = *self.functions.name.get(function).ok_or_else(damaged)?;
            let source = self.functions.source.get(function).copied().flatten();
            let file =
                source.and_then(|source| self.sources?.filename.get(source as usize).copied());
            let file = file.or_else(|| self.functions.file_name.get(function).copied().flatten());
            let resource =
                self.functions.resource.get(function).and_then(|&at| usize::try_from(at).ok());
            let module = resource.and_then(|at| self.resources?.name.get(at).copied());
            let line = self.frames.line.get(of).copied().flatten().unwrap_or(0);
            let address =
                self.frames.address.get(of).and_then(|&address| u64::try_from(address).ok());
            let library =
                resource.and_then(|at| usize::try_from((*self.resources?.lib.get(at)?)?).ok());
            let name = match (self.text(Some(name)), library, address) {
                (name, Some(library), Some(address)) if name.starts_with("0x") => {
                    names.at(library, address).unwrap_or(name)
                }
                (name, ..) => name,
            };
            let function = samples.function(name, self.text(file), self.text(module))?;
            let made = samples.frame(frame, function, line)?;
            places.insert(at, made);
            frame = Some(made);
        }
        frame.ok_or_else(damaged)
    }
}
