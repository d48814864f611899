//! The same journey over a live file, over the closed file and over memory shows equal screens.

use metaspy_core::{Recording, Store};

use crate::fixture;
use crate::user::User;

const JOURNEY: [&str; 8] = [
    "Home",
    "Down Down Down",
    "Right",
    "Left c",
    "Backspace",
    "f \"site:measure\" Enter",
    "2 Down",
    "3",
];

/// The body of the screen after each part of the journey. The lines at the top and at the bottom
/// differ between live and closed recordings.
fn journey(store: Store) -> Vec<String> {
    let mut user = User::new(store);
    let body = |user: &User| {
        let screen = user.screen();
        let lines: Vec<&str> = screen.lines().collect();
        lines[1..lines.len() - 1].join("\n")
    };
    JOURNEY.map(|keys| body(user.press(keys))).into()
}

/// The words of a screen that are numbers or keys.
fn numbers(screen: &str) -> Vec<&str> {
    screen
        .split_whitespace()
        .filter(|word| word.chars().all(|c| c.is_ascii_digit() || ",.#".contains(c)))
        .collect()
}

#[test]
fn a_live_file_a_closed_file_and_memory_show_equal_screens() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("sources.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 5);
    // In all three, the profiler is uninstalled.
    drop(installed);
    let store = fixture::open(&path);
    assert!(store.is_live());
    let live = journey(store);
    recording.close();
    let closed = fixture::open(&path);
    assert!(!closed.is_live());
    let closed = journey(closed);

    let (recording, installed) = fixture::begin(Recording::memory(), 5);
    drop(installed);
    let memory = journey(recording.store());

    for (at, station) in JOURNEY.iter().enumerate() {
        // Only a live recording has a column of changes.
        if live[at].contains(" Δ ") {
            assert_eq!(numbers(&live[at]), numbers(&closed[at]), "live and closed, after {station}")
        } else {
            assert_eq!(live[at], closed[at], "live and closed, after {station}")
        }
        assert_eq!(memory[at], live[at], "memory and live, after {station}");
    }
}

#[test]
fn new_events_of_a_live_recording_are_announced_and_nothing_moves() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("announced.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 5);
    let mut user = User::new(fixture::open(&path));
    user.press("Home Down Down").tick(100);
    let before = user.screen();
    (0..3).for_each(|_| fixture::frame());
    user.tick(200);
    let after = user.screen();
    let rows = |screen: &str| {
        screen.lines().skip(3).map(|line| line.chars().take(43).collect()).collect::<Vec<String>>()
    };
    assert_eq!(rows(&before)[..19], rows(&after)[..19]);
    assert!(after.contains("▼"), "{after}");
    user.press("F").tick(300);
    assert!(user.screen().contains("following"), "{}", user.screen());
    drop(installed);
    recording.close();
    user.tick(400);
    assert!(user.screen().contains("the recording was closed"), "{}", user.screen());
    assert!(user.screen().lines().next().is_some_and(|top| top.contains("closed")));
}

#[test]
fn a_pause_stops_all_updates() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("paused.spy");
    let (recording, installed) = fixture::begin(Recording::file(&path), 1);
    let mut user = User::new(fixture::open(&path));
    user.press("Space").tick(100);
    let before = user.screen();
    assert!(before.contains("paused"), "{before}");
    (0..3).for_each(|_| fixture::frame());
    user.tick(5000);
    assert_eq!(user.screen(), before);
    user.press("Space").tick(5100);
    assert!(user.screen().contains("following"), "{}", user.screen());
    assert_ne!(user.screen(), before);
    drop(installed);
    recording.close();
}
