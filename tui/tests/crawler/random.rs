//! Random keys, clicks and sizes over recordings: no panic, and always a screen.

use metaspy_core::{Recording, Store};
use metaspy_tui::crawler::keys::{BINDINGS, Key};
use ratatui::crossterm::event::KeyCode;

use crate::fixture;
use crate::user::User;

/// Keys in full; a slice of them is pressed in every run.
const KEYS: usize = 1_000_000;
const SLICE: usize = 2_000;
/// Keys over one recording.
const ROUND: usize = 500;

/// A generator of random numbers: xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// What is typed into prompts, and keys between them.
const TYPED: &str = "site:measure subject:#4 took:>1ms -outcome:failed,x \"fox lane:é@9";

fn act(user: &mut User, random: &mut Random) {
    match random.below(20) {
        0..14 => {
            let bound: Vec<Key> =
                BINDINGS.iter().map(|it| it.key).filter(|key| key.code != KeyCode::Null).collect();
            let key = bound[random.below(bound.len())];
            user.press_key(key);
        }
        14..17 => {
            let typed: Vec<char> = TYPED.chars().collect();
            user.press_key(Key {
                code: KeyCode::Char(typed[random.below(typed.len())]),
                control: false,
            });
        }
        17 => {
            user.click(random.below(90) as u16, random.below(30) as u16);
        }
        18 => user.wheel(
            random.below(90) as u16,
            random.below(30) as u16,
            random.below(7) as isize - 3,
        ),
        _ => {
            let sizes = [(80, 24), (60, 15), (200, 60), (24, 6), (5, 2), (119, 41)];
            let (width, height) = sizes[random.below(sizes.len())];
            user.resize(width, height);
        }
    }
}

fn play(store: Store, keys: usize, seed: u64) {
    let mut random = Random(seed);
    let mut user = User::new(store);
    user.writes = false;
    let mut now_ms = 0;
    for at in 0..keys {
        act(&mut user, &mut random);
        if at % 16 == 0 {
            now_ms += 700;
            user.tick(now_ms);
        }
        if at % 4 == 0 {
            user.screen();
        }
    }
}

#[test]
fn random_keys_never_panic() {
    let all = std::env::var_os("METASPY_LONG").is_some_and(|value| value == "1");
    if !all {
        println!(
            "SKIPPED: random-keys-in-full: {SLICE} keys are pressed; METASPY_LONG=1 presses {KEYS}"
        );
    }
    let closed = [fixture::closed("random.spy", 40), fixture::closed("empty-random.spy", 0)];
    let crowded = fixture::crowded("crowded-random.spy", 30_000);
    let linked = fixture::directory().join("linked-random.spy");
    let turn = fixture::turn();
    let (recording, installed) = fixture::begin(Recording::file(&linked), 2);
    fixture::linked_layout();
    fixture::received_elsewhere();
    // The last one is still live.
    let files = [&closed[0], &closed[1], &crowded, &linked];
    for round in 0..if all { KEYS } else { SLICE } / ROUND {
        play(
            fixture::open(files[round % files.len()]),
            ROUND,
            0x9E37_79B9_7F4A_7C15 ^ round as u64,
        );
    }
    drop(installed);
    recording.close();
    drop(turn);
}
