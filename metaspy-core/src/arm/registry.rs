//! The standing orders of all profilers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use metaspy_probe::NO_CELL;

use crate::arm::settled::SETTLED;
use crate::arm::{
    ALL_SUBJECTS, Arming, Config, Mode, Plan, Requirements, SitePattern, Subjects, unsettle,
};
use crate::format::row::Who;
use crate::platform::lock::{Locked, lock};
use crate::platform::readers::Replaced;
use crate::recorder::{self, Counter, Lane, Listener, Module};
use crate::site::{self, Site, SiteEntry, SiteId};

/// Standing orders: the requirements of each profiler on each site, and on sites that come later.
#[derive(Default)]
pub(crate) struct Arms {
    orders: BTreeMap<SiteId, Vec<Order>>,
    /// Plans that were replaced, and that a hook may still be reading.
    replaced: Vec<Replaced<Plan>>,
    standing: Vec<Standing>,
    /// Profilers whose orders a reader may replace.
    controlled: BTreeSet<u64>,
}

struct Order {
    profiler: u64,
    arming: Arming,
}

impl Order {
    /// True for the orders of `profiler`, and for those of controlled ones, unless a predicate or a
    /// handler belongs to them.
    fn is_seizable(&self, profiler: u64, controlled: &BTreeSet<u64>) -> bool {
        let is_plain =
            self.arming.handlers.is_empty() && !matches!(self.arming.subjects, Subjects::Group(_));
        self.profiler == profiler || (is_plain && controlled.contains(&self.profiler))
    }
}

struct Standing {
    profiler: u64,
    sites: SitePattern,
    arming: Arming,
    /// The number of sites at that time: those are armed already.
    known: usize,
}

static ARMS: Mutex<Arms> = Mutex::new(Arms {
    orders: BTreeMap::new(),
    replaced: Vec::new(),
    standing: Vec::new(),
    controlled: BTreeSet::new(),
});

/// The standing orders of the process.
pub(crate) fn arms() -> Locked<'static, Arms> {
    recorder::listen(Module::Arms, &Armed);
    lock(&ARMS)
}

/// Keeps the orders up with the recorder.
struct Armed;

impl Listener for Armed {
    fn epoch_began(&self) {
        arms().renew();
    }

    fn site_registered(&self, site: &'static Site) {
        arms().meet(site);
    }
}

fn tally_word(id: SiteId) -> u64 {
    Who { site: id.0, kind: 0, epoch: recorder::epoch(), meta: false, lost: false }.pack()
}

impl Arms {
    /// Arms a site for a profiler.
    pub fn arm(&mut self, profiler: u64, site: &'static Site, arming: Arming) {
        let id = site::entry(site).id;
        self.orders.entry(id).or_default().push(Order { profiler, arming });
        self.publish(id, site);
    }

    /// Remembers the requirements on sites that are registered later. Returns the sites that are
    /// already registered.
    pub fn stand(&mut self, profiler: u64, sites: SitePattern, arming: Arming) -> Vec<SiteEntry> {
        let known = site::entries();
        self.standing.push(Standing { profiler, sites, arming, known: known.len() });
        known
    }

    /// Arms a site that was registered after its observers were installed.
    pub fn meet(&mut self, site: &'static Site) {
        let SiteId(number) = site::entry(site).id;
        let met: Vec<(u64, Arming)> = (self.standing.iter())
            .filter(|standing| number as usize > standing.known && standing.sites.matches(site))
            .map(|standing| (standing.profiler, standing.arming.clone()))
            .collect();
        for (profiler, arming) in met {
            self.arm(profiler, site, arming);
        }
    }

    /// Reverts everything that a profiler armed. The orders of others stay. Returns the plans that
    /// no hook reads any more, to be dropped without the lock: they have handlers, whose
    /// destructors are the program's.
    #[must_use]
    pub fn disarm(&mut self, profiler: u64) -> Vec<Plan> {
        self.standing.retain(|standing| standing.profiler != profiler);
        self.controlled.remove(&profiler);
        let sites: BTreeMap<SiteId, &'static Site> =
            site::entries().into_iter().map(|entry| (entry.id, entry.site)).collect();
        let touched: Vec<SiteId> = (self.orders.iter_mut())
            .filter_map(|(id, orders)| {
                let before = orders.len();
                orders.retain(|order| order.profiler != profiler);
                (orders.len() != before).then_some(*id)
            })
            .collect();
        for id in touched {
            if let Some(site) = sites.get(&id) {
                self.publish(id, site);
            }
        }
        self.orders.retain(|_, orders| !orders.is_empty());
        Replaced::take_unread(&mut self.replaced, |_| true)
    }

    /// Lets a reader replace the orders of the profiler.
    pub fn control(&mut self, profiler: u64) {
        self.controlled.insert(profiler);
    }

    /// Returns the requirements of `profiler`, and of the profilers that a reader controls, on a
    /// site.
    pub fn seizable(&self, profiler: u64, id: SiteId) -> Vec<Arming> {
        let orders = self.orders.get(&id).map_or(&[][..], Vec::as_slice);
        let seizable = orders.iter().filter(|order| order.is_seizable(profiler, &self.controlled));
        seizable.map(|order| order.arming.clone()).collect()
    }

    /// True if other profilers observe the site, whose orders a reader may not replace.
    pub fn is_armed_by_others(&self, profiler: u64, id: SiteId) -> bool {
        let orders = self.orders.get(&id).map_or(&[][..], Vec::as_slice);
        orders.iter().any(|order| !order.is_seizable(profiler, &self.controlled))
    }

    /// Puts the requirement of `profiler` in the place of the [seizable](Self::seizable) ones.
    /// Returns plans as [`disarm`](Self::disarm) does.
    #[must_use]
    pub fn seize(&mut self, profiler: u64, entry: &SiteEntry, arming: Option<Arming>) -> Vec<Plan> {
        let orders = self.orders.entry(entry.id).or_default();
        orders.retain(|order| !order.is_seizable(profiler, &self.controlled));
        orders.extend(arming.map(|arming| Order { profiler, arming }));
        self.publish(entry.id, entry.site);
        Replaced::take_unread(&mut self.replaced, |_| true)
    }

    /// Lets sites that only count continue in rows of the newest epoch.
    fn renew(&mut self) {
        for SiteEntry { id, site } in site::entries() {
            if self.orders.contains_key(&id) && site.tally_row().is_some() {
                site.tally.store(tally_word(id), Ordering::Release);
            }
        }
        unsettle();
    }

    /// Stores the sum of the orders for a site, and then invalidates all settled sites.
    fn publish(&mut self, id: SiteId, site: &'static Site) {
        self.store(id, site);
        unsettle();
    }

    /// Lets method profilers see the calls at a site, or not.
    pub fn profile(&mut self, site: &'static Site, is_profiled: bool) {
        let id = site::entry(site).id;
        // Its hook shows no call to profilers: it counts, in the tree as well, by itself.
        if site.is_entry() && !site.shows_objects() {
            return;
        }
        if Config::of(site).is_profiled() != is_profiled {
            self.store_for(id, site, is_profiled);
            site::compare_with(site, is_profiled.then_some(&SETTLED));
        }
    }

    fn store(&mut self, id: SiteId, site: &'static Site) {
        self.store_for(id, site, Config::of(site).is_profiled());
    }

    fn store_for(&mut self, id: SiteId, site: &'static Site, is_profiled: bool) {
        let orders = self.orders.get(&id).map_or(&[][..], Vec::as_slice);
        let mut plan = Plan::default();
        for order in orders {
            let arming = &order.arming;
            if site.is_entry() {
                // Nothing but the number of all calls can be recorded there.
                if arming.mode != Mode::Off && matches!(arming.subjects, Subjects::All) {
                    plan.add(
                        &Subjects::All,
                        Requirements { mode: Mode::Tally, details: false, handlers: Vec::new() },
                    );
                }
                continue;
            }
            // Handlers see a call's arguments and outcome, so there must be an event.
            let mode = if arming.handlers.is_empty() && !arming.details {
                arming.mode
            } else {
                Mode::Full
            };
            let requirements =
                Requirements { mode, details: arming.details, handlers: arming.handlers.clone() };
            plan.add(&arming.subjects, requirements);
        }
        let sample = orders.iter().map(|order| order.arming.sample).min().unwrap_or(16);
        // Method profilers see every call. The recorder then handles the call by its mode.
        let (filter, needed) =
            (if is_profiled { ALL_SUBJECTS } else { plan.filter() }, plan.is_needed());
        let config = Config::new(id.0, &plan, sample, is_profiled);
        let counts = filter == ALL_SUBJECTS && config.is_tally();
        // A hook that only counts is armed by this word, so there it is stored last, and never
        // taken back meanwhile.
        let arms_by_tally = site.is_entry() && counts;
        if !arms_by_tally {
            site.tally.store(if counts { tally_word(id) } else { NO_CELL }, Ordering::Release);
        }
        // A hook that finds no plan uses the mode for all subjects.
        self.replaced.extend(Plan::replace(site, needed.then_some(plan)));
        if filter == 0 {
            site.arm.store(0, Ordering::Release);
            site.filter.store(0, Ordering::Release);
            site.config.store(config.0, Ordering::Release);
            return;
        }
        // An armed site has a name in the recording.
        if let Some(log) = recorder::current() {
            recorder::sync_names(log);
        }
        site.config.store(config.0, Ordering::Release);
        site.filter.store(filter, Ordering::Release);
        let counts = if counts || is_profiled { Site::COUNTS } else { 0 };
        let events = match config.is_simple() {
            true if config.is_full() => Site::EVENTS | Site::TIMED,
            true => Site::EVENTS,
            false => 0,
        };
        let filtered = if filter == ALL_SUBJECTS { 0 } else { Site::FILTERED };
        site.arm.store(1 | counts | events | filtered, Ordering::Release);
        // It finds cells of linked sites only.
        if arms_by_tally && site.cell.load(Ordering::Relaxed) != 0 {
            site.tally.store(tally_word(id), Ordering::Release);
        }
    }
}

/// The row in which this lane counts the calls at a site: `None` if they are not recorded, an error
/// if they are more than counted, or the row does not exist yet.
pub(crate) fn recorded_row(
    site: &Site,
    lane: &'static Lane,
) -> Result<Option<Counter<'static>>, ()> {
    let config = Config::of(site);
    match config.mode() {
        Mode::Off if !config.has_plan() => Ok(None),
        _ if config.only_counts() => {
            let tally = tally_word(SiteId(config.site()));
            let row = lane.near.look(0, tally).or_else(|| lane.near.look_further(0, tally));
            row.map(|row| Some(row.counter())).ok_or(())
        }
        _ => Err(()),
    }
}
