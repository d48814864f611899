//! Why was one frame of twenty thousand slow?
//!
//! A window draws forty texts in each frame. The recording has room for the newest few thousand
//! frames, so the slow one is long gone when somebody asks. With a rule it stays, with all that
//! happened in it and what caused it.
//!
//! **The finding.** Frame 4,711 shapes forty texts, which frames hardly ever do: a theme was
//! loaded, and that forgets all glyphs. Loading the fonts before the theme is shown keeps frames
//! short.
//!
//! Run it with `cargo run --example slow_frame [-- --record FILE.spy]`. Any program is recorded
//! like this with `METASPY_KEEP='took:>p99.9 at site:Window::frame'`.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use metaspy::prelude::*;
use metaspy::store::{EffectsIndex, EventId, KeptUnit};
use metaspy::{Recording, Store};

/// Frames of a run, and the one before which a theme is loaded.
const FRAMES: u64 = 20_000;
const THEME: u64 = 4_711;
/// Texts of the window, and how long it takes to shape one.
const TEXTS: u64 = 40;
const SHAPING: Duration = Duration::from_millis(1);
/// Bytes of the recording: room for some 4,000 frames.
const BUDGET: u64 = 8 << 20;
/// Between two frames.
const PAUSE: Duration = Duration::from_micros(50);

#[derive(Default)]
struct Window {
    glyphs: BTreeMap<u64, u64>,
    drawn: u64,
}

#[observe]
impl Window {
    #[observe(subject = FrameId(number))]
    fn frame(&mut self, number: u64) {
        if number == THEME {
            self.load_theme();
        }
        (0..TEXTS).for_each(|text| self.draw(text));
    }

    fn load_theme(&mut self) {
        self.glyphs.clear();
    }

    fn draw(&mut self, text: u64) {
        if !self.glyphs.contains_key(&text) {
            self.shape(text);
        }
        self.drawn += self.glyphs[&text];
    }

    fn shape(&mut self, text: u64) {
        let began = Instant::now();
        while began.elapsed() < SHAPING {
            std::hint::spin_loop();
        }
        self.glyphs.insert(text, text % 7);
    }
}

#[derive(Identify)]
struct FrameId(u64);

/// How often each site ran below an event, the event itself included.
fn counts(store: &Store, effects: &EffectsIndex, event: EventId) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut open = vec![event];
    while let Some(id) = open.pop() {
        if let Some(event) = store.event(id) {
            *counts.entry(store.site_path(event.site).to_owned()).or_default() += 1;
        }
        open.extend(effects.effects(id));
    }
    counts
}

/// What slow frames have that an ordinary one has not, in sentences. Some ordinary frames are kept
/// to compare others with.
fn differences(store: &Store) -> Result<Vec<String>, Box<dyn Error>> {
    let kept = store.kept().ok_or("there is a rule")?;
    let effects = EffectsIndex::build(store, |_, _| true).ok_or("nothing interrupts it")?;
    let (ordinary, slow): (Vec<&KeptUnit>, Vec<&KeptUnit>) =
        kept.units.iter().partition(|unit| unit.is_ordinary);
    let usual = ordinary
        .last()
        .map(|unit| counts(store, &effects, unit.event))
        .ok_or("there are ordinary frames")?;
    let mut sentences = Vec::new();
    for unit in slow {
        let Some(event) = store.event(unit.event) else { continue };
        for (site, count) in counts(store, &effects, event.id) {
            let usually = usual.get(&site).copied().unwrap_or(0);
            if count != usually {
                let subject =
                    event.subject.map_or(String::new(), |subject| store.subject_text(subject));
                let took = store.span_ns(event.span.unwrap_or(0)) / 1000;
                sentences.push(format!(
                    "{subject} took {took} µs: {site} ran {count} times, usually {usually}"
                ));
            }
        }
    }
    Ok(sentences)
}

fn run(recording: Recording) -> Result<Vec<String>, Box<dyn Error>> {
    let profiler = Profiler::new("frames").observe(methods("Window::*")).install()?;
    let mut window = Window::default();
    for number in 0..FRAMES {
        window.frame(number);
        std::thread::sleep(PAUSE);
    }
    drop(profiler);
    recording.close();
    differences(&recording.store())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let recording = match arguments.iter().position(|it| it == "--record") {
        Some(at) => Recording::file(arguments.get(at + 1).ok_or("--record needs a file")?),
        None => Recording::memory(),
    };
    let recording = recording.budget(BUDGET).keep("took:>p99.9 at site:Window::frame").start()?;
    for sentence in run(recording)? {
        println!("{sentence}");
    }
    Ok(())
}

#[test]
fn the_slow_frame_is_found_long_after_it_left_the_window() {
    let recording = Recording::memory().budget(BUDGET).keep("took:>p99.9 at site:Window::frame");
    let sentences = run(recording.start().expect("there is room")).expect("it runs");
    let shaped =
        sentences.iter().find(|text| text.contains("Window::shape")).expect("a frame shapes texts");
    assert!(shaped.contains("4711") && shaped.ends_with("ran 40 times, usually 0"), "{shaped}");
    assert!(sentences.iter().any(|text| text.contains("load_theme ran 1 times")), "{sentences:?}");
}
