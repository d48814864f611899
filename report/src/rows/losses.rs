//! The calls that found no room as events: their sites, and the times.

use metaspy_reader::{By, DetailLevel, LaneId, Scope, Store};
use serde::Serialize;

use crate::text::{clean, counted, grouped, short_path};

/// Sites and times that a sentence names.
const NAMED: usize = 5;
/// Times that are nearer than this part of the recording are one time.
const NEAR: u64 = 100;

/// The calls of a recording that found no room as events.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Losses {
    /// The sites of these calls, the one with most of them first.
    pub sites: Vec<LostAt>,
    /// The times, in order.
    pub times: Vec<LostWhile>,
    /// Calls that were lost before the window: their times are not known.
    pub elsewhere: u64,
}

/// The losses at a site.
#[derive(Clone, Debug, Serialize)]
pub struct LostAt {
    /// The path of the site.
    pub site: String,
    /// The number of calls.
    pub calls: u64,
}

/// The losses in a time.
#[derive(Clone, Debug, Serialize)]
pub struct LostWhile {
    /// Its beginning.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
    /// The number of calls.
    pub calls: u64,
    /// The number of lanes that lost them.
    pub lanes: usize,
    #[serde(skip)]
    of: Vec<LaneId>,
}

impl Losses {
    /// Reads them.
    pub fn read(store: &Store) -> Losses {
        let scope = Scope { meta: true, detail: DetailLevel::Counts, ..Scope::default() };
        let rows =
            store.tally(By::Site, &scope).rows.into_iter().filter(|row| row.measure.lost > 0);
        let path = |row: &metaspy_reader::TallyRow| {
            row.site.map_or(String::new(), |id| store.site_path(id).into())
        };
        let mut sites: Vec<LostAt> =
            rows.map(|row| LostAt { site: path(&row), calls: row.measure.lost }).collect();
        sites.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.site.cmp(&b.site)));
        let mut found = store.losses();
        found.times.sort_by_key(|loss| loss.from);
        let near = store.time_ns(store.header().last_tick) / NEAR;
        let mut times: Vec<LostWhile> = Vec::new();
        for loss in found.times {
            let from_ns = store.time_ns(loss.from);
            let to_ns = store.time_ns(loss.to);
            match times.last_mut().filter(|time| from_ns <= time.to_ns.saturating_add(near)) {
                Some(time) => time.add(to_ns, loss.calls, loss.lane),
                None => times.push(LostWhile {
                    from_ns,
                    to_ns,
                    calls: loss.calls,
                    lanes: 1,
                    of: vec![loss.lane],
                }),
            }
        }
        Losses { sites, times, elsewhere: found.elsewhere }
    }

    /// Sentences for people; none if nothing was lost.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if !self.sites.is_empty() {
            let name =
                |at: &LostAt| format!("{} {}", clean(short_path(&at.site)), grouped(at.calls));
            sentences
                .push(format!("lost at {}", some(self.sites.iter().map(name), self.sites.len())));
        }
        let mut order: Vec<&LostWhile> = self.times.iter().collect();
        order.sort_by_key(|time| std::cmp::Reverse(time.calls));
        order.truncate(NAMED);
        order.sort_by_key(|time| time.from_ns);
        if !order.is_empty() {
            sentences.push(format!(
                "lost {}",
                some(order.into_iter().map(LostWhile::sentence), self.times.len())
            ));
        }
        if self.elsewhere > 0 && !self.times.is_empty() {
            sentences.push(format!(
                "lost at unknown times, before the window: {}",
                counted(self.elsewhere, "call")
            ));
        }
        sentences
    }
}

impl LostWhile {
    fn add(&mut self, to_ns: u64, calls: u64, lane: LaneId) {
        self.to_ns = self.to_ns.max(to_ns);
        self.calls = self.calls.saturating_add(calls);
        if !self.of.contains(&lane) {
            self.of.push(lane);
        }
        self.lanes = self.of.len();
    }

    fn sentence(&self) -> String {
        let from = seconds(self.from_ns);
        let to = seconds(self.to_ns);
        format!(
            "from {from} to {to} s: {} on {}",
            counted(self.calls, "call"),
            counted(self.lanes as u64, "lane")
        )
    }
}

fn seconds(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000_000, ns / 1_000 % 1_000_000)
}

/// The first names, and the number of the others.
fn some(names: impl Iterator<Item = String>, all: usize) -> String {
    let names: Vec<String> = names.take(NAMED).collect();
    match all.saturating_sub(names.len()) {
        0 => names.join(", "),
        more => format!("{}, and {more} more", names.join(", ")),
    }
}
