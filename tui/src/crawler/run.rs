//! The loop: keys and time go in, the screen comes out, and work goes on beside it.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::Command as Process;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, Event, KeyEventKind, KeyModifiers};

use super::command::Command;
use super::keys::Mode;
use super::state::{Crawler, Request};
use super::terminal::{self, TerminalGuard};
use super::worker::Worker;
use super::{draw, keys};

/// How often a live recording is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How long an answer from beside the screen may wait to be seen.
const ANSWER: Duration = Duration::from_millis(10);
/// Keys that are taken before the screen is drawn again, so that a held key never runs behind.
const BURST: usize = 32;

/// Crawls a recording until the reader quits.
pub fn run(mut crawler: Crawler) -> std::io::Result<()> {
    let stop_flag = terminal::stop_flag()?;
    let mut screen = TerminalGuard::acquire()?;
    let mut worker = Worker::new();
    let size = screen.terminal.size()?;
    crawler.resize(size.width, size.height);
    let began = Instant::now();
    let mut last_tick = Instant::now();
    let mut dirty = true;
    while !stop_flag.load(Relaxed) {
        for order in crawler.take_jobs() {
            worker.submit(&crawler.store, order);
        }
        if dirty {
            // Sizes that follow each other quickly may be told as one, or not at all.
            let size = screen.terminal.size()?;
            if crawler.size != (size.width, size.height) {
                crawler.resize(size.width, size.height);
            }
            screen.terminal.draw(|frame| draw::draw(frame, &crawler))?;
        }
        let until_tick = TICK.saturating_sub(last_tick.elapsed());
        let wait = if crawler.is_waiting() { until_tick.min(ANSWER) } else { until_tick };
        dirty = false;
        let mut burst = 0;
        while event::poll(if burst == 0 { wait } else { Duration::ZERO })? && burst < BURST {
            burst += 1;
            dirty = true;
            match handle(&mut crawler, event::read()?) {
                Some(Request::Quit) => return Ok(()),
                Some(Request::Edit { file, line }) => {
                    let done = screen.suspend(|| edit(&file, line))?;
                    crawler.message = done.err();
                }
                None => {}
            }
        }
        for reply in worker.replies() {
            crawler.accept(reply);
            dirty = true;
        }
        if last_tick.elapsed() >= TICK {
            last_tick = Instant::now();
            crawler.tick(began.elapsed().as_nanos() as u64);
            dirty |= crawler.store.is_live() || crawler.is_waiting() || crawler.message.is_some();
        }
    }
    Ok(())
}

fn handle(crawler: &mut Crawler, event: Event) -> Option<Request> {
    let command: Option<Command> = match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        // A terminal cannot tell Alt and a key from Esc and the key soon after it; nothing here is bound to Alt.
        Event::Key(mut key) if key.modifiers == KeyModifiers::ALT && crawler.mode() != Mode::Prompt => {
            key.modifiers = KeyModifiers::NONE;
            crawler.apply(Command::Leave);
            keys::command(key, crawler.mode())
        }
        Event::Key(key) => keys::command(key, crawler.mode()),
        Event::Mouse(mouse) => keys::mouse(mouse),
        Event::Resize(width, height) => {
            crawler.resize(width, height);
            None
        }
        _ => None,
    };
    crawler.apply(command?)
}

/// Opens a file in the reader's editor. The name comes from a recording: it is never given to a shell, and never
/// stands where an option could.
fn edit(file: &str, line: u32) -> Result<(), String> {
    let path = Path::new(file);
    if !path.is_file() {
        return Err(format!("{file} is not here: start metaspy in the folder where the program was built"));
    }
    let path = std::path::absolute(path).map_err(|error| format!("{file}: {error}"))?;
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let editor = editor.unwrap_or_else(|| "vi".into());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let mut process = Process::new(program);
    process.args(words).arg(format!("+{line}")).arg(path);
    // While a recording comes on standard input, the editor's keys are those of the terminal as well.
    if !io::stdin().is_terminal()
        && let Ok(keys) = File::open(terminal::KEYS)
    {
        process.stdin(keys);
    }
    let status = process.status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("{program}: {error}; set EDITOR to an editor that is there")),
    }
}
