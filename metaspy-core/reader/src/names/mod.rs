//! Text of a recording. The arena is read once; later reads take only the additions.
//!
//! All text is sanitised here, and the size of the arena bounds its amount.

mod definition;
pub mod program;
pub mod relations;
pub(crate) mod sanitise;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{Ordering, fence};

use crate::names::program::{Program, RecordedView};
use crate::names::relations::Relations;
use crate::names::sanitise::string;
use metaspy_format::Words;
use metaspy_format::arena::{
    Entry, FoundEntry, unpack_nature, unpack_site, unpack_two_kinds, walk,
};
use metaspy_format::facts::{Facts, Returns};
use metaspy_format::layout::Layout;
use metaspy_format::profile::TableDef;
use metaspy_format::superblock as sb;
use metaspy_probe::{KindId, Subject};
use metaspy_probe::{SiteId, SiteKind, qualified, unqualified};

/// Site with its names and facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSite {
    /// Number of the site in this recording.
    pub id: SiteId,
    /// Kind of the site.
    pub kind: SiteKind,
    /// Module and name, joined by `::`.
    pub path: String,
    /// Source file.
    pub file: String,
    /// First and last line.
    pub lines: (u32, u32),
    /// Reason why the site cannot be observed; `None` if it can.
    pub skipped: Option<String>,
    /// Length of the module at the beginning of the path, in bytes; 0 = unknown.
    pub module: u32,
    /// Facts from the weaver or the macro, as words; empty if there are none.
    /// [`RecordedSite::facts()`] parses them.
    pub facts: String,
}

impl RecordedSite {
    fn read(id: SiteId, words: Words<'_>) -> Self {
        let (kind, lines, module) = unpack_site([words.get(0), words.get(1)]);
        let (path, next) = string(words, 2);
        let (file, next) = string(words, next);
        let (skipped, next) = string(words, next);
        let (facts, _) = string(words, next);
        RecordedSite {
            id,
            kind,
            path,
            file,
            lines,
            skipped: (!skipped.is_empty()).then_some(skipped),
            module,
            facts,
        }
    }

    /// Returns the module and the name, if the recording states the length of the module.
    pub fn module_and_name(&self) -> Option<(&str, &str)> {
        let module = self.path.get(..self.module as usize).filter(|module| !module.is_empty())?;
        Some((module, self.path[module.len()..].strip_prefix("::")?))
    }

    /// Returns the path with the type arguments of its `impl`, which distinguish it from other
    /// sites of the same path.
    pub fn path_with_arguments(&self) -> String {
        // Only these facts differ from the path, and a recording has many sites.
        let facts = self.facts.contains("args=").then(|| self.facts()).flatten();
        let Some(facts) = facts else { return self.path.clone() };
        let path = facts.path_with_arguments();
        let name = if facts.module.is_empty() { 0 } else { facts.module.len() + "::".len() };
        format!("{}{}", &path[..name], qualified(&path[name..]))
    }

    /// Returns true if calls on objects are counted without them: hooks of woven methods that only
    /// count do not look at the receiver.
    pub fn counts_without_subjects(&self) -> bool {
        let receiver = self.facts.split(' ').find_map(|word| word.strip_prefix("self="));
        // An object that is passed by value has no address.
        receiver.is_some_and(|receiver| ["ref", "mut", "other"].contains(&receiver))
    }

    /// Returns false if the hook sees only that calls begin. Then outcomes are unknown, and their
    /// numbers must not be read as zero.
    pub fn knows_outcomes(&self) -> bool {
        !self.facts.split(' ').any(|word| word == "entry")
    }

    /// Returns false if the hook does not see whether a call that returned has failed: it sees only
    /// that calls begin, or does not see their return values.
    pub fn sees_failures(&self) -> bool {
        self.knows_outcomes() && !self.facts.split(' ').any(|word| word == "unseen")
    }

    /// Returns the word for a failed call of the site: `none`, `err`, or `failed` if its return
    /// type is not known.
    pub fn failure(&self) -> &'static str {
        Returns::of_words(&self.facts).failure()
    }

    /// Returns the parsed facts of the function; `None` if the recording has none.
    pub fn facts(&self) -> Option<Facts> {
        let (module, name) = self.module_and_name().filter(|_| !self.facts.is_empty())?;
        Some(Facts::parse(module, &unqualified(name), &self.file, self.lines, &self.facts))
    }
}

/// Kind of subjects, with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedKind {
    /// Number of the kind in this recording.
    pub id: KindId,
    /// Name, usually the path of a type.
    pub name: String,
    /// True if the keys are addresses. The subjects are then places in memory.
    pub place: bool,
    /// True if a key is the same subject in every process.
    pub across: bool,
    /// Process of the kind, if this recording is merged and other processes have a kind of this
    /// name too.
    pub process: String,
}

impl RecordedKind {
    /// Returns the name, with the process if it is set: `server/NodeId`.
    pub fn whole_name(&self) -> String {
        if self.process.is_empty() {
            self.name.clone()
        } else {
            format!("{}/{}", self.process, self.name)
        }
    }

    /// Returns the last segment of the name. The parameters of a type belong to it:
    /// `Mutex<alloc::string::String>`.
    pub fn short_name(&self) -> &str {
        let end = self.name.find(['<', '(', '[', '&']).unwrap_or(self.name.len());
        self.name[..end].rfind("::").map_or(&self.name, |at| &self.name[at + 2..])
    }

    /// Returns true if a filter's name selects this kind: the whole name, the last segment, or
    /// either after `process/`.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let named = |name: &str| self.name == name || self.short_name() == name;
        let of_process = match name.split_once('/') {
            Some((process, name)) => !process.is_empty() && process == self.process && named(name),
            None => false,
        };
        named(name) || of_process
    }
}

/// Epoch, and the installation that began it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEpoch {
    /// Number of the epoch.
    pub epoch: u32,
    /// Tick at which the epoch began.
    pub tick: u64,
    /// Description of the profiler that was installed or uninstalled.
    pub text: String,
}

/// Content of the arena.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Number of words of the arena that have been read.
    used: usize,
    /// Part of the statements that has been read.
    stated: Stated,
    pub sites: Vec<RecordedSite>,
    /// Index in `sites` plus 1, by the number of the site; 0 = unknown.
    site_at: Vec<u32>,
    pub kinds: HashMap<KindId, RecordedKind>,
    pub views: Vec<RecordedView>,
    pub program: Program,
    pub notes: Vec<String>,
    pub epochs: Vec<RecordedEpoch>,
    /// Rules that say which events are kept, by their numbers.
    pub keeps: BTreeMap<u32, String>,
    pub lanes: HashMap<u32, String>,
    /// Declarations of profile tables, by number.
    pub tables: BTreeMap<u32, TableDef>,
    /// Sentence about the unreadable part, if there is one.
    pub damage: Option<String>,
    pub labels: HashMap<Subject, String>,
    pub relations: Relations,
    pub ended: HashMap<Subject, u64>,
}

/// Part of the statements that has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stated {
    /// Number of turns when they were read.
    turn: u64,
    /// Number of words in the half of this turn.
    used: usize,
}

impl Stated {
    /// Returns the extent of all present statements.
    fn now(words: Words<'_>, layout: &Layout) -> Self {
        let turn = words.acquire(sb::STATEMENTS_TURN);
        let used = words.acquire(sb::STATEMENTS_USED + (turn % 2) as usize);
        Stated {
            turn,
            used: usize::try_from(used).unwrap_or(usize::MAX).min(layout.half(turn).len),
        }
    }
}

/// Maximum number of attempts to read statements that move during the reading.
const TRIES: usize = 3;

/// Limit of the numbers of sites, which have 20 bits.
const SITE_LIMIT: usize = 1 << 20;

impl Names {
    /// Reads the additions to the arena. Returns true if there were any.
    pub fn read_on(&mut self, words: Words<'_>, layout: &Layout) -> bool {
        let arena = layout.arena.of(words);
        let promised = words.acquire(sb::ARENA_USED);
        let end = usize::try_from(promised).unwrap_or(usize::MAX).min(arena.len());
        let before = (self.used, self.stated);
        if self.damage.is_none() {
            self.used = walk(arena, self.used, end, |found| self.entry(found));
            if self.used < end {
                self.damage =
                    Some(format!("names: unreadable from word {} of {promised} on", self.used));
            }
        }
        for _ in 0..TRIES {
            let now = Stated::now(words, layout);
            self.read_statements(words, layout, now);
            fence(Ordering::Acquire);
            if words.get(sb::STATEMENTS_TURN) == now.turn {
                break;
            }
            // The half may have been overwritten, so the statements read from it are discarded.
            self.forget_statements(u64::MAX);
        }
        (self.used, self.stated) != before
    }

    fn read_statements(&mut self, words: Words<'_>, layout: &Layout, now: Stated) {
        if self.stated.turn != now.turn {
            self.forget_statements(now.turn);
        }
        self.stated.used =
            walk(layout.half(now.turn).of(words), self.stated.used, now.used, |found| {
                self.entry(found)
            });
        if self.stated.used < now.used {
            let at = self.stated.used;
            let end = now.used;
            self.damage.get_or_insert_with(|| {
                format!("labels and relations: unreadable from word {at} of {end} on")
            });
            self.stated.used = end;
        }
    }

    /// Starts anew with the statements of a turn.
    fn forget_statements(&mut self, turn: u64) {
        self.stated = Stated { turn, used: 0 };
        self.labels.clear();
        self.relations = Relations::default();
        self.ended.clear();
    }

    /// Returns true if there are additions that have not been read.
    pub(crate) fn is_behind(&self, words: Words<'_>, layout: &Layout) -> bool {
        self.damage.is_none() && words.acquire(sb::ARENA_USED) > self.used as u64
            || self.stated != Stated::now(words, layout)
    }

    /// Returns the site with this number.
    pub fn site(&self, id: SiteId) -> Option<&RecordedSite> {
        let at = *self.site_at.get(id.0 as usize)? as usize;
        self.sites.get(at.checked_sub(1)?)
    }

    /// Returns the whole name of a lane's thread, if the name is too long for the lane's row.
    pub fn lane(&self, lane: u32) -> Option<&str> {
        self.lanes.get(&lane).map(String::as_str)
    }

    fn entry(&mut self, FoundEntry { entry, a, words, .. }: FoundEntry<'_>) {
        let Some(entry) = entry else { return };
        let text = |at| string(words, at).0;
        let kind = KindId(a as u16);
        match entry {
            Entry::Site => self.site_entry(a, words),
            Entry::Kind => {
                let (name, next) = string(words, 1);
                let (place, across) = unpack_nature(words.get(0));
                self.kinds.insert(
                    kind,
                    RecordedKind { id: kind, name, place, across, process: text(next) },
                );
            }
            Entry::Label => {
                self.labels.insert(Subject::new(kind, words.get(0)), text(1));
            }
            Entry::Relation | Entry::Unrelation => {
                let (from, to) = unpack_two_kinds(a);
                let from = Subject::new(from, words.get(0));
                let to = Subject::new(to, words.get(1));
                match entry {
                    Entry::Relation => self.relations.add(text(2), from, to),
                    _ => self.relations.remove(&text(2), from, to),
                }
            }
            Entry::View => self.view_entry(a, words),
            Entry::Ended => {
                self.ended.insert(Subject::new(kind, words.get(0)), words.get(1));
            }
            Entry::Program => {
                if let Some(program) = Program::parse(&text(0)) {
                    self.program = program;
                }
            }
            Entry::Note => self.notes.push(text(0)),
            Entry::Epoch => {
                self.epochs.push(RecordedEpoch { epoch: a, tick: words.get(0), text: text(1) })
            }
            Entry::Lane => {
                self.lanes.insert(a, text(0));
            }
            Entry::Table => {
                if let Some(def) = definition::parse(&text(0)) {
                    self.tables.insert(a, def);
                }
            }
            Entry::Keep => {
                self.keeps.insert(a, text(0));
            }
        }
    }

    fn site_entry(&mut self, number: u32, words: Words<'_>) {
        if number as usize >= SITE_LIMIT {
            return;
        }
        let site = RecordedSite::read(SiteId(number), words);
        let number = number as usize;
        if self.site_at.len() <= number {
            self.site_at.resize(number + 1, 0);
        }
        match self.site_at[number] {
            0 => {
                self.sites.push(site);
                self.site_at[number] = self.sites.len() as u32;
            }
            at => self.sites[at as usize - 1] = site,
        }
    }

    fn view_entry(&mut self, number: u32, words: Words<'_>) {
        let Some(view) = RecordedView::parse(number, &string(words, 0).0) else { return };
        match self.views.iter().position(|known| known.epoch == number) {
            Some(known) => self.views[known] = view,
            None if self.views.len() < VIEWS_MAX => self.views.push(view),
            None => {}
        }
    }
}

/// Maximum number of views, so that a search among them stays short.
const VIEWS_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use metaspy_format::arena::{push_text, site_words};

    /// Parses the entry of a site with these words and texts.
    fn site(module: u32, texts: &[&str]) -> RecordedSite {
        let mut words = site_words(SiteKind::Method, (3, 9), module).to_vec();
        texts.iter().for_each(|text| push_text(&mut words, text));
        let words: Vec<AtomicU64> = words.into_iter().map(AtomicU64::new).collect();
        RecordedSite::read(SiteId(1), Words::from_slice(&words))
    }

    #[test]
    fn facts_of_a_weaver_are_read() {
        let site =
            site(4, &["a::b::Scene::measure", "src/b.rs", "", "c=4 self=ref type=Scene vis=pub"]);
        assert_eq!(site.module_and_name(), Some(("a::b", "Scene::measure")));
        let facts = site.facts().expect("it was woven");
        assert_eq!(
            (facts.module.as_str(), facts.of_type.as_deref(), facts.name.as_str()),
            ("a::b", Some("Scene"), "measure")
        );
        assert_eq!((facts.complexity, facts.lines, facts.file.as_str()), (4, (3, 9), "src/b.rs"));
    }

    #[test]
    fn an_older_recording_has_no_facts() {
        let site = site(0, &["a::b::Scene::measure", "src/b.rs", "skipped"]);
        assert_eq!(
            (site.path.as_str(), site.lines, site.skipped.as_deref()),
            ("a::b::Scene::measure", (3, 9), Some("skipped"))
        );
        assert_eq!((site.facts.as_str(), site.facts(), site.module_and_name()), ("", None, None));
    }

    #[test]
    fn no_module_is_longer_than_its_path() {
        for module in [3, 5, 12, 13, 400, u32::MAX] {
            let site = site(module, &["a::bö::c::d", "", "", "c=1"]);
            assert_eq!((site.module_and_name(), site.facts()), (None, None), "{module}");
        }
    }

    #[test]
    fn the_short_name_of_a_kind_has_the_parameters_of_its_type() {
        let short = |name: &str| {
            let name = name.to_owned();
            let process = String::new();
            RecordedKind { id: KindId(1), name, place: false, across: false, process }
                .short_name()
                .to_owned()
        };
        assert_eq!(short("NodeId"), "NodeId");
        assert_eq!(short("page::tools::Brush"), "Brush");
        assert_eq!(
            short("std::sync::Mutex<alloc::string::String>"),
            "Mutex<alloc::string::String>"
        );
        assert_eq!(short("[page::Brush]"), "[page::Brush]");
    }
}
