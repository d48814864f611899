//! Terminal, acquired by a guard and restored whenever the guard or the process ends.

use std::io::{self, Stdout, stdout};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
#[cfg(unix)]
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate,
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};

/// Source of keys if standard input is not the terminal.
pub const KEYS: &str = "/dev/tty";

/// Maximum time for the loop to end after a signal.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(1);

/// True while the terminal is acquired, so that it is restored once.
static ACQUIRED: AtomicBool = AtomicBool::new(false);

/// Terminal as the screen of the crawler. Dropping it restores the terminal; so does a panic.
pub struct TerminalGuard {
    /// The terminal to draw on.
    pub terminal: Terminal<CrosstermBackend<Stdout>>,
    /// Lines on the screen with letters of several characters.
    uncertain: Vec<(u16, String)>,
}

impl TerminalGuard {
    /// Acquires the terminal.
    pub fn acquire() -> io::Result<TerminalGuard> {
        restore_on_panic();
        enter()?;
        match Terminal::new(CrosstermBackend::new(stdout())) {
            Ok(terminal) => Ok(TerminalGuard { terminal, uncertain: Vec::new() }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Restores the terminal while another program, such as an editor, runs.
    pub fn suspend<T>(&mut self, run: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let value = run();
        enter()?;
        self.clear()?;
        Ok(value)
    }

    /// Clears the screen, so that the next drawing writes all of it. It sends no query, because
    /// some terminals never answer.
    pub fn clear(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Draws the screen. Terminals differ in the width of flags and combining scripts, so a line
    /// with such letters may leave remains beside its cells. If such a line changes, the whole
    /// screen is drawn again.
    pub fn draw(&mut self, draw: impl Fn(&mut Frame<'_>)) -> io::Result<()> {
        let before = std::mem::take(&mut self.uncertain);
        self.uncertain = uncertain(self.terminal.draw(&draw)?.buffer);
        if !before.is_empty() && before != self.uncertain {
            execute!(stdout(), BeginSynchronizedUpdate)?;
            self.clear()?;
            self.terminal.draw(&draw)?;
            execute!(stdout(), EndSynchronizedUpdate)?;
        }
        Ok(())
    }
}

/// Returns the lines with a letter of several characters.
fn uncertain(buffer: &Buffer) -> Vec<(u16, String)> {
    let line = |y| (0..buffer.area.width).map(move |x| buffer[(x, y)].symbol());
    let lines =
        (0..buffer.area.height).filter(|&y| line(y).any(|symbol| symbol.chars().nth(1).is_some()));
    lines.map(|y| (y, line(y).collect())).collect()
}

/// Stops this process, as Ctrl-Z does in a terminal that is not raw. Returns when it continues.
pub(crate) fn stop_process() -> io::Result<()> {
    #[cfg(unix)]
    signal_hook::low_level::raise(signal_hook::consts::SIGTSTP)?;
    Ok(())
}

/// Returns a flag that a signal to terminate sets. Then the loop ends, and the terminal is
/// restored.
///
/// A loop that does not end soon is blocked reading a closed terminal, from which crossterm never
/// returns. Then the process exits without it.
pub(crate) fn stop_flag() -> io::Result<Arc<AtomicBool>> {
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
        .and_then(|()| {
            execute!(stdout(), EnterAlternateScreen, DisableLineWrap, EnableMouseCapture)
        })
        .inspect_err(|_| restore())
}

fn restore() {
    if ACQUIRED.swap(false, SeqCst) {
        // If this fails, there is no way to report it.
        let _ = execute!(stdout(), DisableMouseCapture, EnableLineWrap, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// Restores the terminal before the message of a panic is written.
///
/// A job may panic without ending the crawler: its thread writes no message, and its reply has no
/// answer.
fn restore_on_panic() {
    static ONCE: AtomicBool = AtomicBool::new(false);
    if ONCE.swap(true, SeqCst) {
        return;
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let beside = std::thread::current()
            .name()
            .is_some_and(|name| name.starts_with(super::worker::THREAD));
        if !beside {
            restore();
            before(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_flags_and_combining_scripts_are_uncertain() {
        let of = |text: &str| {
            let buffer = Buffer::with_lines(["plain", text, "長い"]);
            uncertain(&buffer).into_iter().map(|(line, _)| line).collect::<Vec<_>>()
        };
        assert_eq!(
            [of("🇩🇪🇯🇵 flags"), of("नमस्ते"), of("größe"), of("長")],
            [vec![1], vec![1], vec![], vec![]]
        );
    }
}
