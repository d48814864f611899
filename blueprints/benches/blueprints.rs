//! `cargo bench -p metaspy-blueprints --bench blueprints` prints layout times, sizes of pages, and
//! frames a second while panning in a headless Chromium. `--smoke` draws a small program once.

#[cfg(unix)]
// The bench presses no key.
#[allow(dead_code)]
#[path = "../tests/browser/chrome.rs"]
mod chrome;
#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::path::Path;
use std::time::{Duration, Instant};

use metaspy_blueprints::{Kind, Options, emit, page, picture};

/// Rounds of each measurement; the median is printed.
const ROUNDS: usize = 7;

fn main() {
    let is_smoke = std::env::args().any(|argument| argument == "--smoke");
    let sizes: &[usize] = if is_smoke { &[200] } else { &[200, 2_000, 20_000] };
    println!(
        "{:>8} {:>12} {:>12} {:>10} {:>12} {:>12}",
        "methods", "picture", "layout", "page", "bytes/method", "pan, 1:1"
    );
    for &count in sizes {
        let graph = fixture::program(count, 1);
        for kind in [Kind::Structural, Kind::Behavioural, Kind::Coverage] {
            let options = Options { threshold: 0.0, ..Options::default() };
            let layout = median(if is_smoke { 1 } else { ROUNDS }, || {
                picture::draw(kind, &graph, &options).expect("everything is recorded");
            });
            let scene = picture::draw(kind, &graph, &options).expect("everything is recorded");
            let one = emit::html(&[emit::Pictures {
                graph: &graph,
                scenes: vec![("one".into(), &scene)],
            }]);
            let page = page(kind, &graph, &options).expect("everything is recorded");
            let rates = frames(&one, is_smoke).map_or_else(
                || "no browser".into(),
                |[fitted, near]| format!("{fitted:.0}, {near:.0} fps"),
            );
            let methods = scene.nodes.iter().map(|node| node.methods.len()).sum::<usize>().max(1);
            println!(
                "{methods:>8} {:>12} {:>9.1} ms {:>7} kB {:>12} {rates:>12}",
                kind.word(),
                layout.as_secs_f64() * 1e3,
                page.len() / 1_000,
                one.len() / methods
            );
        }
    }
}

fn median(rounds: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begin = Instant::now();
            run();
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Frames a second while the picture moves, as large as the page and in its own size; `None`
/// without a browser.
fn frames(html: &str, is_smoke: bool) -> Option<[f64; 2]> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blueprints-bench");
    std::fs::create_dir_all(&dir).expect("the directory is made");
    #[cfg(unix)]
    {
        let file = dir.join("page.html");
        std::fs::write(&file, html).expect("the page is written");
        let mut chrome = chrome::Chrome::start(&dir.join("profile"))?;
        chrome.open(&file, "");
        // As a drag does: each frame moves the picture.
        let pan = format!(
            "new Promise(done => {{ let n = 0, first; const step = now => {{ first ??= now; if (n === {0}) return done(1000 * n / (now - first)); \
             n++; left += n % 20 < 10 ? 8 : -8; place(); requestAnimationFrame(step); }}; requestAnimationFrame(step); }})",
            if is_smoke { 5 } else { 90 }
        );
        let fitted = chrome.evaluate(&pan).as_f64()?;
        chrome.evaluate("zoomAt(700, 400, 1 / zoom)");
        Some([fitted, chrome.evaluate(&pan).as_f64()?])
    }
    #[cfg(not(unix))]
    None
}
