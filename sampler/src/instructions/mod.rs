//! Executed instructions of methods, as callgrind counts them.
//!
//! The number does not depend on the machine's load, where times are too noisy to compare
//! (*Execution profiling blueprints*, section 5, proposes counts in place of times).
//!
//! An instruction belongs to the innermost function at its address that is a method of the
//! recording. Code that is inlined into a method and has no hook is a part of the method; called
//! code is not. Instructions of hooks belong to no method.

pub mod callgrind;
mod places;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use metaspy_format::profile::{Column, KeyKind, TableDef};
use metaspy_probe::SiteId;
use metaspy_reader::{EndState, Store};
use metaspy_report::append::Room;
use metaspy_report::program::{INSTRUCTIONS, OWN_INSTRUCTIONS};

use crate::code_file::{CodeFile, Directory};
use crate::samples::Module;
use crate::symbols::elf::{Elf, Names};
use crate::symbols::{Category, Symbols};
use callgrind::Output;
use places::Places;

/// Totals of the instructions that were added to a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Executed instructions of the whole program.
    pub all: u64,
    /// Executed instructions in the code of methods.
    pub of_methods: u64,
    /// Number of methods that executed instructions.
    pub methods: usize,
}

/// Adds the instructions that callgrind counted to a recording of the same program. The process of
/// the recording must have ended.
///
/// # Errors
///
/// If the file cannot be written; if the recording is still written, has instructions already or
/// has no room; and if no instruction belongs to a method. Nothing is written then.
pub fn append(outputs: &[Output], recording: &Path, store: &Store) -> io::Result<Instructions> {
    if store.end_state() == EndState::Live {
        return Err(other("its process still writes it: wait until it has ended"));
    }
    if has_instructions(store) {
        return Err(other(
            "it has instructions already: they would be added up; record again to count again",
        ));
    }
    let of_methods = of_methods(outputs, store);
    let all = outputs.iter().map(Output::all).sum();
    let known =
        Instructions { all, of_methods: of_methods.values().sum(), methods: of_methods.len() };
    let Some(last) = of_methods.last_key_value().map(|(site, _)| site.0 as usize) else {
        return Err(other(
            "no instruction is one of its methods': count those of the same program, built with debug information, as \
             with CARGO_PROFILE_RELEASE_DEBUG=line-tables-only",
        ));
    };
    let mut words = vec![0; last + 1];
    of_methods.iter().for_each(|(site, &count)| words[site.0 as usize] = count);
    let def = TableDef {
        profile: INSTRUCTIONS.to_owned(),
        key: KeyKind::Site,
        columns: vec![Column::new(OWN_INSTRUCTIONS)],
        ..TableDef::default()
    };
    let mut room = Room::of(store);
    if !room.add_by_site(def, &words)? {
        return Err(other("it has no room for another table: record with a larger METASPY_BUDGET"));
    }
    room.write(recording)?;
    Ok(known)
}

/// Returns true if a recording has instructions.
pub fn has_instructions(store: &Store) -> bool {
    store.united_profiles().iter().any(|profile| profile.name == INSTRUCTIONS)
}

fn other(text: &str) -> io::Error {
    io::Error::other(text)
}

/// Counts the instructions of each method that executed any.
fn of_methods(outputs: &[Output], store: &Store) -> BTreeMap<SiteId, u64> {
    let mut symbols = Symbols::default();
    let mut found: Vec<(Vec<(u32, u32)>, u64)> = Vec::new();
    for (path, addresses) in outputs.iter().flat_map(|output| &output.files) {
        let module = Module {
            path: path.into(),
            is_program: true,
            file: CodeFile::AtPath,
            root: Directory::default(),
            beside: Directory::default(),
        };
        let elf = Elf::read(&module);
        let mut names = Names::default();
        for (&address, &count) in addresses {
            let resolved = elf.resolve(&mut names, &mut symbols, &module, address);
            found.push((
                resolved.frames.iter().map(|frame| (frame.function, frame.line)).collect(),
                count,
            ));
        }
    }
    let places = Places::new(store.sites(), &symbols.functions);
    let mut known: HashMap<(u32, u32), Option<SiteId>> = HashMap::new();
    let mut of_methods: BTreeMap<SiteId, u64> = BTreeMap::new();
    for (frames, count) in found {
        let is_hook = |&(function, _): &(u32, u32)| {
            symbols.functions[function as usize].category == Category::Metaspy
        };
        if frames.iter().any(is_hook) {
            continue;
        }
        let site = |frame: (u32, u32)| *known.entry(frame).or_insert_with(|| places.site(frame));
        if let Some(site) = frames.into_iter().find_map(site) {
            *of_methods.entry(site).or_default() += count;
        }
    }
    of_methods
}
