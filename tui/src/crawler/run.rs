//! Event loop, which reads keys and replies, draws the screen, and passes jobs to the worker.

use std::env;
use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::Command as Process;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use metaspy_reader::Store;
use metaspy_report::findings;
use ratatui::crossterm::clipboard::CopyToClipboard;
use ratatui::crossterm::event::{self, Event, KeyEventKind, KeyModifiers};

use ratatui::crossterm::execute;

use super::command::Command;
use super::config::{self, Config, Files, Filters};
use super::keys::Mode;
use super::marks::Marks;
use super::state::{Crawler, Request};
use super::terminal::{self, TerminalGuard};
use super::worker::Worker;
use super::{draw, editor, keys, marks};

/// Time between two readings of a live recording.
const TICK: Duration = Duration::from_millis(100);
/// Longest wait for a key while a job runs, so that its reply appears soon.
const ANSWER: Duration = Duration::from_millis(10);
/// Maximum number of keys between two frames, so that a key that is held down never lags.
const BURST: usize = 32;

/// Message for users without a directory of the configuration.
const NO_DIRECTORY: &str = "there is no directory for it: set METASPY_CONFIG";

/// Shows a recording, such as the recording of a profiler in this process, until the user quits.
/// The title is its name.
///
/// # Errors
///
/// If the terminal cannot be used, for example because standard output is a file.
pub fn crawl(store: &Store, title: &str) -> std::io::Result<()> {
    run(Crawler::new(store.clone(), title.to_owned(), (80, 24)))
}

/// Shows a recording until the user quits.
pub fn run(mut crawler: Crawler) -> std::io::Result<()> {
    let stop_flag = terminal::stop_flag()?;
    let mut screen = TerminalGuard::acquire()?;
    let mut worker = Worker::new();
    let files = config::directory().map(Files::new).ok_or_else(|| NO_DIRECTORY.to_owned());
    let Configured { config, own_files } = configure(&mut crawler, files);
    let size = screen.terminal.size()?;
    crawler.resize(size.width, size.height - crawler.card_rows(size.height));
    let began = Instant::now();
    let mut last_tick = Instant::now();
    let mut dirty = true;
    while !stop_flag.load(Relaxed) {
        for job in crawler.take_jobs() {
            worker.submit(&crawler.store, job);
        }
        if dirty {
            // Several changes of the size may arrive as a single event, or without any.
            let size = screen.terminal.size()?;
            let height = size.height - crawler.card_rows(size.height);
            if crawler.size != (size.width, height) {
                crawler.resize(size.width, height);
            }
            screen.draw(|frame| draw::draw(frame, &crawler))?;
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
                Some(Request::Redraw) => screen.clear()?,
                Some(Request::Suspend) => screen.suspend(terminal::stop_process)??,
                Some(Request::Edit { file, line }) => {
                    let done = screen.suspend(|| edit(&file, line, config.editor.as_deref()))?;
                    crawler.message = done.err();
                }
                Some(Request::Copy(text)) => {
                    execute!(std::io::stdout(), CopyToClipboard::to_clipboard_from(text))?;
                }
                Some(Request::SaveMarks(marks)) => {
                    let saved = own_files.save_marks(&crawler.store, &marks);
                    crawler.message = saved.err().or(crawler.message.take());
                }
                Some(Request::SaveFilters(filters)) => {
                    let saved = own_files.save_filters(&filters);
                    crawler.message = saved.err().or(crawler.message.take());
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
            dirty |= crawler.store.grows() || crawler.is_waiting() || crawler.message.is_some();
        }
    }
    Ok(())
}

/// Configuration, after it was applied.
struct Configured {
    config: Config,
    own_files: OwnFiles,
}

/// Files that the crawler both reads and writes. One that could not be read has content that the
/// crawler does not know, so it is not written either.
struct OwnFiles {
    marks: Result<(), String>,
    filters: Result<Files, String>,
}

impl OwnFiles {
    fn save_marks(&self, store: &Store, marks: &Marks) -> Result<(), String> {
        self.marks.as_ref().map_err(|error| not_saved("marks", error))?;
        marks::write(store, marks).map_err(|error| not_saved("marks", &error))
    }

    fn save_filters(&self, filters: &Filters) -> Result<(), String> {
        let files = self.filters.as_ref().map_err(|error| not_saved("filters", error))?;
        files.save_filters(filters).map_err(|error| not_saved("filters", &error))
    }
}

fn not_saved(what: &str, error: &str) -> String {
    format!("the {what} are not saved: {error}")
}

/// Applies the files of the configuration. Errors are shown, and the crawler starts without them.
fn configure(crawler: &mut Crawler, files: Result<Files, String>) -> Configured {
    let marks = marks::read(&crawler.store).map(|marks| crawler.marks = marks);
    crawler.message = marks.as_ref().err().cloned().or(crawler.message.take());
    if let Ok(here) = env::current_dir() {
        match findings::settings_of_project(&here) {
            Ok(config) => crawler.view.findings.config = Arc::new(config),
            Err(error) => crawler.message = Some(error),
        }
    }
    let files = match files {
        Ok(files) => files,
        Err(error) => {
            let own_files = OwnFiles { marks, filters: Err(error) };
            return Configured { config: Config::default(), own_files };
        }
    };
    let mut or_message = |error: String| crawler.message = Some(error);
    let config = files.config().map_err(&mut or_message).unwrap_or_default();
    let filters = files.filters().inspect_err(|error| or_message(error.clone()));
    let theme = config
        .chosen_theme(|name| env::var(name).ok())
        .map_err(&mut or_message)
        .unwrap_or_default();
    for browser in files.browsers() {
        if let Err(error) = browser.map(|browser| crawler.add_browser(browser)) {
            crawler.message = Some(error);
        }
    }
    crawler.theme = theme;
    crawler.keys = config.keys.clone();
    let filters = filters.map(|filters| {
        crawler.saved_filters = filters;
        files
    });
    Configured { config, own_files: OwnFiles { marks, filters } }
}

fn handle(crawler: &mut Crawler, event: Event) -> Option<Request> {
    let command: Option<Command> = match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        // A terminal sends the same bytes for Alt with a key and for Esc followed by the key; no
        // command uses Alt.
        Event::Key(mut key)
            if key.modifiers == KeyModifiers::ALT && crawler.mode() != Mode::Prompt =>
        {
            key.modifiers = KeyModifiers::NONE;
            crawler.apply(Command::Leave);
            return crawler.press(key);
        }
        Event::Key(key) => return crawler.press(key),
        Event::Mouse(mouse) => keys::mouse(mouse),
        Event::Resize(width, height) => {
            crawler.resize(width, height.saturating_sub(crawler.card_rows(height)));
            None
        }
        _ => None,
    };
    crawler.apply(command?)
}

/// Opens a file in the user's editor. The name comes from a recording, so it is never passed to a
/// shell, nor to a place where an option is expected.
fn edit(file: &str, line: u32, configured: Option<&str>) -> Result<(), String> {
    let path = Path::new(file);
    if !path.is_file() {
        return Err(format!(
            "{file} not found: start metaspy in the directory where the program was built"
        ));
    }
    let path = std::path::absolute(path).map_err(|error| format!("{file}: {error}"))?;
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()));
    let editor = configured.map(str::to_owned).or(editor).unwrap_or_else(|| "vi".into());
    let words = editor::words(&editor, &path, line);
    let program = &words[0];
    let mut process = Process::new(program);
    process.args(&words[1..]);
    // If the recording comes on standard input, the editor also reads its keys from the terminal.
    if !io::stdin().is_terminal()
        && let Ok(keys) = File::open(terminal::KEYS)
    {
        process.stdin(keys);
    }
    let status = process.status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} ended with {status}", program.display())),
        Err(error) => {
            Err(format!("{}: {error}; set EDITOR to an installed editor", program.display()))
        }
    }
}
