//! Writing of the merged recording: tables, blocks, and the first page.

use std::time::Duration;

use crate::HookCost;
use crate::Store;
use crate::event::EventId;
use crate::merge::blocks::{Copied, Copier};
use crate::merge::output::OutputMemory;
use crate::merge::remap::{Input, MergedRing};
use crate::merge::rows::Rows;
use crate::merge::watch::Watch;
use crate::merge::{MergeError, Plan, notes};
use crate::open::absent_files::{IS_FOLLOWED, WAS_FOLLOWED};
use crate::ring::folds::{FoldState, Folds};
use metaspy_format::layout::{Area, Layout};
use metaspy_format::row::{COUNT, ROW_WORDS, page};
use metaspy_format::superblock::{self as sb, calibration, lane as lane_row};
use metaspy_format::{BLOCK_BYTES, CHUNK_BLOCKS, join, summary};

/// Counts of the first page that are sums over the inputs.
const SUMS: [usize; 17] = [
    sb::REENTRANT,
    sb::UNNAMED,
    sb::CLOCK_BEHIND,
    sb::ARENA_LOST,
    sb::DETAILS_CUT,
    sb::HANDLER_PANICS,
    sb::OUT_OF_ORDER,
    sb::MARKS_LOST,
    sb::LATE_ENDS,
    sb::OTHERS,
    sb::REMOTE_MALFORMED,
    sb::PROFILES_LOST,
    sb::STATEMENTS_LOST,
    sb::ROWS_FREED,
    sb::KEPT_GONE,
    sb::KEPT_UNSEEN,
    sb::KEPT_CUT,
];

/// Maximum number of attempts to read the rows of a recording that is being written, between two of
/// its folds.
const TRIES: usize = 50;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_micros(200);
/// Words for a note that is only known at the end.
const NOTE_WORDS: usize = 64;

/// Merged recording, with the counts of its inputs.
pub(super) struct Written {
    pub output: OutputMemory,
    pub copied: Vec<Copied>,
    /// False if there was no room for rows that arrived during the writing. Another attempt has the
    /// room.
    pub has_room: bool,
    /// True if each call is counted once.
    pub exact: bool,
    /// True if blocks were copied again, so that blocks and events must be counted anew.
    pub is_recopied: bool,
}

/// Writes the merged recording.
pub(super) fn write(
    plan: &mut Plan,
    states: &[FoldState],
    watch: &Watch<'_>,
) -> Result<Written, MergeError> {
    let first = &plan.inputs[0];
    let pairs = &first.store.time().pairs;
    let (folded, pages): (usize, usize) = plan.rows.iter().fold((0, 0), |(folded, pages), rows| {
        (folded + rows.folded.len(), pages + rows.pages.len())
    });
    // A live recording may gain further rows during the writing.
    let is_live = !plan.rows.is_empty() && plan.inputs.iter().any(|input| input.store.is_live());
    let with_more = |rows: usize| if is_live { rows + rows / 4 + 1024 } else { rows };
    let folded = with_more(folded);
    let pages = with_more(pages);
    let kept = plan
        .inputs
        .iter()
        .flat_map(|input| kept_rows(input, plan.whole))
        .flatten()
        .collect::<Vec<u64>>();
    let mut end = sb::BYTES / 8;
    let mut area = |words: usize| Area::after(&mut end, words);
    let layout = Layout {
        calibration: area(pairs.len() * calibration::WORDS),
        journal: area(0),
        folders: area(0),
        lanes: area(plan.lanes as usize * lane_row::WORDS),
        arena: area(plan.arena.words.len() + if is_live { NOTE_WORDS } else { 0 }),
        // Nothing is added to a merged recording, so statements are in the arena.
        statements: area(0),
        pages: area(page::HEADER_WORDS + pages * ROW_WORDS),
        tally: area(folded * ROW_WORDS),
        profiles: area(plan.tables.words.len()),
        kept: area(kept.len()),
        summaries: area(plan.whole.blocks as usize / CHUNK_BLOCKS * summary::SUMMARY_WORDS),
        chunks: area(plan.whole.blocks as usize * (BLOCK_BYTES / 8)),
        blocks: plan.whole.blocks,
    };
    let bytes = layout.total_bytes();
    let output = OutputMemory::new(bytes).map_err(MergeError::Room)?;
    for (word, _, area) in layout.areas() {
        output.write(word, [area.offset() as u64, area.bytes() as u64]);
    }
    let ticks = pairs.iter().map(|pair| (first.tick(pair.tick), pair.real_ns));
    output.write(
        layout.calibration.at,
        ticks.flat_map(|(tick, real_ns)| [tick, tick, tick, real_ns]),
    );
    output.write(layout.profiles.at, plan.tables.words.iter().copied());
    output.write(layout.kept.at, kept.iter().copied());
    output.set(sb::KEPT_USED, (kept.len() / sb::kept::WORDS) as u64);
    output.set(sb::PROFILES_USED, plan.tables.words.len() as u64 * 8);
    for input in &plan.inputs {
        let lanes = input.store.layout().lanes.of(input.store.words());
        let to = layout.lanes.at + input.lane as usize * lane_row::WORDS;
        output.write(to, (0..input.lanes as usize * lane_row::WORDS).map(|word| lanes.get(word)));
        // The offset leads to a page in the original recording.
        (0..input.lanes as usize)
            .for_each(|lane| output.set(to + lane * lane_row::WORDS + lane_row::PAGE, 0));
    }
    let cells = output.cells();
    let of = |area: Area| &cells[area.at..area.at + area.len];
    let summaries = of(layout.summaries);
    let blocks = of(layout.chunks);
    let copier = |inputs, input| Copier { inputs, input, whole: plan.whole, blocks, summaries };
    let copied: Vec<Copied> = (plan.inputs.iter().zip(&plan.folds))
        .map(|(input, folds)| copier(&plan.inputs, input).copy(folds, watch))
        .collect();
    let mut is_recopied = false;
    let mut note = None;
    for (at, state) in states.iter().enumerate().filter(|_| is_live) {
        let input = &plan.inputs[at];
        if !watch.is_stopped() && input.ring().fold_state() != *state {
            let settled = settle(&copier(&plan.inputs, input));
            (plan.rows[at], plan.folds[at], is_recopied) = (settled.rows, settled.folds, true);
            note = note.or(settled.note);
        }
    }
    let exact = note.is_none();
    note.into_iter().for_each(|note| plan.arena.note(note));
    output.write(layout.arena.at, plan.arena.words.iter().copied());
    let rows_of =
        |of: fn(&Rows) -> &Vec<[u64; ROW_WORDS]>| plan.rows.iter().flat_map(of).flatten().copied();
    let has_room = [
        (rows_of(|rows| &rows.folded).count(), folded),
        (rows_of(|rows| &rows.pages).count(), pages),
    ]
    .iter()
    .all(|(words, rows)| *words <= rows * ROW_WORDS);
    if has_room {
        output.write(layout.tally.at, rows_of(|rows| &rows.folded));
        if pages > 0 {
            output.set(layout.pages.at + page::ROWS, pages as u64);
            output.write(layout.pages.at + page::HEADER_WORDS, rows_of(|rows| &rows.pages));
            output.set(sb::PAGES_USED, ((page::HEADER_WORDS + pages * ROW_WORDS) * 8) as u64);
        }
    }
    write_first_page(plan, &output, &copied, bytes, folded);
    Ok(Written { output, copied, has_room, exact: exact && has_room, is_recopied })
}

/// Returns the rows of an input's kept units, as far as their events are copied.
fn kept_rows(input: &Input, whole: MergedRing) -> impl Iterator<Item = [u64; sb::kept::WORDS]> {
    let is_copied = |id: EventId| {
        input.kept.as_ref().is_none_or(|kept| kept.contains(id.sequence(), id.slot()))
    };
    input.store.kept_units().filter(move |unit| is_copied(unit.event)).filter_map(move |unit| {
        let rule = *input.keeps.get(&(unit.rule as u32))?;
        let threshold = input.store.span_ns(unit.threshold);
        Some([
            input.id(unit.event.raw(), whole),
            join(rule, unit.events),
            threshold,
            input.tick(unit.found),
        ])
    })
}

/// Rows of a recording at a moment after its blocks were copied, and the folds of that moment.
struct Settled {
    rows: Rows,
    folds: Folds,
    note: Option<&'static str>,
}

/// Reads the rows between two folds, and copies the blocks again that were folded, or began, before
/// that moment. Blocks that are folded later have been copied already.
fn settle(copier: &Copier<'_>) -> Settled {
    let ring = copier.input.ring();
    let read = || {
        let state = ring.fold_state();
        let folds = ring.folds();
        let rows = Rows::of(copier.input, &folds);
        let changed = copier.changed(&folds);
        (ring.fold_state() == state, folds, rows, changed)
    };
    let mut last = read();
    for _ in 1..TRIES {
        if last.0 {
            break;
        }
        std::thread::sleep(PAUSE);
        last = read();
    }
    let (is_exact, mut folds, rows, changed) = last;
    copier.copy_again(&changed, &folds);
    if is_exact {
        return Settled { rows, folds, note: None };
    }
    folds.folded = rows.folded.iter().fold(0, |sum: u64, row| sum.saturating_add(row[COUNT]));
    let note = "it was folded all the time: calls that left the window during the copy may be counted twice or not at all";
    Settled { rows, folds, note: Some(note) }
}

fn write_first_page(
    plan: &Plan,
    output: &OutputMemory,
    copied: &[Copied],
    bytes: usize,
    folded_rows: usize,
) {
    let inputs = &plan.inputs;
    let header = |of: fn(&Input) -> u64| inputs.iter().map(of);
    let whole = inputs.iter().zip(&plan.folds).filter(|(input, _)| input.kept.is_none());
    let folded = whole.map(|(_, folds)| folds.folded).fold(0, u64::saturating_add);
    let counted = plan
        .rows
        .iter()
        .flat_map(|rows| &rows.pages)
        .fold(0_u64, |sum, row| sum.wrapping_add(row[COUNT]));
    let stores: Vec<Store> = inputs.iter().map(|input| input.store.clone()).collect();
    let (earlier_files, is_followed) = notes::absent_files(&stores);
    let followed = match stores.iter().any(Store::goes_on_elsewhere) {
        _ if is_followed => IS_FOLLOWED,
        true => WAS_FOLLOWED,
        false => 0,
    };
    let words = [
        (sb::EARLIER_FILES, earlier_files),
        (sb::FOLLOWED, followed),
        (sb::VERSION, sb::version(sb::MAJOR, sb::MINOR)),
        (sb::STATE, sb::STATE_CLOSED),
        (sb::TOTAL_BYTES, bytes as u64),
        (sb::BLOCKS, plan.whole.blocks),
        (sb::GROWN, plan.whole.blocks),
        (sb::FRESH, plan.whole.blocks - CHUNK_BLOCKS as u64),
        (sb::BUDGET, bytes as u64),
        (sb::PID, header(|input| input.store.header().pid.into()).next().unwrap_or(0)),
        (sb::STARTED_NS, header(|input| input.store.header().started_ns).min().unwrap_or(0)),
        (sb::CLOCK, metaspy_format::Clock::Monotonic as u64),
        (sb::TICKS_PER_S, 1_000_000_000),
        (
            sb::FIRST_TICK,
            header(|input| input.tick(input.store.header().first_tick)).min().unwrap_or(1),
        ),
        (
            sb::LAST_TICK,
            header(|input| input.tick(input.store.header().last_tick)).max().unwrap_or(1),
        ),
        (sb::EPOCH, plan.epochs.into()),
        (sb::ARENA_USED, plan.arena.words.len() as u64),
        (sb::TALLY_USED, folded_rows as u64),
        (sb::LANES_USED, plan.lanes.into()),
        (sb::CALIBRATION_USED, inputs[0].store.time().pairs.len() as u64),
        (sb::FOLDED, folded),
        (sb::FOLD_DONE, 1),
        (sb::MOVED, header(|input| input.store.header().moved).fold(0, u64::saturating_add)),
        (sb::SEALED_BLOCKS, copied.iter().map(|copied| copied.blocks).sum()),
        (sb::SEALED_EVENTS, copied.iter().map(|copied| copied.events).sum()),
        (sb::SEALED_COUNTED, counted),
        (sb::MAGIC, sb::MAGIC_WORD),
    ];
    let timed = inputs.iter().filter(|input| input.store.has_times());
    let hooks = HookCost::lowest(timed.map(|input| input.store.hook_cost()));
    for (word, value) in words.into_iter().chain(hooks.into_iter().flat_map(HookCost::words)) {
        output.set(word, value);
    }
    // Calls that were counted without an event are no part of a selection.
    let sums = if inputs.iter().any(|input| input.kept.is_some()) { &SUMS[..0] } else { &SUMS };
    for &counter in sums {
        let sum = inputs
            .iter()
            .map(|input| input.store.words().get(counter))
            .fold(0, u64::saturating_add);
        output.set(counter, sum);
    }
}
