//! Merging of several recordings of processes that belong together.
//!
//! The merged recording has the ordinary layout, so every reader works with it. Each input has its
//! own places and keeps its laps, so ids change by arithmetic. A cause in another input becomes the
//! event there.
//!
//! With a reader of many recordings instead, every screen, filter and tally would have to know it.
//! A merge takes no memory beyond the copy.

mod blocks;
mod clock;
mod cross_process;
mod error;
mod kept;
mod names;
mod notes;
pub(crate) mod output;
mod profiles;
mod remap;
mod rows;
mod selection;
mod sites;
#[cfg(test)]
mod tests;
mod watch;
mod write;

use std::sync::Arc;

use crate::Store;
use crate::filter::Filter;
use crate::open::Mapped;
use crate::open::header::EndState;
use crate::ring::folds::Folds;
use crate::store::Medium;
use crate::store::merged::{Merged, Process};
use clock::AlignedClock;
pub use error::MergeError;
use kept::Kept;
use metaspy_format::CHUNK_BLOCKS;
use metaspy_format::superblock::{self as sb, lane as lane_row};
use output::OutputMemory;
use remap::{Input, MergedRing};
use rows::Rows;
use watch::Watch;
use write::Written;

/// Maximum number of attempts to copy live recordings that change meanwhile.
const TRIES: usize = 4;

impl Store {
    /// Merges several recordings, each with its source as text. A live recording is read in its
    /// present state.
    ///
    /// Sites with the same path, kind and file become one site. Subjects belong to their process,
    /// in all of its recordings, because a key has its meaning there, except kinds that are
    /// [across processes](crate::RecordedKind::across). Times follow the first recording's clock.
    /// [`Store::order_is_uncertain`] reports clocks that differ.
    pub fn merged(mut sources: Vec<(String, Store)>) -> Result<Store, MergeError> {
        if sources.len() < 2 {
            return sources.into_iter().next().map(|(_, store)| store).ok_or(MergeError::Nothing);
        }
        notes::check_apart(&sources)?;
        notes::put_in_order(&mut sources);
        let mut tries = 0;
        loop {
            tries += 1;
            let (output, merged) = merge(&sources, None, None, &Watch::new(&|_| true))?;
            if merged.has_room || tries == TRIES {
                let mapped = Mapped::memory(output.region());
                let whole = Store::mapped(mapped, Medium::Merged(Arc::new(merged)));
                return Ok(whole.expect("it was written as recordings are"));
            }
        }
    }

    /// Returns true if the recording may grow: it is live, or merged from recordings of which any
    /// was live.
    pub fn grows(&self) -> bool {
        self.is_live()
            || self.as_merged().is_some_and(|merged| {
                merged.processes.iter().any(|process| process.ended == EndState::Live)
            })
    }

    /// Merges the recordings of a merged recording again, in their present state. `None` if it is
    /// not merged.
    ///
    /// Events keep their ids, and sites and kinds keep their numbers, unless
    /// [`Store::has_numbers_of`] is false of the two.
    pub fn merged_again(&self) -> Option<Result<Store, MergeError>> {
        let merged = self.as_merged()?;
        let sources = merged.processes.iter().zip(&merged.sources).map(|(process, store)| {
            let mut store = store.clone();
            // A recording that cannot be opened again stays as it was read.
            let _ = store.refresh();
            (process.source.clone(), store)
        });
        Some(Store::merged(sources.collect()))
    }

    /// Returns true if ids of events, and numbers of sites and kinds, have the same meaning in both
    /// recordings.
    pub fn has_numbers_of(&self, other: &Store) -> bool {
        let is_same_place = self.layout().blocks == other.layout().blocks;
        let sites = |store: &Store| store.sites().iter().map(|site| site.id).collect::<Vec<_>>();
        is_same_place
            && sites(self) == sites(other)
            && self.sites().iter().zip(other.sites()).all(|(own, other)| own.path == other.path)
            && self.kinds().zip(other.kinds()).all(|(own, other)| own.name == other.name)
    }
}

/// Merged recording without its blocks, before it is written.
struct Plan {
    inputs: Vec<Input>,
    folds: Vec<Folds>,
    rows: Vec<Rows>,
    arena: names::Arena,
    tables: profiles::Tables,
    whole: MergedRing,
    lanes: u32,
    epochs: u32,
}

/// Merges the recordings, or copies the events of a single recording that pass a filter.
fn merge(
    sources: &[(String, Store)],
    filter: Option<&Filter>,
    note: Option<&str>,
    watch: &Watch<'_>,
) -> Result<(OutputMemory, Merged), MergeError> {
    let stores: Vec<Store> = sources.iter().map(|(_, store)| store.clone()).collect();
    let states: Vec<_> = stores.iter().map(|store| store.ring().fold_state()).collect();
    let mut processes = notes::processes(sources);
    let mut placed = clock::place(&stores);
    let mut plan = self::plan(&stores, &placed, &mut processes, filter, watch)?;
    if watch.is_stopped() {
        return Err(MergeError::Stopped);
    }
    let (crossings, has_remote) = cross_process::crossings(&plan.inputs);
    let bounds = clock::settle(&mut placed, &crossings);
    for ((input, placed), has_remote) in plan.inputs.iter_mut().zip(&placed).zip(has_remote) {
        input.line = placed.line.clone();
        input.has_remote = has_remote;
    }
    let origin = plan
        .inputs
        .iter()
        .map(|input| input.line.ns(input.store.header().first_tick))
        .min()
        .unwrap_or(0);
    plan.inputs.iter_mut().for_each(|input| input.origin = origin - BEFORE_NS);
    for (process, placed) in processes.iter_mut().zip(&placed) {
        process.clock = placed.domain;
        process.moved_ns =
            bounds[placed.domain].moved.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    }
    let clocks = notes::clocks(&processes, &placed, &bounds, &crossings);
    plan.arena.program(&plan.inputs, &processes);
    let given = note.map(str::to_owned);
    for sentence in given.into_iter().chain(notes::snapshots(&processes)).chain(clocks.sentences) {
        plan.arena.note(&sentence);
    }
    plan.arena.sites(&mut plan.inputs)?;
    plan.arena.kinds(&mut plan.inputs, &processes)?;
    plan.arena.keeps(&mut plan.inputs);
    for (input, process) in plan.inputs.iter().zip(&processes) {
        plan.arena.rest(input, (processes.len() > 1).then_some(&process.label));
    }
    if filter.is_none() {
        plan.rows = plan
            .inputs
            .iter()
            .zip(&plan.folds)
            .map(|(input, folds)| Rows::of(input, folds))
            .collect();
        plan.tables = profiles::merged(&plan.inputs);
    }
    plan.arena.tables(&plan.tables);
    let Written { output, copied, has_room, exact, is_recopied } =
        write::write(&mut plan, &states, watch)?;
    if is_recopied || filter.is_some() {
        selection::summarise(&output);
    }
    if watch.is_stopped() {
        return Err(MergeError::Stopped);
    }
    let mut damage = Vec::new();
    for (process, copied) in processes.iter().zip(&copied).filter(|(_, copied)| copied.beyond > 0) {
        damage.push(format!(
            "{}: {} blocks have numbers that cannot be",
            process.source, copied.beyond
        ));
    }
    for (process, _) in processes.iter().zip(&plan.rows).filter(|(_, rows)| !rows.whole) {
        damage.push(format!(
            "{}: the tallies of the lanes cannot be read to their end",
            process.source
        ));
    }
    let order_is_uncertain = clocks.order_is_uncertain;
    Ok((output, Merged { processes, sources: stores, damage, has_room, exact, order_is_uncertain }))
}

/// Time between the start of the common clock and the first recording, so that slightly earlier
/// ticks differ.
const BEFORE_NS: i128 = 1_000_000;

fn plan(
    stores: &[Store],
    placed: &[AlignedClock],
    processes: &mut [Process],
    filter: Option<&Filter>,
    watch: &Watch<'_>,
) -> Result<Plan, MergeError> {
    let mut plan = Plan {
        inputs: Vec::new(),
        folds: Vec::new(),
        rows: Vec::new(),
        arena: names::Arena::default(),
        tables: profiles::Tables::default(),
        whole: MergedRing { blocks: 0 },
        lanes: 0,
        epochs: 0,
    };
    for ((store, placed), process) in stores.iter().zip(placed).zip(processes) {
        let rows = (store.layout().lanes.len / lane_row::WORDS) as u64;
        let lanes = store.words().acquire(sb::LANES_USED).min(rows) as u32;
        let ring = store.ring();
        let folds = store.ring().folds();
        let input = Input {
            store: store.clone(),
            place: plan.whole.blocks,
            places: ring.places(),
            // A ring that grows keeps its ids for a while.
            reserved: if store.is_live() && stores.len() > 1 {
                ring.places().next_power_of_two().min(store.layout().blocks)
            } else {
                ring.places()
            },
            kept: filter.map(|filter| Kept::select(store, filter, &folds, watch)),
            lane: plan.lanes,
            lanes,
            epoch: plan.epochs,
            line: placed.line.clone(),
            origin: 0,
            sites: Vec::new(),
            nameless: 0,
            kinds: Default::default(),
            keeps: std::collections::HashMap::new(),
            has_remote: false,
        };
        plan.folds.push(folds);
        process.lanes = plan.lanes..plan.lanes + lanes;
        plan.whole.blocks += input.copied_places().next_multiple_of(CHUNK_BLOCKS as u64);
        plan.inputs.push(input);
        // An additional lane serves invalid lane numbers.
        plan.lanes += lanes + 1;
        plan.epochs = plan.epochs.wrapping_add(store.header().epoch).wrapping_add(1);
    }
    // The last places are never filled. Invalid ids point there.
    plan.whole.blocks += CHUNK_BLOCKS as u64;
    Ok(plan)
}
