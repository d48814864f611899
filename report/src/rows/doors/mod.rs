//! Doors: the calls that work goes through and a chain of causes does not.
//!
//! A closure, a future or a function that is given to a call runs where and when that call decides:
//! in a pool, an executor, a list of callbacks. A message is taken by a loop that has a cause of
//! its own. A recording shows neither, but the source does. Names are compared, and not types, so a
//! door is one that the calls may have come through.

mod callee;
mod names;
mod outline;
#[cfg(test)]
mod tests;
mod visitor;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::str::FromStr;

use metaspy_format::facts::{Facts, SelfKind};
use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{self as store, DetailLevel, RecordedSite, Scope, Store, files};
use metaspy_syntax::{depth, source};
use proc_macro2::TokenStream;
use serde::Serialize;

use crate::text::last_segment;
use callee::Called;
use outline::Definition;
use visitor::{Form, Mention, SourceVisitor, Wanted};

/// Maximum size of a source file, in bytes. A larger one is not searched.
const BYTES: u64 = 4 << 20;
/// Maximum size of all files together.
const ALL_BYTES: u64 = 256 << 20;
/// Words one of which a file with a message loop contains.
const CHANNEL_WORDS: [&str; 4] = ["recv", "Receiver", "channel", "bounded"];
/// Maximum number of doors of an entry point.
const DOORS: usize = 1_000;

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

/// A loop that takes messages from a channel, a socket or the like. What they lead to has the cause
/// of the loop, and not that of the sender.
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
    /// Files that cannot be read, or have changed since they were recorded.
    pub unsearched_files: BTreeSet<String>,
}

/// Searches the source of all recorded functions for the doors of these sites.
pub(super) fn search(store: &Store, entry_points: &[SiteId]) -> Searched {
    let scope = Scope { detail: DetailLevel::Counts, ..Scope::default() };
    let called = store.tally(store::By::Site, &scope).rows.into_iter().filter_map(|row| row.site);
    let called: HashSet<SiteId> = called.collect();
    let mut by_file: BTreeMap<&str, RecordedFile> = BTreeMap::new();
    for site in store.sites() {
        let is_function = matches!(site.kind, SiteKind::Method | SiteKind::Async);
        if !is_function || site.skipped.is_some() || site.file.is_empty() {
            continue;
        }
        let file = by_file.entry(&site.file).or_default();
        file.sites.push(site);
        if called.contains(&site.id) {
            file.observed.push(site);
        }
    }
    let site = |id: &SiteId| store.site(*id).expect("an entry point is a known function");
    let entries: Vec<Entry> = entry_points.iter().map(|id| Entry::new(site(id))).collect();
    source::with_deep_stack(|depth| {
        let mut searched =
            Searched { doors: vec![BTreeSet::new(); entries.len()], ..Searched::default() };
        let mut left = ALL_BYTES;
        for (name, file) in &by_file {
            let is_searched = text_of(name, &mut left)
                .is_some_and(|text| search_file(name, file, &text, depth, &entries, &mut searched));
            if !is_searched {
                searched.unsearched_files.insert((*name).to_owned());
            }
            // The texts of the spans are no longer needed.
            proc_macro2::extra::invalidate_current_thread_spans();
        }
        searched
    })
}

/// Adds what a file shows. Returns false if it is no Rust, or not the file that was recorded.
fn search_file(
    name: &str,
    file: &RecordedFile<'_>,
    text: &str,
    depth: usize,
    entries: &[Entry],
    searched: &mut Searched,
) -> bool {
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if !entry.facts.is_closure {
            by_name.entry(&entry.name).or_default().push(at);
        } else if entry.file == name {
            // A closure has no name.
            by_name.entry("").or_default().push(at);
        }
    }
    let wanted =
        Wanted { names: by_name.keys().copied().collect(), closures: by_name.contains_key("") };
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let is_of_interest = wanted.closures
        || CHANNEL_WORDS.into_iter().any(|word| text.contains(word))
        || words.any(|word| wanted.names.contains(word));
    if !is_of_interest {
        return true;
    }
    let Some(parsed) = parse(text, depth) else { return false };
    let found = SourceVisitor::visit(&parsed, &wanted);
    if !file.is_as_recorded(&found.definitions) {
        return false;
    }
    let free: HashSet<&str> =
        found.definitions.iter().filter(|one| one.is_free).map(|one| &*one.name).collect();
    for mention in &found.mentions {
        for &at in by_name.get(&*mention.name).into_iter().flatten() {
            let entry = &entries[at];
            // A function of this file has the name.
            let is_hidden = entry.file != name && free.contains(&*mention.name);
            if searched.doors[at].len() < DOORS && entry.is_meant(mention, is_hidden) {
                searched.doors[at].extend(entry.door(mention, name, file));
            }
        }
    }
    for receive in found.receives {
        if let Some(site) = file.function_at(receive.line, None) {
            searched.message_loops.insert(MessageLoop {
                site: site.path_with_arguments(),
                door: receive.call,
                file: name.to_owned(),
                line: receive.line,
            });
        }
    }
    true
}

/// An entry point, as the source names it.
struct Entry {
    id: SiteId,
    file: String,
    lines: (u32, u32),
    /// The last part of its name.
    name: String,
    /// The names of its type, its trait and its module, one of which may stand before its name.
    qualifiers: Vec<String>,
    facts: Facts,
}

impl Entry {
    fn new(site: &RecordedSite) -> Entry {
        let facts = site.facts().unwrap_or_default();
        let module = last_segment(&facts.module).to_owned();
        let qualifiers = [facts.of_type.clone(), facts.of_trait.clone(), Some(module)];
        Entry {
            id: site.id,
            file: site.file.clone(),
            lines: site.lines,
            name: last_segment(&site.path).to_owned(),
            qualifiers: qualifiers.into_iter().flatten().collect(),
            facts,
        }
    }

    /// Returns true if the written path can name this function. It is hidden if another function
    /// has its name there.
    fn is_meant(&self, mention: &Mention, is_hidden: bool) -> bool {
        let is_free = self.facts.of_type.is_none() && self.facts.of_trait.is_none();
        match mention.form {
            Form::Closure => self.facts.is_closure && self.lines.0 == mention.line,
            Form::MethodCall => self.facts.self_kind != SelfKind::None,
            Form::Path | Form::Call => match mention.qualifier.as_deref() {
                None | Some("self") => is_free && !is_hidden,
                Some("super" | "crate") => is_free,
                Some(written) => self.qualifiers.iter().any(|qualifier| qualifier == written),
            },
        }
    }

    /// The call that is given this function at a place that names it, or else the place itself, if
    /// calls of it begin there without a recorded cause.
    fn door(&self, mention: &Mention, name: &str, file: &RecordedFile<'_>) -> Option<Door> {
        let door = match mention.form {
            Form::Path | Form::Closure => Some(mention.argument_of.as_ref()?),
            Form::Call | Form::MethodCall => {
                // The value of an async function's call is a future.
                let given = mention.argument_of.as_ref().filter(|_| self.facts.is_async);
                given.or(mention.deferred_by.as_ref())
            }
        };
        // Inside a closure that is given to nothing.
        if door.is_none() && mention.is_deferred {
            return None;
        }
        let keeps_cause = door.is_none_or(Called::keeps_cause);
        if keeps_cause && file.function_at(mention.line, Some(self.id)).is_some() {
            return None;
        }
        Some(Door {
            file: name.to_owned(),
            line: door.map_or(mention.line, |called| called.line),
            door: door.map(|called| called.name.to_string()),
            within: mention.within.to_string(),
        })
    }
}

/// The functions of a file that have sites.
#[derive(Default)]
struct RecordedFile<'s> {
    sites: Vec<&'s RecordedSite>,
    /// Those of them that were called.
    observed: Vec<&'s RecordedSite>,
}

impl RecordedFile<'_> {
    /// The innermost observed function around a line, but for this one; of closures in one line,
    /// the first.
    fn function_at(&self, line: u32, but: Option<SiteId>) -> Option<&RecordedSite> {
        self.observed
            .iter()
            .filter(|site| site.lines.0 <= line && line <= site.lines.1 && Some(site.id) != but)
            .min_by_key(|site| (site.lines.1 - site.lines.0, &site.path))
            .copied()
    }

    /// True if most functions stand where they were recorded. Those that a macro makes stand
    /// nowhere.
    fn is_as_recorded(&self, definitions: &[Definition]) -> bool {
        let mut lines: HashMap<&str, BTreeSet<u32>> = HashMap::new();
        for Definition { name, line, .. } in definitions {
            lines.entry(name).or_default().insert(*line);
        }
        let stands = |site: &RecordedSite| {
            let (first, last) = site.lines;
            let of_name = lines.get(last_segment(&site.path));
            first <= last && of_name.is_some_and(|lines| lines.range(first..=last).next().is_some())
        };
        let named: Vec<_> = self.sites.iter().filter(|site| !site.path.ends_with('}')).collect();
        named.iter().filter(|site| stands(site)).count() * 2 >= named.len()
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
