//! The layout story, as text: `cargo run --release --example layout [PAGE]`.
//!
//! `taffy` lays out a real page that changes frame by frame, and the nodes of the page are the
//! subjects. The example profiles 120 frames in memory and answers four questions: which nodes are
//! laid out too often, how many measures hit the cache, which changes caused which re-layouts, and
//! which re-layouts should not have happened.
//!
//! The surprise: typing one letter makes 8 nodes dirty and lays out 901, and 888 of these
//! re-layouts should not have happened. Most of them are of page breaks, invisible empty boxes
//! without height: the page is in a flex row, which must measure it, and taffy's cache keeps no
//! measure of a box whose margins may collapse with those around it.
//! `metaspy_layout_story::surprise` has the whole story. `metaspy demo` shows the same live.

use std::error::Error;
use std::process::ExitCode;

use metaspy::Recording;
use metaspy_layout_story::{Limits, Page, STACK, Story, Until, profiler, report};

/// Frames that are profiled; about a million events.
const FRAMES: u64 = 120;

fn main() -> ExitCode {
    // A deep page takes a deep stack, which a thread has only on request.
    let story =
        std::thread::Builder::new().name("layout".into()).stack_size(STACK).spawn(|| match run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        });
    story.expect("a thread can be started").join().unwrap_or(ExitCode::FAILURE)
}

fn run() -> Result<(), Box<dyn Error>> {
    let page = match std::env::args_os().nth(1) {
        Some(path) => Page::open(path, Limits::default())?,
        None => Page::shipped(),
    };
    let mut story = Story::open(&page, 1)?;
    println!(
        "{}: {} elements, {} nodes",
        page.name(),
        page.elements(),
        story.scene().ids().count()
    );

    let recording = Recording::memory().start()?;
    let profiler = profiler().install()?;
    story.run(Until { frames: Some(FRAMES), ..Until::default() }, |_| {
        std::ops::ControlFlow::Continue(())
    })?;
    let profile = profiler.uninstall();

    print!("{}", report(&profile, story.scene()));
    recording.close();
    Ok(())
}
