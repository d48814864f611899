//! Recordings of other versions: older ones are read, a newer major one is refused by name.
//!
//! `recordings/v1_3.words` was written by version 1.3 of the layout, and closed.
//! `v1_3_killed.words` is from the same program, which aborted. Both hold runs of words that are
//! not 0: place, length, words. The program called `Scene::layout` 79 times, 18 times with an
//! error, and `Scene::measure` in each of them. It counted `Scene::text`, and painted on two
//! threads until a node panicked.

use std::path::PathBuf;

use metaspy_reader::{By, EndState, Filter, OpenError, Outcome, Position, Scope, Store};

const CLOSED: &[u8] = include_bytes!("recordings/v1_3.words");
const KILLED: &[u8] = include_bytes!("recordings/v1_3_killed.words");

/// The words of a recording from its runs.
fn words(runs: &[u8]) -> Vec<u64> {
    let all: Vec<u64> = runs
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .collect();
    let mut words = vec![0; all[0] as usize];
    let mut rest = &all[1..];
    while let [at, length, behind @ ..] = rest {
        let (run, behind) = behind.split_at(*length as usize);
        words[*at as usize..][..run.len()].copy_from_slice(run);
        rest = behind;
    }
    words
}

/// Opens words as a file. The file has the test's name, and is removed at the end.
fn open<T>(test: &str, words: &[u64], check: impl FnOnce(Result<Store, OpenError>) -> T) -> T {
    let path: PathBuf =
        std::env::temp_dir().join(format!("metaspy-versions-{}-{test}.spy", std::process::id()));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(&path, bytes).expect("the temporary directory can be written");
    let checked = check(Store::open(&path));
    std::fs::remove_file(&path).expect("it was written");
    checked
}

/// Calls, failures and panics of a site.
fn calls(store: &Store, path: &str) -> (u64, u64, u64) {
    let tally = store.tally(By::Site, &Scope::default());
    let is_path = |row: &&metaspy_reader::TallyRow| {
        row.site.is_some_and(|site| store.site_path(site) == path)
    };
    let row = tally.rows.iter().find(is_path).expect("the site ran");
    (row.measure.count, row.measure.failed, row.measure.panicked)
}

#[test]
fn a_closed_recording_of_version_1_3_is_read_whole() {
    open("closed", &words(CLOSED), |store| {
        let store = store.expect("version 1.3 is supported");
        let header = store.header();
        assert_eq!((header.major, header.minor, store.end_state()), (1, 3, EndState::Closed));
        assert_eq!(
            (store.missing().len(), store.verify().damaged.len()),
            (0, 0),
            "{:?}",
            store.verify()
        );
        assert_eq!(
            (store.program().name.as_str(), store.notes()),
            ("fixture", &["written by a test program".into()][..])
        );
        assert_eq!(calls(&store, "fixture::Scene::layout"), (79, 18, 0));
        assert_eq!(calls(&store, "fixture::Scene::measure"), (79, 0, 0));
        assert_eq!(calls(&store, "fixture::Scene::text"), (79, 0, 0));
        assert_eq!(calls(&store, "fixture::Scene::paint"), (7, 0, 1));
        assert_eq!(
            (store.totals().stored, store.totals().counted, store.totals().lost),
            (165, 79, 0)
        );
        let lanes: Vec<String> = store.lanes().into_iter().map(|lane| lane.name).collect();
        assert_eq!(lanes, ["main", "painter"]);
        // What later versions added is absent, and not wrong.
        assert!(store.profiles().is_empty());
    });
}

#[test]
fn events_details_labels_and_relations_of_version_1_3_are_read() {
    open("events", &words(CLOSED), |store| {
        let store = store.expect("version 1.3 is supported");
        let filter: Filter = "site:Scene::measure subject:\"node 2\"".parse().expect("a filter");
        let page = store.forward(Position::Start, &filter, 1_000, usize::MAX);
        let event = page.events.first().expect("node 2 was measured");
        let cause = event.cause.and_then(|cause| store.event(cause)).expect("layout called it");
        assert_eq!(store.site_path(cause.site), "fixture::Scene::layout");
        let arguments =
            store.details(cause.id).into_iter().map(|detail| (detail.name, detail.value));
        assert!(arguments.into_iter().any(|detail| detail == ("left".to_owned(), "0".to_owned())));
        let subject = event.subject.expect("a node");
        assert_eq!(store.subject_text(subject), "node 2");
        let labelled: Vec<&str> = store.labelled().map(|(_, label)| label).collect();
        assert_eq!(labelled.len(), 4);
        assert_eq!(store.relation_names(), ["owner"]);
        let panicked: Filter = "outcome:panicked".parse().expect("a filter");
        let panicked = store.backward(Position::End, &panicked, 10, usize::MAX).events;
        assert_eq!(
            panicked.iter().map(|event| event.outcome).collect::<Vec<_>>(),
            [Outcome::Panicked]
        );
    });
}

#[test]
fn a_recording_of_version_1_3_whose_program_aborted_is_read() {
    open("killed", &words(KILLED), |store| {
        let store = store.expect("version 1.3 is supported");
        assert_eq!((store.header().minor, store.end_state()), (3, EndState::Killed));
        assert_eq!(calls(&store, "fixture::Scene::layout"), (79, 18, 0));
        assert_eq!(calls(&store, "fixture::Scene::text"), (79, 0, 0));
        assert!(store.verify().is_sound(), "{:?}", store.verify());
    });
}

#[test]
fn a_newer_minor_version_is_read_and_a_newer_major_one_is_refused_by_name() {
    // Word 1 is the version: the minor one in its low half, the major one in its high half.
    let mut newer = words(CLOSED);
    newer[1] = 1 << 32 | 99;
    open("minor", &newer, |store| {
        let store = store.expect("minor versions only add");
        assert_eq!(calls(&store, "fixture::Scene::layout"), (79, 18, 0));
    });
    newer[1] = 2 << 32;
    open("major", &newer, |store| {
        let error = store.expect_err("a later version wrote it");
        assert!(matches!(error, OpenError::Newer { major: 2 }), "{error:?}");
        let message = error.to_string();
        assert!(
            message.contains("layout version 2") && message.contains("install a newer metaspy"),
            "{message}"
        );
    });
}
