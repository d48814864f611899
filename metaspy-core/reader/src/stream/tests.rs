use crate::stream::{Receiver, Sender, StreamError};
use crate::testing::{Draft, Writer};
use crate::{By, EndState, Filter, Position, Scope, Store};
use metaspy_format::slot::Mark;
use metaspy_format::stream::{Frame, HEADER_WORDS, Head};
use metaspy_format::{header, superblock as sb};

/// Builds a recording that continues.
fn live() -> Writer {
    let writer = Writer::new(4);
    writer.set(sb::STATE, sb::STATE_LIVE);
    writer.site(1, "app::measure");
    writer.lane(0, "main");
    writer
}

fn add(writer: &mut Writer, events: u64) {
    let before = self::events(&writer.store()) as u64;
    for at in before..before + events {
        let id = writer.event(Draft { lane: at as u32 % 2, start: 1_000 + at, ..Draft::default() });
        if at % 7 == 0 {
            writer.mark(at as u32 % 2, 1_000 + at, Mark::Gap, [id.raw(), 1, 0]);
        }
    }
}

/// Sends rounds as a stream, and calls the functions of `between` between them.
fn streamed(writer: &mut Writer, between: &mut [&mut dyn FnMut(&mut Writer)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sender = Sender::new(writer.store(), &mut bytes).expect("a vector takes all");
    sender.round().expect("a vector takes all");
    for happens in between {
        happens(writer);
        sender.round().expect("a vector takes all");
    }
    drop(sender);
    bytes
}

fn end(mut bytes: Vec<u8>, how: u64) -> Vec<u8> {
    bytes.extend(Head { kind: Frame::End as u8, words: 0, span: 0 }.pack().to_le_bytes());
    bytes.extend(how.to_le_bytes());
    bytes
}

/// Receives a stream from these bytes.
fn received(bytes: &[u8]) -> Result<Store, StreamError> {
    let (receiver, mut store) = Receiver::start(bytes)?;
    receiver.run();
    store.refresh().expect("it is mapped");
    Ok(store)
}

fn events(store: &Store) -> usize {
    store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events.len()
}

#[test]
fn what_arrives_is_what_was_sent() {
    let mut writer = live();
    add(&mut writer, 500);
    let bytes = streamed(
        &mut writer,
        &mut [
            &mut |writer| add(writer, 300),
            &mut |_| {},
            &mut |writer| writer.entry(metaspy_format::arena::Entry::Label, 1, &[5], &["later"]),
            &mut |writer| {
                add(writer, 20_000);
                writer.summarise();
            },
            &mut |writer| writer.set(sb::STATE, sb::STATE_CLOSED),
        ],
    );
    let sent = writer.store();
    let arrived = received(&end(bytes, 1)).expect("it is a stream");
    assert_eq!(arrived.totals(), sent.totals());
    assert!(
        arrived.totals().exact
            && arrived.end_state() == EndState::Closed
            && arrived.missing().is_empty()
    );
    let all = |store: &Store| {
        store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events
    };
    assert_eq!(all(&arrived), all(&sent));
    let rows = |store: &Store| store.tally(By::Site, &Scope::default()).rows;
    assert_eq!(rows(&arrived), rows(&sent));
    assert_eq!(arrived.labelled().count(), 1);
    assert!(arrived.verify().is_sound(), "{:?}", arrived.verify());
}

#[test]
fn what_did_not_change_is_not_sent_again() {
    let mut writer = live();
    add(&mut writer, 9_000);
    writer.summarise();
    let once = streamed(&mut writer, &mut []).len();
    let again = streamed(&mut writer, &mut [&mut |_| {}, &mut |_| {}]).len();
    assert!(again - once < 2 * 1_000, "{once} bytes, then {}", again - once);
}

#[test]
fn a_block_that_was_emptied_is_empty_there_as_well() {
    let mut writer = live();
    add(&mut writer, 400);
    let block = writer.block(writer.get(sb::BLOCKS));
    let bytes = streamed(&mut writer, &mut [&mut |writer| writer.set(block + header::SEQUENCE, 0)]);
    let arrived = received(&end(bytes, 2)).expect("it is a stream");
    assert_eq!(
        (events(&arrived), arrived.end_state()),
        (events(&writer.store()), EndState::Killed)
    );
}

#[test]
fn a_stream_that_is_cut_loses_nothing_that_came_before() {
    let mut writer = live();
    add(&mut writer, 300);
    let first = streamed(&mut writer, &mut []).len();
    let bytes = streamed(&mut writer, &mut [&mut |writer| add(writer, 200)]);
    let mut before = 0;
    for cut in (0..bytes.len()).step_by(97).chain([bytes.len()]) {
        match received(&bytes[..cut]) {
            Ok(store) => {
                let count = events(&store);
                assert!(count >= before, "cut after {cut}: {count} events, and {before} before");
                assert!(cut < first || count >= 300, "cut after {cut}: {count}");
                let missing = store.missing().join("\n");
                assert!(missing.contains(&format!("cut after {cut} bytes")), "{missing}");
                assert!(!store.totals().exact && store.end_state() == EndState::Snapshot);
                before = count;
            }
            Err(error) => assert!(cut < HEADER_WORDS * 8 + 8 * 512, "cut after {cut}: {error}"),
        }
    }
    assert_eq!(before, 500);
}

#[test]
fn what_is_no_stream_is_refused_in_a_sentence() {
    let is = |bytes: &[u8], word: &str| {
        let error = received(bytes).expect_err(word).to_string();
        assert!(error.contains(word), "{error}");
    };
    is(b"", "the input is empty");
    is(b"abc", "neither a recording nor a stream");
    is(&b"Dear reader, ".repeat(99), "neither a recording nor a stream");
    is(b"METASPYS", "before anything");
    let mut writer = live();
    let mut bytes = streamed(&mut writer, &mut []);
    bytes[12] = 77;
    is(&bytes, "version 77");
    bytes[12] = 1;
    bytes[16..24].fill(0xFF);
    is(&bytes, "make no sense");
}

#[test]
fn garbage_behind_a_round_is_reported_and_the_round_stays() {
    let mut writer = live();
    add(&mut writer, 300);
    let mut bytes = streamed(&mut writer, &mut []);
    let sound = bytes.len();
    bytes.extend(b"Dear reader, ".repeat(99));
    let store = received(&bytes).expect("its beginning is a stream");
    let missing = store.missing().join("\n");
    assert!(missing.contains(&format!("no sense from byte {sound} on")), "{missing}");
    assert_eq!((events(&store), store.totals().exact), (300, false));
}

#[test]
fn no_bytes_make_it_panic() {
    let mut writer = live();
    add(&mut writer, 400);
    let bytes = end(streamed(&mut writer, &mut [&mut |writer| add(writer, 50)]), 1);
    let mut dice = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..120 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + round % 5 {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            let range = if round % 2 == 0 { 5_000 } else { bytes.len() };
            damaged[8 + dice as usize % (range - 8)] = (dice >> 40) as u8;
        }
        if let Ok(store) = received(&damaged) {
            let _ = (store.verify(), store.totals());
        }
    }
}

#[test]
fn a_plain_recording_is_read_as_well() {
    let mut writer = Writer::new(2);
    writer.site(1, "app::measure");
    add(&mut writer, 900);
    let store = received(&writer.bytes()).expect("it is a recording");
    assert_eq!((events(&store), store.end_state()), (900, EndState::Closed));
    assert!(store.totals().exact && store.verify().is_sound(), "{:?}", store.verify());
    let bytes = writer.bytes();
    let cut = received(&bytes[..bytes.len() - 125 * 4096]).expect("its beginning is there");
    assert!(!cut.missing().is_empty() && events(&cut) < 900);
}
