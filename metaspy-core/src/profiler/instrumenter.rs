//! The contract of all instrumenters: install into a domain, and return a guard that uninstalls.

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use crate::arm::{self, Arming, Group, Mode, SitePattern, Subjects};
use crate::method_profilers::{Block, Observer};
use crate::profiler::InstallError;
use crate::select::Selector;
use crate::site::{self, Family, Site, SiteEntry, SiteId, SiteKind};
use crate::store::Members;
use crate::subject::Subject;

/// An instrumentation strategy: it installs hooks into a domain, and removes them (MetaSpy, section
/// 3.2).
///
/// Users write their own instrumenters with this trait; those of metaspy use nothing else.
///
/// ```
/// use metaspy_core::{Installation, InstallError, Instrumenter, Session};
/// use metaspy_core::arm::{Arming, Mode};
///
/// /// Observes every site whose path ends in `::save`.
/// struct Saves;
///
/// impl Instrumenter for Saves {
///     fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
///         let selector = "**::save".parse()?;
///         session.arm_matching(&selector, &Arming::all(Mode::Full))?;
///         Ok(Installation::none())
///     }
/// }
/// ```
pub trait Instrumenter: Send + 'static {
    /// Installs the hooks. The session disarms the sites that were armed through it; the returned
    /// [`Installation`] removes everything else.
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError>;
}

/// The result of an instrumenter: dropping it undoes the changes of the instrumenter to its domain.
#[derive(Default)]
pub struct Installation {
    guard: Option<Box<dyn Any + Send>>,
    /// Runs while all sites are still armed.
    before_uninstall: Option<Box<dyn FnOnce() + Send>>,
}

impl Installation {
    /// An installation that only armed sites through the session.
    pub fn none() -> Self {
        Installation::default()
    }

    /// An installation with a guard that uninstalls when it is dropped.
    pub fn with_guard(guard: impl Any + Send) -> Self {
        Installation { guard: Some(Box::new(guard)), before_uninstall: None }
    }

    /// Adds an action that runs before the profiler's sites are disarmed, for events that are still
    /// on their way.
    pub fn before_uninstall(mut self, action: impl FnOnce() + Send + 'static) -> Self {
        self.before_uninstall = Some(Box::new(action));
        self
    }

    pub(crate) fn run_before_uninstall(&mut self) {
        if let Some(action) = self.before_uninstall.take() {
            action();
        }
    }
}

impl fmt::Debug for Installation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Installation({})", if self.guard.is_some() { "guard" } else { "none" })
    }
}

/// The handle of one installation: it arms sites for its profiler.
pub struct Session {
    profiler: u64,
    handlers: Vec<crate::hook::Handler>,
    armed: Vec<(SiteId, Subjects)>,
    /// The block that the profiler is installed around. Calls that would only be counted become
    /// events then.
    block: Option<Arc<Block>>,
    standing: Vec<Standing>,
    method_profilers: Vec<Arc<dyn Observer>>,
}

/// The sites that match a pattern, later ones included: those behind the first `known`.
#[derive(Clone)]
struct Standing {
    pattern: SitePattern,
    subjects: Subjects,
    known: usize,
}

impl Standing {
    /// True if the pattern matches a site that came later, for a subject.
    fn means(&self, site: SiteId, subject: Option<Subject>) -> bool {
        site::by_id(site).is_some_and(|site| self.pattern.matches(site))
            && match (&self.subjects, subject) {
                (Subjects::All, _) => true,
                (_, None) => false,
                (Subjects::Only(subjects), Some(subject)) => subjects.contains(&subject),
                (Subjects::Group(group), Some(subject)) => group.had(subject),
            }
    }
}

impl Session {
    pub(crate) fn new(profiler: u64) -> Self {
        site::provide(crate::hook::adapter());
        Session {
            profiler,
            handlers: Vec::new(),
            armed: Vec::new(),
            standing: Vec::new(),
            block: None,
            method_profilers: Vec::new(),
        }
    }

    /// A session around a block of this thread, in which every call is an event.
    pub(crate) fn of_block(profiler: u64) -> Self {
        Session { block: Some(Arc::new(Block::of_this_thread())), ..Session::new(profiler) }
    }

    /// The block that the profiler is installed around.
    pub(crate) fn block(&self) -> Option<&Arc<Block>> {
        self.block.as_ref()
    }

    /// Arms one site.
    pub fn arm(&mut self, site: &'static Site, arming: Arming) -> Result<(), InstallError> {
        let arming = self.accepted(arming)?;
        if let Some(why) = site.def().skipped {
            return Err(InstallError::Skipped { site: site.path(), why });
        }
        if site.is_entry() && !arming.only_counts() {
            return Err(InstallError::OnlyCounts { site: site.path() });
        }
        self.handlers.extend(arming.handlers.iter().cloned());
        self.armed.push((site::entry(site).id, arming.subjects.clone()));
        arm::arms().arm(self.profiler, site, arming);
        Ok(())
    }

    /// Returns the arming that this session can have: events where counts would not do, and an
    /// error for handlers that would abort.
    fn accepted(&self, mut arming: Arming) -> Result<Arming, InstallError> {
        if cfg!(panic = "abort") && !arming.handlers.is_empty() && !insists() {
            return Err(InstallError::HandlersWouldAbort);
        }
        if self.block.is_some() && arming.mode == Mode::Tally {
            arming.mode = Mode::Full;
        }
        Ok(arming)
    }

    /// The sites that a selector matches, skipped ones left out; an error with the nearest names if
    /// there are none.
    pub fn select(&self, selector: &Selector) -> Result<Vec<SiteEntry>, InstallError> {
        let all = site::entries();
        let matching: Vec<SiteEntry> =
            all.iter().filter(|entry| selector.matches(&entry.site.path())).copied().collect();
        if matching.is_empty() {
            let paths: Vec<String> = all.iter().map(|entry| entry.site.path()).collect();
            let nearest = selector.nearest(paths.iter().map(String::as_str));
            return Err(InstallError::NoSite { selector: selector.to_string(), nearest });
        }
        let observable: Vec<SiteEntry> =
            matching.iter().filter(|entry| entry.site.def().skipped.is_none()).copied().collect();
        match (observable.is_empty(), matching.first()) {
            (true, Some(first)) => Err(InstallError::Skipped {
                site: first.site.path(),
                why: first.site.def().skipped.unwrap_or_default(),
            }),
            _ => Ok(observable),
        }
    }

    /// Arms the sites that a selector matches, now and later: sites that are registered afterwards
    /// are armed too.
    pub fn arm_matching(
        &mut self,
        selector: &Selector,
        arming: &Arming,
    ) -> Result<(), InstallError> {
        self.select(selector)?;
        self.arm_pending(selector, None, arming)
    }

    /// As [`Session::arm_matching`], though there may be no such site yet: for sites that are made
    /// when a program first comes by. Of this kind only, if one is given.
    pub fn arm_pending(
        &mut self,
        selector: &Selector,
        kind: Option<SiteKind>,
        arming: &Arming,
    ) -> Result<(), InstallError> {
        self.stand(SitePattern::Selected(selector.clone(), kind), arming)
    }

    /// Arms the sites of a family, now and later.
    pub fn arm_family(&mut self, family: Family, arming: &Arming) -> Result<(), InstallError> {
        self.stand(SitePattern::InFamily(family), arming)
    }

    fn stand(&mut self, pattern: SitePattern, arming: &Arming) -> Result<(), InstallError> {
        let arming = self.accepted(arming.clone())?;
        // The order first: a site that is made meanwhile is either among these or meets it.
        let sites = arm::arms().stand(self.profiler, pattern.clone(), arming.clone());
        let known = sites.len();
        self.standing.push(Standing {
            pattern: pattern.clone(),
            subjects: arming.subjects.clone(),
            known,
        });
        self.handlers.extend(arming.handlers.iter().cloned());
        let observable = sites.iter().filter(|entry| entry.site.def().skipped.is_none());
        observable
            .filter(|entry| pattern.matches(entry.site))
            .try_for_each(|entry| self.arm(entry.site, arming.clone()))
    }

    /// The sites armed so far.
    pub(crate) fn armed(&self) -> Vec<SiteId> {
        self.armed.iter().map(|(site, _)| *site).collect()
    }

    /// Who belongs to the view: the subjects that were armed at their sites, whoever else was
    /// observed there.
    pub(crate) fn members(&self) -> Members {
        let mut everybody = HashSet::new();
        let mut chosen: HashMap<SiteId, HashSet<Subject>> = HashMap::new();
        let mut groups: HashMap<SiteId, Vec<Group>> = HashMap::new();
        for (site, subjects) in self.armed.iter().cloned().chain(self.met()) {
            match subjects {
                Subjects::All => drop(everybody.insert(site)),
                Subjects::Only(subjects) => chosen.entry(site).or_default().extend(subjects),
                Subjects::Group(group) => groups.entry(site).or_default().push(group),
            }
        }
        let standing = self.standing.clone();
        let known = site::entries().len();
        Members::new(move |site, subject| {
            if site.0 as usize > known {
                // It came later than this question; those who watch ask it once, and for long.
                return standing.iter().any(|standing| standing.means(site, subject));
            }
            let Some(subject) = subject else { return everybody.contains(&site) };
            everybody.contains(&site)
                || chosen.get(&site).is_some_and(|chosen| chosen.contains(&subject))
                || groups
                    .get(&site)
                    .is_some_and(|groups| groups.iter().any(|group| group.had(subject)))
        })
    }

    /// Sites that came since, and match.
    fn met(&self) -> impl Iterator<Item = (SiteId, Subjects)> {
        self.standing.iter().flat_map(|standing| {
            let later = site::entries_since(standing.known).into_iter();
            let met = later.filter(|entry| standing.pattern.matches(entry.site));
            met.map(|entry| (entry.id, standing.subjects.clone()))
        })
    }

    /// Remembers a method profiler that was installed through the session.
    pub(crate) fn add_method_profiler(&mut self, observer: Arc<dyn Observer>) {
        self.method_profilers.push(observer);
    }

    /// The method profilers that were installed through the session.
    pub(crate) fn method_profilers(&self) -> &[Arc<dyn Observer>] {
        &self.method_profilers
    }

    /// The profiler that it belongs to.
    pub(crate) fn profiler(&self) -> u64 {
        self.profiler
    }

    /// Takes back everything that was armed: no handler starts after this returns.
    pub(crate) fn disarm(&self) {
        let unread = arm::arms().disarm(self.profiler);
        self.handlers.iter().for_each(crate::hook::Handler::retire);
        // A destructor of the program may panic, and may call metaspy.
        let _ = crate::recorder::at_meta_level(|| drop(unread));
    }
}

/// With `panic = "abort"` a handler's panic ends the program.
fn insists() -> bool {
    std::env::var_os("METASPY_HANDLERS_MAY_ABORT").is_some_and(|value| value == "1")
}
