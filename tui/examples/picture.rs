//! Draws the crawler on a recording as SVG.
//!
//! ```sh
//! metaspy demo --record demo.spy
//! cargo run -p metaspy-tui --example picture -- demo.spy 'f "took:>1ms" Enter End Tab' > docs/images/crawler.svg
//! ```
//!
//! Keys have spaces between them; a text in quotes is typed.

use std::fmt::Write;
use std::process::ExitCode;

use metaspy_reader::Store;
use metaspy_tui::crawler::Crawler;
use metaspy_tui::crawler::draw::draw;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};

/// Columns and rows of the screen.
const SCREEN: (u16, u16) = (100, 26);
/// Size of a cell in the picture.
const CELL: (f64, f64) = (8.4, 17.0);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, keys] = &arguments[..] else {
        eprintln!("usage: picture RECORDING KEYS > FILE.svg");
        return ExitCode::from(2);
    };
    match Store::open(file.as_ref()) {
        Ok(store) => print!("{}", svg(&screen(store, file, keys))),
        Err(error) => {
            eprintln!("{file}: {error}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

/// The screen after these keys.
fn screen(store: Store, file: &str, keys: &str) -> Buffer {
    let mut crawler = Crawler::new(store, file, SCREEN);
    settle(&mut crawler);
    for word in keys.split(' ') {
        let codes: Vec<KeyCode> = match word {
            "Enter" => vec![KeyCode::Enter],
            "Tab" => vec![KeyCode::Tab],
            "Down" => vec![KeyCode::Down],
            "End" => vec![KeyCode::End],
            text => text.trim_matches('"').chars().map(KeyCode::Char).collect(),
        };
        for code in codes {
            crawler.press(KeyEvent::new(code, KeyModifiers::NONE));
            settle(&mut crawler);
        }
    }
    let mut terminal =
        Terminal::new(TestBackend::new(SCREEN.0, SCREEN.1)).expect("a screen in memory");
    terminal.draw(|frame| draw(frame, &crawler)).expect("a screen in memory");
    terminal.backend().buffer().clone()
}

/// Runs all jobs that a key has queued.
fn settle(crawler: &mut Crawler) {
    loop {
        let jobs = crawler.take_jobs();
        if jobs.is_empty() {
            return;
        }
        for job in jobs {
            let reply = job.run(&crawler.store);
            crawler.accept(reply);
        }
    }
}

fn svg(cells: &Buffer) -> String {
    let (width, height) =
        (f64::from(cells.area.width) * CELL.0, f64::from(cells.area.height) * CELL.1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 -8 {:.0} {:.0}\" font-family=\"DejaVu Sans Mono, Menlo, \
         Consolas, monospace\" font-size=\"14\">\n<rect x=\"-8\" y=\"-8\" width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#16181d\"/>\n",
        width + 16.0,
        height + 16.0
    );
    for y in 0..cells.area.height {
        let mut x = 0;
        while x < cells.area.width {
            let begin = x;
            let style = style_of(&cells[(x, y)]);
            let mut text = String::new();
            while x < cells.area.width && style_of(&cells[(x, y)]) == style {
                text.push_str(cells[(x, y)].symbol());
                x += 1;
            }
            let columns = f64::from(x - begin) * CELL.0;
            let (left, top) = (f64::from(begin) * CELL.0, f64::from(y) * CELL.1);
            if style.1 {
                let _ = writeln!(
                    svg,
                    "<rect x=\"{left:.1}\" y=\"{top:.0}\" width=\"{columns:.1}\" height=\"{}\" fill=\"{}\"/>",
                    CELL.1, style.0
                );
            }
            if text.trim().is_empty() {
                continue;
            }
            let fill = if style.1 { "#16181d" } else { style.0 };
            let weight = if style.2 { " font-weight=\"bold\"" } else { "" };
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = writeln!(
                svg,
                "<text x=\"{left:.1}\" y=\"{:.1}\" textLength=\"{columns:.1}\" xml:space=\"preserve\" fill=\"{fill}\"{weight}>{text}</text>",
                top + CELL.1 - 4.0
            );
        }
    }
    svg + "</svg>\n"
}

/// Colour of the letters, whether they are reversed, and whether they are bold.
fn style_of(cell: &Cell) -> (&'static str, bool, bool) {
    let colour = match cell.fg {
        Color::DarkGray => "#7d8590",
        Color::Red => "#ff7b72",
        Color::Green => "#7ee787",
        Color::Yellow => "#e3b341",
        Color::Blue => "#79c0ff",
        Color::Magenta => "#d2a8ff",
        Color::Cyan => "#56d4dd",
        _ => "#e6edf3",
    };
    (colour, cell.modifier.contains(Modifier::REVERSED), cell.modifier.contains(Modifier::BOLD))
}
