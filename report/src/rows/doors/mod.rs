//! Doors: the calls that work goes through and a chain of causes does not.
//!
//! A closure, a future or a function that is given to a call runs where and when that call decides:
//! in a pool, an executor, a list of callbacks. A message is taken by a loop that has a cause of
//! its own. A recording shows neither, but the source does. Names are compared, and not types, so a
//! door is one that the calls may have come through.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::str::FromStr;
use std::thread;

use metaspy_format::facts::{Facts, SelfKind};
use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Conditions, RecordedSite, Store, files};
use metaspy_syntax::depth;
use proc_macro2::TokenStream;
use serde::Serialize;

use super::path;
use visitor::{Form, Mention, SourceVisitor};

#[cfg(test)]
mod tests;
mod visitor;

/// Bytes of a source file at most; a larger one is not read.
const BYTES: u64 = 4 << 20;
/// Bytes of all files that are parsed at most.
const ALL_BYTES: u64 = 64 << 20;
/// The stack of the thread that parses, in bytes, and the levels of code that it has room for.
const STACK: usize = 64 << 20;
const DEPTH: usize = 1024;

/// Where the source starts calls of an entry point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Door {
    /// The file, as the recording has it.
    pub file: String,
    pub line: u32,
    /// The call that is given the work, as it is written: `rayon::spawn`, `.push`. `None` if the
    /// entry point is called here, in a function without a hook.
    pub door: Option<String>,
    /// The function around it, as it is written: `Server::accept`.
    pub within: String,
}

/// A loop that takes messages. What it does with them has its own cause, and not that of the
/// sender.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Receiver {
    /// The path of the function.
    pub site: String,
    /// How it takes a message: `.recv`, `for`.
    pub door: String,
    /// The file, as the recording has it.
    pub file: String,
    pub line: u32,
}

/// What the source shows.
#[derive(Default)]
pub struct Found {
    /// The doors of each entry point.
    pub doors: Vec<BTreeSet<Door>>,
    /// The loops that take messages.
    pub receivers: BTreeSet<Receiver>,
}

/// Searches the source of all recorded functions for the doors of these. Files that are not here,
/// or are no Rust, show nothing.
pub fn find(store: &Store, entry_points: &[SiteId]) -> Found {
    let entries: Vec<Entry> =
        entry_points.iter().filter_map(|site| store.site(*site).map(Entry::new)).collect();
    let by_file = functions_by_file(store);
    let searched = thread::scope(|scope| {
        let search = || search(&by_file, &entries);
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, search).ok()?;
        thread.join().ok()
    });
    let Searched { doors, messages } = searched.unwrap_or_default();
    let called = called(store, messages.keys().copied().collect());
    let mut receivers = BTreeSet::new();
    for (site, calls) in messages.into_iter().filter(|(site, _)| called.contains(site)) {
        for Message { file, line, door } in calls {
            receivers.insert(Receiver { site: path(store, site), door, file, line });
        }
    }
    Found { doors, receivers }
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
        let whole = if facts.name.is_empty() { &site.path } else { &facts.name };
        let module = last(&facts.module).to_owned();
        let qualifiers = [facts.of_type.clone(), facts.of_trait.clone(), Some(module)];
        Entry {
            file: site.file.clone(),
            lines: site.lines,
            name: last(whole).to_owned(),
            qualifiers: qualifiers.into_iter().flatten().collect(),
            facts,
        }
    }

    /// The call that is given the function at this place, or else the place itself, if calls of it
    /// begin there without a recorded cause.
    fn door(&self, mention: &Mention, file: &SourceFile) -> Option<Door> {
        if !self.is_meant(mention, file) {
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
        if door.is_none() && file.function_at(mention.line).is_some() {
            return None;
        }
        Some(Door {
            file: file.name.clone(),
            line: door.map_or(mention.line, |called| called.line),
            door: door.map(|called| called.name.clone()),
            within: mention.within.clone(),
        })
    }

    /// True if the names are those of this function, as far as they are written.
    fn is_meant(&self, mention: &Mention, file: &SourceFile) -> bool {
        if self.facts.is_closure || mention.form == Form::Closure {
            return self.facts.is_closure
                && mention.form == Form::Closure
                && self.file == file.name
                && self.lines.0 == mention.line;
        }
        if mention.name != self.name {
            return false;
        }
        match &mention.qualifier {
            _ if mention.form == Form::MethodCall => self.facts.self_kind != SelfKind::None,
            None => true,
            Some(written) => {
                matches!(&**written, "Self" | "self" | "super" | "crate")
                    || self.qualifiers.contains(written)
            }
        }
    }
}

/// A file, with the recorded functions in it.
struct SourceFile<'s> {
    name: String,
    sites: &'s [RecordedSite],
}

impl SourceFile<'_> {
    /// The innermost function with a hook around a line; of closures in one line, the first.
    fn function_at(&self, line: u32) -> Option<&RecordedSite> {
        self.sites
            .iter()
            .filter(|site| site.lines.0 <= line && line <= site.lines.1)
            .min_by_key(|site| (site.lines.1 - site.lines.0, &site.path))
    }
}

/// What the source shows.
#[derive(Default)]
struct Searched {
    /// The doors of each entry point.
    doors: Vec<BTreeSet<Door>>,
    /// The loops that take messages, by the function around them.
    messages: BTreeMap<SiteId, Vec<Message>>,
}

/// A place where messages are taken.
struct Message {
    file: String,
    line: u32,
    door: String,
}

fn search(by_file: &BTreeMap<String, Vec<RecordedSite>>, entries: &[Entry]) -> Searched {
    let mut searched =
        Searched { doors: vec![BTreeSet::new(); entries.len()], ..Searched::default() };
    let mut left = ALL_BYTES;
    for (name, sites) in by_file {
        let Some(text) = text_of(name, left) else { continue };
        let is_of_interest =
            ["recv", "Receiver", "channel", "bounded"].into_iter().any(|word| text.contains(word))
                || entries.iter().any(|entry| {
                    if entry.facts.is_closure {
                        entry.file == *name
                    } else {
                        text.contains(&entry.name)
                    }
                });
        if !is_of_interest {
            continue;
        }
        left -= text.len() as u64;
        let Some(parsed) = parse(&text) else { continue };
        let found = SourceVisitor::visit(&parsed);
        let file = SourceFile { name: name.clone(), sites };
        for mention in &found.mentions {
            for (entry, doors) in entries.iter().zip(&mut searched.doors) {
                doors.extend(entry.door(mention, &file));
            }
        }
        for (door, line) in found.receivers {
            if let Some(site) = file.function_at(line) {
                let message = Message { file: name.clone(), line, door };
                searched.messages.entry(site.id).or_default().push(message);
            }
        }
    }
    searched
}

/// The text of a file of at most so many bytes. The name comes from a recording, so it may be that
/// of anything: only a plain file is opened.
fn text_of(file: &str, most: u64) -> Option<String> {
    let most = BYTES.min(most);
    let bytes = files::read_beginning(Path::new(file), most).ok()?;
    let is_whole = (bytes.len() as u64) < most;
    String::from_utf8(bytes).ok().filter(|_| is_whole)
}

fn parse(text: &str) -> Option<syn::File> {
    let tokens = TokenStream::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).ok()?;
    // A parser is recursive.
    let is_flat = depth::is_at_most(tokens.clone(), DEPTH);
    if is_flat { syn::parse2(tokens).ok() } else { None }
}

/// The functions and methods with a hook, by their file.
fn functions_by_file(store: &Store) -> BTreeMap<String, Vec<RecordedSite>> {
    let mut by_file: BTreeMap<String, Vec<RecordedSite>> = BTreeMap::new();
    for site in store.sites() {
        let is_function = matches!(site.kind, SiteKind::Method | SiteKind::Async);
        if is_function && site.skipped.is_none() && !site.file.is_empty() {
            by_file.entry(site.file.clone()).or_default().push(site.clone());
        }
    }
    by_file
}

/// Those of the sites that have stored events.
fn called(store: &Store, sites: HashSet<SiteId>) -> HashSet<SiteId> {
    let mut called = HashSet::new();
    let most = sites.len();
    let scan = store.scan(Conditions { sites: Some(sites), ..Conditions::default() });
    let mut events = Vec::new();
    for part in 0..scan.parts() {
        if called.len() == most {
            break;
        }
        events.clear();
        scan.read(part, &mut events);
        called.extend(events.iter().map(|event| event.site));
    }
    called
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}
