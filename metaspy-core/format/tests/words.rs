//! The words of this version of the format, as recordings hold them.
//!
//! A word that moves without a new version makes old recordings unreadable, and a reader and a
//! writer that move together notice nothing. So the words of chosen values are kept in snapshots.
//! Read a changed one bit by bit before you accept it, and change [`superblock::MINOR`] or
//! [`superblock::MAJOR`] with it.

use std::fmt::{Debug, Write};
use std::sync::atomic::AtomicU64;

use metaspy_format::layout::Layout;
use metaspy_format::nesting::{OpenCall, Unnamed};
use metaspy_format::profile::page::{Content, Kind};
use metaspy_format::profile::{self, Column, Key, Merge, TableDef, TypeKey};
use metaspy_format::row::{self, Again, Who};
use metaspy_format::slot::{self, Commit, Flags, Mark};
use metaspy_format::summary::{self, Summary};
use metaspy_format::{
    BLOCK_BYTES, BLOCK_SLOTS, CHUNK_BLOCKS, CHUNK_BYTES, Policy, SLOT_BYTES, SLOT_WORDS, Words,
    arena, folder, header, high, join, low, span, stream, superblock,
};

/// Words whose every digit differs from its neighbours, and those with all bits, none, and every
/// other one.
const SAMPLES: [u64; 6] = [
    0x0123_4567_89AB_CDEF,
    0xFEDC_BA98_7654_3210,
    u64::MAX,
    0,
    0xAAAA_AAAA_AAAA_AAAA,
    0x5555_5555_5555_5555,
];

/// Lines of a name and its values.
#[derive(Default)]
struct Page(String);

impl Page {
    fn word(&mut self, name: &str, word: u64) {
        writeln!(self.0, "{name} {word:016x}").expect("a string takes all");
    }

    fn value(&mut self, name: &str, value: impl Debug) {
        writeln!(self.0, "{name} {value:?}").expect("a string takes all");
    }

    /// What a function reads of each of the [`SAMPLES`], and of each single bit as a list of those
    /// that it sees.
    fn reads<T: Debug + PartialEq>(&mut self, name: &str, read: impl Fn(u64) -> T) {
        for sample in SAMPLES {
            writeln!(self.0, "{name} {sample:016x} {:x?}", read(sample))
                .expect("a string takes all");
        }
        let none = read(0);
        let seen: Vec<u32> = (0..64).filter(|bit| read(1 << bit) != none).collect();
        writeln!(self.0, "{name} sees bits {seen:?}").expect("a string takes all");
    }
}

#[test]
fn the_words_of_a_slot() {
    let mut page = Page::default();
    page.value(
        "sizes",
        (SLOT_BYTES, SLOT_WORDS, BLOCK_BYTES, BLOCK_SLOTS, CHUNK_BLOCKS, CHUNK_BYTES),
    );
    page.value("largest", (slot::START_MAX, slot::SPAN_MAX, slot::FLAG_BITS));
    page.reads("start", slot::start);
    page.reads("site", slot::site);
    page.reads("lap", slot::lap);
    page.reads("kind", slot::kind);
    page.reads("outcome_bits", slot::outcome_bits);
    page.reads("outcome", slot::outcome);
    page.reads("level", slot::level);
    page.reads("is_timed", slot::is_timed);
    page.reads("details", slot::details);
    page.reads("details_of", slot::details_of);
    page.reads("without_details", slot::without_details);
    page.reads("flags_of", slot::flags_of);
    page.reads("held", slot::held);
    page.reads("let_go", slot::let_go);
    page.reads("moved", slot::moved);
    page.reads("is_running", slot::is_running);
    page.reads("is_plain", slot::is_plain);
    page.reads("span", slot::span);
    page.reads("whole_span", slot::whole_span);
    page.reads("may_hold_marks", slot::may_hold_marks);
    page.reads("flags", Flags::unpack);
    page.reads("commit", Commit::unpack);
    for outcome in (0..8).map(|bits| slot::outcome(bits << 16)) {
        page.value("plain", (outcome, slot::is_plain(slot::with_outcome(0, outcome))));
        page.word("with_outcome of all bits", slot::with_outcome(u64::MAX, outcome));
        page.word(
            "ended_as",
            slot::ended_as(slot::running(77, slot::flags(0x1234, true)), 5, outcome),
        );
        page.value(
            "in sets",
            [0, 1, 2, 4, 8, 16, 32, 64, 128, 255].map(|set| slot::has_outcome(set, outcome)),
        );
    }
    for level in 0..5 {
        page.word("flags_at_level", slot::flags_at_level(level));
    }
    for (start, end) in [(false, false), (true, false), (false, true), (true, true)] {
        let details = slot::details_at(start, end);
        page.value("details_at", (details, slot::has_details_at_end(details)));
        page.word("with_details", slot::with_details(slot::ended(9, 0), details));
    }
    page.word("with_kind", slot::with_kind(u64::MAX << 16, 0x8421));
    page.word("stamp", slot::stamp(0x8_7654_3210, 0xFE));
    page.word("commit", slot::commit(slot::stamp(0x8_7654_3210, 0xFE), 0xF_EDCB));
    for site in 0xF_FFEF..=0xF_FFFF {
        page.value("mark", (format!("{site:x}"), Mark::from_site(site)));
    }
    for word in [slot::polls(5, false), slot::polls(5, true)] {
        page.word("polls", word);
        page.value("polls of", slot::polls_of(word));
    }
    for sequence in [1, 255, 0x3F_FFFF_FFFF, u64::MAX] {
        let running = slot::running(sequence, slot::held(slot::flags(7, true)));
        page.word("running", running);
        let around = [sequence.wrapping_sub(1), sequence, sequence.wrapping_add(1)];
        page.value("is running in", around.map(|of| slot::is_running_in(running, of)));
        page.value("is held in", around.map(|of| slot::is_held_in(running, of)));
        page.value(
            "let go is held in",
            around.map(|of| slot::is_held_in(slot::let_go(running), of)),
        );
    }
    page.word("ended", slot::ended(slot::SPAN_MAX, slot::flags(u16::MAX, true)));
    page.value("detail_slots", [0, 1, 16, 17, 48, 49, 1024].map(slot::detail_slots));
    insta::assert_snapshot!(page.0);
}

#[test]
fn the_words_of_a_block_and_its_summary() {
    let mut page = Page::default();
    page.value("place", [5, 6, 7, 8].map(|sequence| header::place(sequence, 7)));
    page.value("sequence", (header::sequence(1, 0, 7), header::sequence(3, 6, 7)));
    page.value(
        "lap_byte",
        [7, 13, 14, 7 * 255, 7 * 256, 7 * 257].map(|sequence| header::lap_byte(sequence, 7)),
    );
    page.word("lane_epoch", header::lane_epoch(0x1234_5678, 0x9ABC_DEF0));
    page.reads("lane", header::lane);
    page.reads("epoch", header::epoch);
    page.reads("low", low);
    page.reads("high", high);
    page.word("join", join(0x1234_5678, 0x9ABC_DEF0));
    for number in [0, 1, 2, 3, 63, 64, 0xF_FFEF] {
        page.word("bit", summary::bit(number));
    }
    page.value("stamp", [0, 1, 9].map(summary::stamp));
    let mut sum = Summary::EMPTY;
    for (sequence, lane, epoch, base) in
        [(9, 2, 5, 100), (8, 3, 4, 90), (10, 4, 6, 110), (10, 4, 6, 90)]
    {
        sum.add_block(sequence, lane, epoch, base);
        page.value("blocks", sum);
    }
    for (site, start, is_running) in
        [(7, 120, true), (6, 110, false), (6, 120, true), (5, 130, false)]
    {
        sum.add_event(site, start, is_running);
        page.value("events", sum);
    }
    sum.marks = 3;
    page.value("packed", format!("{:x?}", sum.pack()));
    page.value("unpacked", Summary::unpack([11, 12, 13, SAMPLES[0], 15, 16, SAMPLES[1], 18]));
    insta::assert_snapshot!(page.0);
}

#[test]
fn the_words_of_rows_and_folders() {
    let mut page = Page::default();
    let who = Who { site: 0xA_BCDE, kind: 0x8421, epoch: 0x1F0_F0F1, meta: true, lost: false };
    page.word("who", who.pack());
    page.word("lost", Who { meta: false, lost: true, ..who }.pack());
    page.word("of more bits", Who { site: u32::MAX, epoch: u32::MAX, ..who }.pack());
    page.reads("who", Who::unpack);
    page.value("of_event", Who::of_event(7, 9, Flags::unpack(SAMPLES[0]).pack()));
    page.word("with_event", Who::with_event(1 << 63, 7, SAMPLES[0]));
    page.word("with_kind", Who::with_kind(1 << 63, 0x8421));
    let epochs = [0, 1, row::EPOCHS - 1, row::EPOCHS, row::EPOCHS + 1, u32::MAX];
    page.value(
        "epochs",
        (row::EPOCHS, epochs.map(row::epoch), epochs.map(|to| row::epochs_between(2, to))),
    );
    page.value(
        "began_in",
        epochs.map(|epoch| Who::began_in(Who { epoch: 1, ..who }.pack(), epoch)),
    );
    for (name, other) in [
        ("kind", Who { kind: 1, ..who }),
        ("site", Who { site: 1, ..who }),
        ("epoch", Who { epoch: 1, ..who }),
        ("meta", Who { meta: false, ..who }),
    ] {
        page.value("are_of_site", (name, Who::are_of_site(who.pack(), other.pack())));
    }
    page.reads("has_room", |word| (row::has_room(word, 0), row::has_room(0, word)));
    page.word("one running", row::ONE_RUNNING);
    page.word("freed", row::FREED);
    for site in 0xF_FFEF..=0xF_FFF4 {
        let again = Again::from_site(site);
        page.value("again", (format!("{site:x}"), again));
        let row = again.map(|again| again.row(77, who.pack()));
        page.value("row", row.map(|(key, who)| format!("{key:x} {who:016x}")));
    }
    for (key, who) in [(0, 1 << 63), (1, 1 << 63), (SAMPLES[0], SAMPLES[1])] {
        page.word("product", row::product(key, who));
        page.value("first", [1, 4, 12].map(|bits| row::first(key, who, bits)));
        page.value("bucket", [1, 4, 12].map(|bits| row::array::bucket(key, who, bits)));
        page.value("free_key", [0, 1].map(|bucket| row::array::free_key(bucket, who, 1)));
    }
    for outcome in (0..8).map(|bits| slot::outcome(bits << 16)) {
        page.value("outcome_words", (outcome, row::outcome_words(outcome)));
    }
    for (length, buckets) in [(0, 0), (0, 2), (3, 0), (3, 2), (u64::MAX, 0), (0, u64::MAX / 2)] {
        let shape = row::array::Shape::read(length, buckets);
        page.value("shape", (shape, shape.map(row::array::Shape::units)));
        if length <= 3 && buckets <= 2 {
            page.value("rows", shape.map(|shape| shape.rows().collect::<Vec<_>>()));
            page.value(
                "keys",
                shape.map(|shape| (0..25).map(|at| shape.key_of(at)).collect::<Vec<_>>()),
            );
        }
    }
    let cursor = folder::Cursor { sequence: 0x1234_5678_9ABC, slot: 128, note: 1 };
    page.word("cursor", cursor.pack());
    page.reads("cursor", folder::Cursor::unpack);
    page.reads("merge_sequence", folder::merge_sequence);
    page.value("notes", [0, 1, 2, 3].map(folder::note_at));
    let record: [u64; folder::WORDS] = std::array::from_fn(|at| at as u64);
    page.value("note", [0, 1, 2, 3].map(|number| *folder::note(&record, number)));
    insta::assert_snapshot!(page.0);
}

#[test]
fn the_words_of_names_and_tables() {
    let mut page = Page::default();
    page.word("head", arena::head(arena::Entry::Kind, 0x12_3456, 0x89AB_CDEF));
    page.word("head of too many words", arena::head(arena::Entry::Kind, usize::MAX, 0));
    page.reads("head", arena::unpack_head);
    for byte in 0..=24 {
        page.value("entry", (byte, arena::Entry::from_byte(byte)));
    }
    let words =
        arena::site_words(metaspy_probe::SiteKind::Method, (0x1234_5678, 0x9ABC_DEF0), 0x1357_9BDF);
    page.value("site", format!("{words:x?}"));
    page.value("site read", arena::unpack_site([SAMPLES[0], SAMPLES[1]]));
    page.reads("nature", arena::unpack_nature);
    page.reads("kinds", |word| arena::unpack_two_kinds(low(word)));
    for text in ["", "a", "12345678", "123456789", "ä"] {
        let mut words = Vec::new();
        arena::push_text(&mut words, text);
        page.value("text", (text, format!("{words:x?}")));
    }
    for (length, last) in
        [(arena::TEXT_MAX, 'x'), (arena::TEXT_MAX - 1, 'ä'), (arena::TEXT_MAX, 'ä')]
    {
        let mut words = Vec::new();
        arena::push_text(&mut words, &format!("{}{last}", "x".repeat(length - 1)));
        page.value("long text", (words[0], words.len(), format!("{:x?}", words.last())));
    }
    let cells = [arena::head(arena::Entry::Note, 2, 3), 0, arena::head(arena::Entry::Note, 1, 4)]
        .map(AtomicU64::new);
    for (from, end) in [(0, 0), (0, 2), (0, 3), (2, 3), (1, 3)] {
        let mut found = Vec::new();
        let stopped = arena::walk(Words::from_slice(&cells), from, end, |entry| {
            found.push((entry.at, entry.length))
        });
        page.value("walk", ((from, end), stopped, found));
    }
    let key = Key { site: 0xA_BCDE, second: 0x5_4321, key: 9 };
    page.word("key", key.who());
    page.word("key of more bits", Key { site: u32::MAX, second: u32::MAX, key: 9 }.who());
    page.reads("key", |word| Key::read(word, 7));
    for variant in [None, Some(0), Some(0x1234_5678)] {
        page.word("type", TypeKey { caller: 0xFFFF_FFFF, position: 0x81, variant }.pack());
    }
    page.reads("type", TypeKey::unpack);
    page.value("most", (profile::ROWS_MAX, profile::COLUMNS_MAX));
    page.value("positions", (TypeKey::RECEIVER, TypeKey::RETURNED));
    page.value("table page", (profile::page::LOST, profile::page::WITHIN, profile::page::OVERLAPS));
    for kind in [Kind::Head, Kind::Values, Kind::Keys, Kind::Incomplete] {
        page.word("content", Content { table: 0x1234_5678, kind }.pack());
    }
    page.reads("content", Content::unpack);
    for merge in [Merge::Sum, Merge::Max, Merge::Min, Merge::Union] {
        page.value(
            "merge",
            (merge, merge.words(12, 10), merge.words(10, 12), merge.words(u64::MAX, 2)),
        );
        page.value("value", (merge, [0, 1, u64::MAX].map(|word| merge.value(word))));
    }
    let column = Column::new("n").unit("ms").merged_by(Merge::Max).at_most(9);
    page.value("column", &column);
    page.value("ticks", Column::ticks("t"));
    page.value("flags", Column::flags("f", &["a", "b"]));
    for columns in [0, 1, profile::COLUMNS_MAX, profile::COLUMNS_MAX + 1] {
        let table = TableDef { columns: vec![column.clone(); columns], ..TableDef::default() };
        page.value("readable", (columns, table.is_readable(), table.word(3, 1)));
    }
    page.reads("bits", |word| profile::bits(word).collect::<Vec<_>>());
    page.reads("inside", profile::overlaps::inside);
    page.reads("without_innermost", profile::overlaps::without_innermost);
    page.value(
        "with_another",
        [0, 1, 2, 63, 64].map(|level| profile::overlaps::with_another(0b1011, level)),
    );
    insta::assert_snapshot!(page.0);
}

#[test]
fn the_words_of_open_calls_spans_and_streams() {
    let mut page = Page::default();
    let call = OpenCall { id: 5, key: 6, site: 0xFFFF_FFFF, kind: 0x8421, is_end_marked: true };
    page.value("open", format!("{:x?}", call.words()));
    page.reads("open", |word| OpenCall::read([1, 2, word]));
    page.value("open without an event", OpenCall::read([0, 2, 3]));
    for (sites, subjects) in [(false, false), (true, false), (false, true), (true, true)] {
        let unnamed = Unnamed { sites, subjects };
        page.value("unnamed", (unnamed.any(), format!("{:x?}", unnamed.words())));
    }
    page.reads("unnamed", Unnamed::read);
    page.reads("recording_word", span::recording_word);
    page.value(
        "trace",
        format!(
            "{:x} {:x?}",
            span::trace(SAMPLES[0], SAMPLES[1]),
            span::trace_halves(u128::MAX / 5)
        ),
    );
    page.reads("span of an event", |event| span::of_event(event, SAMPLES[1]));
    page.reads("event of a span", |event| span::event(event, SAMPLES[1]));
    page.reads("trace of a root", |root| format!("{:x}", span::trace_of_root(root, SAMPLES[1])));
    page.word("stream version", stream::version());
    page.reads("stream major", stream::major);
    page.word("frame", stream::Head { kind: 3, words: 0x1_0000, span: 0x9ABC_DEF0 }.pack());
    page.word("frame of too many words", stream::Head { kind: 3, words: u32::MAX, span: 1 }.pack());
    page.reads("frame", stream::Head::unpack);
    let most = stream::FRAME_MAX as u32;
    for (kind, words, span) in
        [(1, most, most), (1, most + 1, most + 1), (1, 2, 1), (1, 1, most + 1), (0, 1, 1)]
    {
        let head = stream::Head { kind, words, span };
        page.value("frame", (head, stream::Head::unpack(head.pack()).is_some()));
    }
    page.value("longest", (stream::FRAME_MAX, stream::RECORDING_MAX));
    page.word("version", superblock::version(1, 6));
    insta::assert_snapshot!(page.0);
}

#[test]
fn the_areas_of_a_recording() {
    let mut page = Page::default();
    for (budget, policy, names) in [
        (0, Policy::KeepNewest, 0),
        (1 << 20, Policy::KeepNewest, 0),
        ((4 << 20) - 1, Policy::KeepOldest, 1000),
        (4 << 20, Policy::KeepNewest, 1_000_000),
        (5_000_000, Policy::Grow, 0),
        (64 << 20, Policy::KeepNewest, 0),
        (1 << 30, Policy::Grow, usize::MAX),
        (1 << 30, Policy::KeepNewest, 0),
        (u64::MAX, Policy::Grow, 0),
    ] {
        let layout = Layout::with_room(budget, policy, names);
        page.value("recording", (budget, policy, names));
        for (word, name, area) in layout.areas() {
            page.value("  area", (word, name, area.offset(), area.bytes()));
        }
        page.value("  bytes", layout.total_bytes());
        page.value("  blocks", (layout.whole_blocks(), layout.block_word(0), layout.block_word(9)));
        page.value("  halves", [0, 1, 2].map(|turn| (layout.half(turn).at, layout.half(turn).len)));
    }
    insta::assert_snapshot!(page.0);
}

#[test]
fn a_recording_that_was_cut_has_the_areas_and_places_that_are_left() {
    let layout = Layout::new(1 << 20, Policy::KeepNewest);
    let mut cells: Vec<u64> = vec![0; layout.total_bytes() / 8];
    for (word, _, area) in layout.areas() {
        cells[word] = area.offset() as u64;
        cells[word + 1] = area.bytes() as u64;
    }
    let blocks = layout.whole_blocks();
    cells[superblock::BLOCKS] = blocks;
    cells[superblock::FRESH] = blocks + 5;
    let cells: Vec<AtomicU64> = cells.into_iter().map(AtomicU64::new).collect();
    let mut page = Page::default();
    for left in [
        cells.len(),
        cells.len() - 1,
        layout.block_word(CHUNK_BLOCKS as u64 + 1),
        layout.block_word(0),
        40,
    ] {
        let words = Words::from_slice(&cells[..left]);
        let Some(read) = Layout::read(words) else {
            page.value("unreadable", left);
            continue;
        };
        page.value(
            "left",
            (left, read.places(words), read.chunks(words), read.chunks.of(words).len()),
        );
    }
    cells[layout.areas().next().expect("an area").0]
        .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let odd =
        Layout::read(Words::from_slice(&cells)).map(|read| read.areas().next().expect("an area").2);
    page.value("an odd offset", odd);
    insta::assert_snapshot!(page.0);
}
