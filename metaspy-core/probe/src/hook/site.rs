//! Sites: the places in the code that can emit, and the section of the program that holds them.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

use crate::{Adapter, NO_CELL};

/// The number of a site in its process; in a recording, in its site table. 20 bits, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// The kind of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum SiteKind {
    /// A method or a function.
    Method = 1,
    /// An async method or function: one event from first poll to completion or drop.
    Async = 2,
    /// Something that is announced.
    Announcement = 3,
    /// A production of a grammar.
    Production = 4,
    /// A tracing span or event.
    Span = 5,
    /// A state that is read or written.
    State = 6,
    /// A block of a profiler.
    Block = 7,
    /// A change of the model, reported by the domain.
    Change = 8,
    /// Something that is held: a lock. Its thread does other things meanwhile.
    Hold = 9,
}

impl SiteKind {
    /// Returns the kind with this number; a number that a later version added reads as a method.
    pub const fn from_byte(byte: u8) -> Self {
        match byte {
            2 => SiteKind::Async,
            3 => SiteKind::Announcement,
            4 => SiteKind::Production,
            5 => SiteKind::Span,
            6 => SiteKind::State,
            7 => SiteKind::Block,
            8 => SiteKind::Change,
            9 => SiteKind::Hold,
            _ => SiteKind::Method,
        }
    }

    /// Returns true if its thread does other things while its events last: events that are entered
    /// and left, such as futures, and held resources.
    pub const fn is_entered(self) -> bool {
        matches!(self, SiteKind::Async | SiteKind::Span | SiteKind::Hold)
    }

    /// The word that screens and filters use.
    pub const fn name(self) -> &'static str {
        match self {
            SiteKind::Method => "method",
            SiteKind::Async => "async",
            SiteKind::Announcement => "announcement",
            SiteKind::Production => "production",
            SiteKind::Span => "span",
            SiteKind::State => "state",
            SiteKind::Block => "block",
            SiteKind::Change => "change",
            SiteKind::Hold => "hold",
        }
    }
}

/// The static facts of a site, known when the program is built.
#[derive(Clone, Copy, Debug)]
pub struct SiteDef {
    /// Its kind.
    pub kind: SiteKind,
    /// The module that contains it, as `module_path!()` writes it.
    pub module: &'static str,
    /// The part of its path behind the module: `Scene::measure`, `Scene::Layout::measure` for
    /// `<Scene as Layout>::measure`.
    pub name: &'static str,
    /// The source file.
    pub file: &'static str,
    /// First and last line of the function.
    pub lines: (u32, u32),
    /// Why it cannot be observed; such a site is listed and never armed.
    pub skipped: Option<&'static str>,
}

/// A place in the code that can emit.
///
/// A `static` in a section of the program, one per source function whatever its type arguments. The
/// linker collects the sites of observed and of woven code there, the core of the program adopts
/// all of them, and sites that are made at run time have the same layout. The section's name
/// carries the version of that layout: a core leaves other versions alone.
#[repr(C)]
pub struct Site {
    /// 0 if the site is not armed. Nothing else of a hook runs then. Else 1, with the bit
    /// [`Site::COUNTS`] if a cell may count.
    #[doc(hidden)]
    pub arm: AtomicU64,
    /// The word that a thread's [`Cell`](crate::Cell) must hold if the thread counts a call by
    /// itself; where that word is [`NO_CELL`](crate::NO_CELL), no cell counts.
    #[doc(hidden)]
    pub counted: AtomicPtr<AtomicU64>,
    /// The site's number, [`SiteId`]; 0 before it is registered.
    #[doc(hidden)]
    pub id: AtomicU32,
    /// The place of its cell among a thread's cells, in bytes; 0 = it has none.
    #[doc(hidden)]
    pub cell: AtomicU32,
    /// The family that it belongs to; 0 = none.
    #[doc(hidden)]
    pub family: u32,
    /// The core that adopted it.
    #[doc(hidden)]
    pub adapter: AtomicPtr<Adapter>,
    /// The subjects that are recorded: 0 = none, all ones = every subject, else one bit for each
    /// hash of a subject.
    #[doc(hidden)]
    pub filter: AtomicU64,
    /// Number and modes, as the core packs them.
    #[doc(hidden)]
    pub config: AtomicU64,
    /// The row that counts calls without a subject, if calls are only counted; else
    /// [`NO_CELL`](crate::NO_CELL).
    #[doc(hidden)]
    pub tally: AtomicU64,
    /// The core's plan for requirements that the words above cannot express.
    #[doc(hidden)]
    pub plan: AtomicPtr<()>,
    kind: SiteKind,
    is_entry: bool,
    is_door: bool,
    has_context: bool,
    shows_objects: bool,
    lines: [u32; 2],
    module: &'static str,
    name: &'static str,
    file: &'static str,
    facts: &'static str,
    owner: Option<fn() -> &'static str>,
    skipped: &'static str,
}

/// The word of sites that no core adopted.
static NOT_COUNTED: AtomicU64 = AtomicU64::new(NO_CELL);

impl Site {
    /// A site. It must be registered to be armed: `#[observe]` and [`register!`](crate::register)
    /// do both.
    pub const fn new(def: SiteDef) -> Self {
        Site::with_facts(def, "")
    }

    /// A site with further facts: the words that a weaver wrote about a function.
    pub const fn with_facts(def: SiteDef, facts: &'static str) -> Self {
        Site {
            arm: AtomicU64::new(0),
            counted: AtomicPtr::new((&raw const NOT_COUNTED).cast_mut()),
            id: AtomicU32::new(0),
            cell: AtomicU32::new(0),
            family: 0,
            adapter: AtomicPtr::new(null_mut()),
            filter: AtomicU64::new(0),
            config: AtomicU64::new(0),
            tally: AtomicU64::new(NO_CELL),
            plan: AtomicPtr::new(null_mut()),
            kind: def.kind,
            is_entry: false,
            is_door: false,
            has_context: false,
            shows_objects: false,
            lines: [def.lines.0, def.lines.1],
            module: def.module,
            name: def.name,
            file: def.file,
            facts,
            owner: None,
            skipped: match def.skipped {
                Some(reason) => reason,
                None => "",
            },
        }
    }

    /// The site of an observed function: its facts as words, and the path of the type that it
    /// belongs to, as [`core::any::type_name`] prints it. Types without parameters have that path
    /// at compile time.
    pub const fn observed(
        def: SiteDef,
        facts: &'static str,
        owner: Option<fn() -> &'static str>,
    ) -> Self {
        Site { owner, ..Site::with_facts(def, facts) }
    }

    /// The site of a woven function, with the facts that the weaver wrote about it.
    pub const fn woven(
        module: &'static str,
        name: &'static str,
        file: &'static str,
        lines: (u32, u32),
        facts: &'static str,
    ) -> Self {
        let kind =
            if has_word(facts.as_bytes(), b"async") { SiteKind::Async } else { SiteKind::Method };
        let is_entry = has_word(facts.as_bytes(), b"entry");
        let has_context = has_word(facts.as_bytes(), b"context");
        let def = SiteDef { kind, module, name, file, lines, skipped: None };
        let shows_objects = has_word(facts.as_bytes(), b"covered");
        Site { is_entry, has_context, shows_objects, ..Site::with_facts(def, facts) }
    }

    /// No site of a program: the core leaves its adapter there for code that carries causes.
    pub(crate) const fn door() -> Self {
        let def = SiteDef {
            kind: SiteKind::Block,
            module: "",
            name: "",
            file: "",
            lines: (0, 0),
            skipped: None,
        };
        Site { is_door: true, ..Site::new(def) }
    }

    /// A site of a family.
    #[doc(hidden)]
    pub const fn in_family(family: u32, def: SiteDef) -> Self {
        Site { family, ..Site::new(def) }
    }

    /// In the arm word: threads may count calls by themselves.
    #[doc(hidden)]
    pub const COUNTS: u64 = 2;

    /// In the arm word: each call is an event, and nothing looks into it.
    #[doc(hidden)]
    pub const EVENTS: u64 = 4;

    /// In the arm word, beside [`Site::EVENTS`]: each of them is timed.
    #[doc(hidden)]
    pub const TIMED: u64 = 8;

    /// In the arm word: the filter has bits of some subjects only.
    #[doc(hidden)]
    pub const FILTERED: u64 = 16;

    /// True if threads may count calls by themselves.
    #[inline(always)]
    pub(crate) fn counts(&self) -> bool {
        self.arm.load(Ordering::Relaxed) & Self::COUNTS != 0
    }

    /// True if the site is armed: one relaxed load.
    #[inline(always)]
    pub fn is_armed(&self) -> bool {
        self.arm.load(Ordering::Relaxed) != 0
    }

    /// True if its hook only sees that calls begin: they can be counted, and nothing else of them
    /// can be recorded.
    pub const fn is_entry(&self) -> bool {
        self.is_entry
    }

    /// True if it only holds the adapter, and is listed nowhere.
    pub const fn is_door(&self) -> bool {
        self.is_door
    }

    /// True if such a hook also counts in calling contexts.
    pub const fn has_context(&self) -> bool {
        self.has_context
    }

    /// True if method profilers can see that calls begin at such a hook, and on which objects.
    pub const fn shows_objects(&self) -> bool {
        self.shows_objects
    }

    /// Its kind.
    pub const fn kind(&self) -> SiteKind {
        self.kind
    }

    /// Returns the facts that were known when the program was built.
    pub const fn def(&self) -> SiteDef {
        let skipped = if self.skipped.is_empty() { None } else { Some(self.skipped) };
        let kind = self.kind;
        let lines = (self.lines[0], self.lines[1]);
        SiteDef { kind, module: self.module, name: self.name, file: self.file, lines, skipped }
    }

    /// The facts of its function, as words; empty if they are unknown.
    #[cfg(not(metaspy_bare))]
    pub fn facts(&self) -> std::borrow::Cow<'static, str> {
        match self.owner {
            Some(owner) => std::format!(
                "{} owner={}",
                self.facts,
                without_arguments(owner()).replace("::r#", "::")
            )
            .into(),
            None => self.facts.into(),
        }
    }

    /// The path of its module, without the `r#` of raw names.
    #[cfg(not(metaspy_bare))]
    pub fn module_path(&self) -> std::borrow::Cow<'static, str> {
        if self.module.contains("::r#") {
            self.module.replace("::r#", "::").into()
        } else {
            self.module.into()
        }
    }

    /// Its path: module and name. A method of a type without a name is written as in Rust:
    /// `page::<[S] as Point>::nth`.
    #[cfg(not(metaspy_bare))]
    pub fn path(&self) -> std::string::String {
        let is_method = matches!(self.kind, SiteKind::Method | SiteKind::Async);
        let name = if is_method { crate::qualified(self.name) } else { self.name.into() };
        match &*self.module_path() {
            "" => name.into_owned(),
            module => std::format!("{module}::{name}"),
        }
    }

    /// The core that adopted it.
    #[inline]
    pub(crate) fn adapter(&self) -> Option<&'static Adapter> {
        // The adapter was stored before the word that arms the site.
        fence(Ordering::Acquire);
        // SAFETY: it is null, or a static of the core that adopted the site.
        unsafe { self.adapter.load(Ordering::Relaxed).as_ref() }
    }

    /// The row that counts calls without a subject, if calls are only counted.
    #[inline(always)]
    pub fn tally_row(&self) -> Option<u64> {
        Some(self.tally.load(Ordering::Relaxed)).filter(|&row| row != NO_CELL)
    }

    /// The word that a cell must hold; [`NO_CELL`] if no cell counts.
    #[inline(always)]
    pub(crate) fn counted(&self) -> u64 {
        // SAFETY: it points to `NOT_COUNTED`, to `tally` of this site, or to a static of the core:
        // all stay as long as the program.
        unsafe { (*self.counted.load(Ordering::Relaxed)).load(Ordering::Relaxed) }
    }
}

/// The path of a type without references, type arguments and further bounds, as one word.
#[cfg(not(metaspy_bare))]
fn without_arguments(type_name: &str) -> std::string::String {
    let name = type_name.trim_start_matches(['&', '*']);
    let name = ["mut ", "const ", "dyn "]
        .iter()
        .fold(name, |name, word| name.strip_prefix(word).unwrap_or(name));
    // A slice and a tuple are known by their elements.
    let end = if name.starts_with(['[', '(']) { None } else { name.find(['<', '+', ' ']) };
    name[..end.unwrap_or(name.len())].split_whitespace().collect()
}

/// True if a text contains a word, between spaces.
const fn has_word(text: &[u8], word: &[u8]) -> bool {
    let mut at = 0;
    while at + word.len() <= text.len() {
        let mut same = 0;
        while same < word.len() && text[at + same] == word[same] {
            same += 1;
        }
        let end = at + word.len();
        let is_whole =
            (at == 0 || text[at - 1] == b' ') && (end == text.len() || text[end] == b' ');
        if same == word.len() && is_whole {
            return true;
        }
        at += 1;
    }
    false
}

impl core::fmt::Debug for Site {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Site").field(&format_args!("{}::{}", self.module, self.name)).finish()
    }
}

/// Registers a site: puts the static into the section that the linker collects.
///
/// ```
/// use metaspy_probe::{Site, SiteDef, SiteKind};
///
/// metaspy_probe::register! {
///     static READ: Site = Site::new(SiteDef {
///         kind: SiteKind::Method,
///         module: module_path!(),
///         name: "read",
///         file: file!(),
///         lines: (line!(), line!()),
///         skipped: None,
///     });
/// }
/// assert!(!READ.is_armed());
/// ```
#[macro_export]
macro_rules! register {
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $site:expr;) => {
        $(#[$attribute])*
        #[used]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__metaspy_site_1,regular,no_dead_strip"))]
        #[cfg_attr(any(target_os = "windows", target_os = "uefi"), unsafe(link_section = ".mspy1$b"))]
        #[cfg_attr(
            not(any(target_vendor = "apple", target_os = "windows", target_os = "uefi", target_family = "wasm")),
            unsafe(link_section = "metaspy_site_1")
        )]
        $visible static $name: $crate::Site = {
            let site: $type = $site;
            site
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_woven_site_is_a_whole_word_of_its_facts() {
        let kind = |facts| Site::woven("a", "f", "a.rs", (1, 2), facts).def().kind;
        assert_eq!([kind("c=1 async"), kind("async"), kind("async c=1")], [SiteKind::Async; 3]);
        assert_eq!(
            [kind(""), kind("type=async"), kind("asyncs"), kind("c=1")],
            [SiteKind::Method; 4]
        );
    }

    #[test]
    fn an_observed_site_has_the_path_of_its_type() {
        let def = SiteDef {
            kind: SiteKind::Method,
            module: "a",
            name: "f",
            file: "a.rs",
            lines: (1, 2),
            skipped: None,
        };
        let facts = |owner: fn() -> &'static str| {
            Site::observed(def, "c=1", Some(owner)).facts().into_owned()
        };
        assert_eq!(facts(core::any::type_name::<std::vec::Vec<u8>>), "c=1 owner=alloc::vec::Vec");
        assert_eq!(
            facts(core::any::type_name::<&mut (dyn core::fmt::Debug + Send)>),
            "c=1 owner=core::fmt::Debug"
        );
        assert_eq!(facts(core::any::type_name::<[(u8, u16)]>), "c=1 owner=[(u8,u16)]");
        assert_eq!(Site::observed(def, "c=1", None).facts(), "c=1");
    }
}
