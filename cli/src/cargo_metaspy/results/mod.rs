//! The results of a run: the woven functions, and the program with its numbers from all processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use metaspy_core::{SiteId, SiteKind, Store};
use metaspy_reader::{Filter, Measure, RecordedSite};
use metaspy_report::contexts::Contexts;
use metaspy_report::coverage::{Comparison, Run};
use metaspy_report::program::Builder;
use metaspy_report::types::{self, Types};
use metaspy_weave::plan::Plan;
use metaspy_weave::source::Facts;
use metaspy_weave::wrapper::{
    EarlierLists, Left, Listing, Method, SharedLibrary, Uncarried, listings,
};

use crate::cargo_metaspy::recordings::Recordings;

/// The woven functions, by package, and the selected ones without a hook.
#[derive(Debug, Default)]
pub struct Woven {
    /// Packages, and the number of functions with a hook in each of them.
    pub packages: BTreeMap<String, usize>,
    /// Selected functions without a hook.
    pub skipped: BTreeSet<Left>,
    /// Functions whose hook sees less than was requested.
    pub light: BTreeSet<Left>,
    /// Calls that spawn work without its cause.
    pub uncarried: BTreeSet<Uncarried>,
    /// Calls of macros in the place of items. The functions that they generate have no hook.
    pub macros: usize,
    /// Derived traits. Their functions have no hook.
    pub derives: usize,
    /// True if the plan selects functions of a crate.
    pub has_selected: bool,
    /// True if this build compiled a crate that it weaves.
    pub is_new: bool,
}

/// Hooks that the compiler refuses.
#[derive(Debug)]
pub struct Refused<'w> {
    /// The functions.
    pub paths: Vec<&'w str>,
    /// The compiler's message.
    pub message: Option<&'w str>,
    /// The option that asked for these hooks, if it names them or their subject.
    pub asked_by: Option<&'w str>,
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct Results {
    /// The woven functions.
    pub woven: Woven,
    /// The program. If nothing ran, it has the woven functions without numbers.
    pub run: Run,
    /// The calling contexts of all processes, if they were recorded.
    pub contexts: Option<Contexts>,
    /// The types that arrived.
    pub types: Types,
    /// The comparison with an earlier run, if it is requested.
    pub comparison: Option<Comparison>,
}

impl Results {
    /// Reads the lists of functions that this plan wove, except lists that are outdated and were
    /// not written by the build, and the recordings.
    pub fn read(plan: &Plan, earlier: &EarlierLists, run: Option<&Recordings>) -> Results {
        let has_selected = plan.targets.values().any(|target| target.is_woven);
        let mut woven = Woven { has_selected, ..Woven::default() };
        let mut methods = BTreeSet::new();
        let mut libraries = SharedLibraries::default();
        for (file, listing) in listings(&plan.dir) {
            if is_current(plan, &listing) && !earlier.is_outdated(&file) {
                woven.is_new |= !earlier.has(&file);
                libraries.add(&listing);
                woven.add(listing, &mut methods);
            }
        }
        let (run, contexts, types) = match run {
            Some(recordings) => recorded(recordings, &libraries),
            None => (without_numbers(&methods), None, Types::default()),
        };
        Results { woven, run, contexts, types, comparison: None }
    }
}

impl Woven {
    /// The hooks that the compiler refuses, together if it gives the same message.
    pub fn refused(&self) -> Vec<Refused<'_>> {
        let is_refused = |left: &&Left| left.is_refused() || left.asked_by.is_some();
        let mut all: Vec<Refused<'_>> = Vec::new();
        for Left { method, message, asked_by, .. } in
            self.skipped.iter().chain(&self.light).filter(is_refused)
        {
            let message = message.as_deref();
            let asked_by = asked_by.as_deref();
            match all
                .iter_mut()
                .find(|other| other.message == message && other.asked_by == asked_by)
            {
                Some(other) => other.paths.push(&method.path),
                None => all.push(Refused { paths: vec![&method.path], message, asked_by }),
            }
        }
        all
    }

    fn add(&mut self, listing: Listing, methods: &mut BTreeSet<Method>) {
        let before = methods.len();
        methods.extend(listing.woven);
        if methods.len() > before {
            *self.packages.entry(listing.package).or_default() += methods.len() - before;
            self.macros += listing.macros;
            self.derives += listing.derives;
        }
        self.skipped.extend(listing.skipped);
        self.light.extend(listing.light);
        self.uncarried.extend(listing.uncarried);
    }
}

/// The shared libraries of a build. Programs load them while they run, or never, so no recording
/// may have their functions.
#[derive(Default)]
struct SharedLibraries {
    /// The functions of those whose calls are counted if a program loads them.
    methods: BTreeSet<Method>,
    /// The packages of those without a core.
    without_core: BTreeSet<String>,
}

impl SharedLibraries {
    fn add(&mut self, listing: &Listing) {
        match listing.shared_library {
            SharedLibrary::None => {}
            SharedLibrary::Counting => self.methods.extend(listing.woven.iter().cloned()),
            SharedLibrary::WithoutCore if listing.woven.is_empty() => {}
            SharedLibrary::WithoutCore => {
                _ = self.without_core.insert(listing.package.replace('@', " "))
            }
        }
    }

    fn doubts(&self) -> impl Iterator<Item = String> {
        self.without_core.iter().map(|package| {
            format!("calls in the shared library of {package} are not counted: it has no core")
        })
    }
}

/// The program of the recordings, their calling contexts, and the types that arrived.
fn recorded(
    recordings: &Recordings,
    libraries: &SharedLibraries,
) -> (Run, Option<Contexts>, Types) {
    let files = recordings.recordings();
    let doubts = recordings.uncounted().into_iter().chain(libraries.doubts()).collect();
    let mut run = Run { doubts, ..Run::default() };
    // A process has a recording for each shared library with a core, and for each file of a
    // rotation.
    let mut processes = BTreeSet::new();
    let mut unreadable = 0;
    let mut builder = Builder::new();
    let mut contexts = None::<Contexts>;
    let mut stores = Vec::new();
    for path in files {
        match Store::open(&path) {
            Ok(store) => {
                if let Some(read) = Contexts::read(&store) {
                    contexts.get_or_insert_default().merge(&read);
                }
                processes.insert((store.header().pid, store.program().started_ns));
                let missing = store.missing().first();
                run.unread.extend(missing.map(|what| format!("a recording is damaged: {what}")));
                if !builder.add_recording(&store, &Filter::all()) {
                    run.doubts
                        .push(format!("the counts of {} may be too low", store.program().name));
                }
                // Without it, the types behind trait objects are known until the program is built
                // again.
                let _ = types::keep(&path, &store);
                stores.push(store);
            }
            Err(error) => {
                unreadable += 1;
                run.unread.push(format!("a recording cannot be read: {error}"));
            }
        }
    }
    for name in recordings.unrecorded() {
        run.unread.push(format!(
            "`{name}` ran and its calls are not counted: the program that started it did not pass on METASPY_RECORD, \
             METASPY_DIR and METASPY_RUN"
        ));
    }
    run.doubts.extend(run.unread.iter().cloned());
    run.processes = Some(processes.len() + unreadable);
    for (number, method) in (1..).zip(&libraries.methods) {
        builder.add_site(&site(number, method), &Measure::default());
    }
    run.program = builder.build();
    run.doubts.extend(run.program.profiles.doubts());
    (run, contexts, Types::read(&stores))
}

/// The program as it was woven, without a recording.
fn without_numbers(methods: &BTreeSet<Method>) -> Run {
    let mut builder = Builder::new();
    for (number, method) in (1..).zip(methods) {
        builder.add_site(&site(number, method), &Measure::default());
    }
    Run { program: builder.build(), ..Run::default() }
}

/// The site that a recording would contain for a woven function.
fn site(number: u32, method: &Method) -> RecordedSite {
    let facts = Facts {
        complexity: method.complexity,
        self_kind: method.receiver,
        of_type: method.ty.clone(),
        of_trait: method.of_trait.clone(),
        type_arguments: method.type_arguments.clone(),
        trait_arguments: method.trait_arguments.clone(),
        supertraits: method.supertraits.clone(),
        visibility: method.seen,
        is_async: method.is_async,
        is_closure: method.is_closure,
        is_test: method.is_test,
        is_test_only: method.is_test_only,
        ..Facts::default()
    };
    RecordedSite {
        id: SiteId(number),
        kind: if method.is_async { SiteKind::Async } else { SiteKind::Method },
        path: method.path.clone(),
        file: method.file.clone(),
        lines: (method.line, (method.line + method.lines).saturating_sub(1)),
        skipped: None,
        module: method.module.len() as u32,
        facts: facts.to_string(),
    }
}

fn is_current(plan: &Plan, listing: &Listing) -> bool {
    let root = fs::canonicalize(&listing.root).unwrap_or_else(|_| listing.root.clone());
    plan.targets.get(&root).is_some_and(|target| target.stamp == listing.stamp)
}
