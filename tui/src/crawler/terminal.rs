//! The terminal: taken over while a guard lives, and given back however that ends.

use std::io::{self, Stdout, stdout};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
#[cfg(unix)]
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};

/// Where keys come from while standard input is something else.
pub const KEYS: &str = "/dev/tty";

/// How long the loop may take to end.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether the terminal is taken, so that it is given back once.
static ACQUIRED: AtomicBool = AtomicBool::new(false);

/// The terminal as the crawler's screen. Dropping it gives the terminal back; so does a panic.
pub struct TerminalGuard {
    /// What is drawn on.
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl TerminalGuard {
    /// Takes the terminal.
    pub fn acquire() -> io::Result<TerminalGuard> {
        restore_on_panic();
        enter()?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => Ok(TerminalGuard { terminal }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Gives the terminal to something else while it runs: an editor.
    pub fn suspend<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let value = run();
        enter()?;
        self.terminal.clear()?;
        Ok(value)
    }
}

/// Set as soon as somebody asks the process to end: then the loop ends, and the terminal is given back.
///
/// A loop that does not end soon is stuck reading a terminal that is gone (crossterm never returns from that), and the
/// process ends without it.
pub fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGHUP, SIGINT])?;
        let flag = Arc::clone(&stop);
        std::thread::Builder::new().name("signals".into()).spawn(move || {
            let Some(signal) = signals.forever().next() else { return };
            flag.store(true, SeqCst);
            std::thread::sleep(PATIENCE);
            restore();
            std::process::exit(128 + signal);
        })?;
    }
    Ok(stop)
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    ACQUIRED.store(true, SeqCst);
    enable_raw_mode()
        .and_then(|()| execute!(stdout(), EnterAlternateScreen, EnableMouseCapture))
        .inspect_err(|_| restore())
}

fn restore() {
    if ACQUIRED.swap(false, SeqCst) {
        // There is nobody left to tell if this fails.
        let _ = execute!(stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// A panic's message must not be written into a screen that is about to vanish.
///
/// Work beside the screen may panic without ending the crawler: its thread says nothing, and its order is answered
/// with "failed".
fn restore_on_panic() {
    static ONCE: AtomicBool = AtomicBool::new(false);
    if ONCE.swap(true, SeqCst) {
        return;
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let beside = std::thread::current().name().is_some_and(|name| name.starts_with(super::worker::THREAD));
        if !beside {
            restore();
            before(panic);
        }
    }));
}
