//! Doors: the calls that work goes through and a chain of causes does not.
//!
//! A closure, a future or a function that is given to a call runs where and when that call decides:
//! in a pool, an executor, a list of callbacks. A message is taken by a loop that has a cause of
//! its own. A recording shows neither, but the source does. Names are compared, and not types, so a
//! door is one that the calls may have come through.

#[cfg(test)]
mod tests;
mod visitor;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::str::FromStr;

use metaspy_format::facts::{Facts, SelfKind};
use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{self as store, DetailLevel, RecordedSite, Scope, Store, files};
use metaspy_syntax::{depth, source, spawning};
use proc_macro2::TokenStream;
use serde::Serialize;

use crate::text::last_segment;
use visitor::{Definition, Form, Mention, SourceVisitor, Wanted};

/// Bytes of a source file at most; a larger one is not read.
const BYTES: u64 = 4 << 20;
/// Bytes of all files that are read at most.
const ALL_BYTES: u64 = 256 << 20;
/// Words of files in which messages may be taken.
const CHANNEL_WORDS: [&str; 4] = ["recv", "Receiver", "channel", "bounded"];
/// Calls of std and of futures that run on the spot what they are given.
const AT_ONCE: [&str; 38] = [
    "all",
    "and_then",
    "any",
    "block_on",
    "catch_unwind",
    "filter",
    "filter_map",
    "find",
    "find_map",
    "flat_map",
    "fold",
    "for_each",
    "get_or_init",
    "get_or_insert_with",
    "inspect",
    "is_none_or",
    "is_ok_and",
    "is_some_and",
    "map",
    "map_err",
    "map_or",
    "map_or_else",
    "map_while",
    "max_by_key",
    "min_by_key",
    "ok_or_else",
    "or_else",
    "or_insert_with",
    "position",
    "retain",
    "sort_by",
    "sort_by_key",
    "then",
    "timeout",
    "try_fold",
    "try_for_each",
    "unwrap_or_else",
    "with",
];

/// Where the source starts calls of an entry point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Door {
    /// The file, as the recording has it.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// The call that is given the work, as it is written: `rayon::spawn`, `.push`. `None` if the
    /// entry point is called here, in a function without a recorded call.
    pub door: Option<String>,
    /// The function around it, as it is written: `Server::accept`. Empty outside of functions.
    pub within: String,
}

/// A loop that takes messages from a channel. What they lead to has the cause of the loop, and not
/// that of the sender.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MessageLoop {
    /// The path of the function around it.
    pub site: String,
    /// How it takes a message: `.recv`, `for`.
    pub door: String,
    /// The file, as the recording has it.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
}

/// What a search of the source finds.
#[derive(Default)]
pub(super) struct Searched {
    /// The doors of each entry point.
    pub doors: Vec<BTreeSet<Door>>,
    pub message_loops: BTreeSet<MessageLoop>,
    /// Files that have changed since they were recorded, or are those of another program.
    pub changed_files: BTreeSet<String>,
}

/// Searches the source of all recorded functions for the doors of these sites. Files that are not
/// here, or are no Rust, show nothing.
pub(super) fn search(store: &Store, entry_points: &[SiteId]) -> Searched {
    let scope = Scope { detail: DetailLevel::Counts, ..Scope::default() };
    let called = store.tally(store::By::Site, &scope).rows.into_iter().filter_map(|row| row.site);
    let called: HashSet<SiteId> = called.collect();
    let mut by_file: BTreeMap<&str, Vec<&RecordedSite>> = BTreeMap::new();
    for site in store.sites() {
        let is_function = matches!(site.kind, SiteKind::Method | SiteKind::Async);
        if is_function && site.skipped.is_none() && called.contains(&site.id) {
            by_file.entry(&site.file).or_default().push(site);
        }
    }
    let entries: Vec<Entry> = entry_points
        .iter()
        .map(|site| store.site(*site).map_or_else(Entry::none, Entry::new))
        .collect();
    source::with_deep_stack(|depth| {
        let mut searched =
            Searched { doors: vec![BTreeSet::new(); entries.len()], ..Searched::default() };
        let mut left = ALL_BYTES;
        for (name, sites) in &by_file {
            let Some(text) = text_of(name, &mut left) else { continue };
            search_file(&SourceFile { name, sites }, &text, depth, &entries, &mut searched);
        }
        searched
    })
}

fn search_file(
    file: &SourceFile<'_>,
    text: &str,
    depth: usize,
    entries: &[Entry],
    searched: &mut Searched,
) {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        // A closure has no name.
        let name = if entry.facts.is_closure { "" } else { &*entry.name };
        if !entry.facts.is_closure || entry.file == file.name {
            by_name.entry(name).or_default().push(at);
        }
    }
    let wanted =
        Wanted { names: by_name.keys().copied().collect(), closures: by_name.contains_key("") };
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let is_of_interest = wanted.closures
        || CHANNEL_WORDS.into_iter().any(|word| text.contains(word))
        || words.any(|word| wanted.names.contains(word));
    if !is_of_interest {
        return;
    }
    let Some(parsed) = parse(text, depth) else { return };
    let found = SourceVisitor::visit(&parsed, &wanted);
    if !file.is_as_recorded(&found.definitions) {
        searched.changed_files.insert(file.name.to_owned());
        return;
    }
    for mention in &found.mentions {
        for &at in by_name.get(&*mention.name).into_iter().flatten() {
            searched.doors[at].extend(entries[at].door(mention, file));
        }
    }
    for taking in found.takings {
        if let Some(site) = file.function_at(taking.line) {
            searched.message_loops.insert(MessageLoop {
                site: site.path_with_arguments(),
                door: taking.by,
                file: file.name.to_owned(),
                line: taking.line,
            });
        }
    }
}

/// An entry point, as the source names it.
struct Entry {
    file: String,
    lines: (u32, u32),
    /// The last part of its name.
    name: String,
    /// What may stand before its name: its type, its trait, its module.
    qualifiers: Vec<String>,
    facts: Facts,
}

impl Entry {
    fn new(site: &RecordedSite) -> Entry {
        let facts = site.facts().unwrap_or_default();
        let module = last_segment(&facts.module).to_owned();
        let qualifiers = [facts.of_type.clone(), facts.of_trait.clone(), Some(module)];
        Entry {
            file: site.file.clone(),
            lines: site.lines,
            name: function_name(site).to_owned(),
            qualifiers: qualifiers.into_iter().flatten().collect(),
            facts,
        }
    }

    /// A site that is no longer known has no name in the source.
    fn none() -> Entry {
        Entry {
            file: String::new(),
            lines: (0, 0),
            name: String::new(),
            qualifiers: Vec::new(),
            facts: Facts::default(),
        }
    }

    /// The call that is given the function at this place, or else the place itself, if calls of it
    /// begin there without a recorded cause.
    fn door(&self, mention: &Mention, file: &SourceFile<'_>) -> Option<Door> {
        if !self.is_meant(mention) {
            return None;
        }
        let door = match mention.form {
            Form::Path | Form::Closure => Some(mention.argument_of.as_ref()?),
            Form::Call | Form::MethodCall => {
                // The value of an async function's call is a future.
                let given = mention.argument_of.as_ref().filter(|_| self.facts.is_async);
                given.or(mention.deferred_by.as_ref())
            }
        };
        let is_called_here = door.is_none() && !mention.is_deferred;
        // An observed function passes the cause to all that runs on the spot, and to all that the
        // weaver knows as work for elsewhere.
        let keeps_cause = door.is_none_or(|called| {
            let name = last_segment(called.name.trim_start_matches('.'));
            AT_ONCE.contains(&name) || spawning::is_spawning(name)
        });
        let is_observed = file.function_at(mention.line).is_some();
        if is_observed && keeps_cause || door.is_none() && !is_called_here {
            return None;
        }
        Some(Door {
            file: file.name.to_owned(),
            line: door.map_or(mention.line, |called| called.line),
            door: door.map(|called| called.name.to_string()),
            within: mention.within.to_string(),
        })
    }

    /// True if the names are those of this function, as far as they are written.
    fn is_meant(&self, mention: &Mention) -> bool {
        match mention.form {
            Form::Closure => self.facts.is_closure && self.lines.0 == mention.line,
            Form::MethodCall => self.facts.self_kind != SelfKind::None,
            Form::Path | Form::Call => match mention.qualifier.as_deref() {
                None => self.facts.of_type.is_none() && self.facts.of_trait.is_none(),
                Some("self" | "super" | "crate") => self.facts.of_type.is_none(),
                Some(written) => self.qualifiers.iter().any(|qualifier| qualifier == written),
            },
        }
    }
}

/// The last part of the name of a function.
fn function_name(site: &RecordedSite) -> &str {
    last_segment(&site.path)
}

/// A file, with the observed functions in it.
struct SourceFile<'s> {
    name: &'s str,
    sites: &'s [&'s RecordedSite],
}

impl SourceFile<'_> {
    /// The innermost observed function around a line; of closures in one line, the first.
    fn function_at(&self, line: u32) -> Option<&RecordedSite> {
        let around = self.sites.iter().filter(|site| (site.lines.0..=site.lines.1).contains(&line));
        around.min_by_key(|site| (site.lines.1 - site.lines.0, &site.path)).copied()
    }

    /// True if most observed functions stand where they were recorded. Those that a macro makes
    /// stand nowhere.
    fn is_as_recorded(&self, definitions: &[Definition]) -> bool {
        let named = self.sites.iter().filter(|site| !site.path.ends_with('}'));
        let (mut there, mut all) = (0, 0);
        for site in named {
            let lines = site.lines.0..=site.lines.1;
            let name = function_name(site);
            all += 1;
            there += usize::from(
                definitions.iter().any(|it| lines.contains(&it.line) && it.name == name),
            );
        }
        there * 2 >= all
    }
}

/// The text of a file, if so many bytes may still be read. The name comes from a recording, so it
/// may be that of anything: only a plain file is opened.
fn text_of(file: &str, left: &mut u64) -> Option<String> {
    let most = BYTES.min(*left);
    let bytes = files::read_beginning(Path::new(file), most).ok()?;
    let length = bytes.len() as u64;
    // Opening a file takes time, too.
    *left = left.saturating_sub(length.max(4 << 10));
    String::from_utf8(bytes).ok().filter(|_| length < most)
}

fn parse(text: &str, depth: usize) -> Option<syn::File> {
    let tokens = TokenStream::from_str(&text[source::before_code(text)..]).ok()?;
    if depth::is_at_most(tokens.clone(), depth) { syn::parse2(tokens).ok() } else { None }
}
