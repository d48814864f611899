//! Drawing of the state. Each panel is one file with one `draw`; drawing changes nothing.

mod blueprint;
mod breadcrumbs;
mod browser;
mod canvas;
mod element;
mod events;
mod findings;
mod footer;
mod functions;
mod graph;
mod guide;
mod header;
mod help;
mod lanes;
mod palette;
mod pane;
mod productions;
mod sites;
mod structure;
mod subjects;
mod table;
mod theme;
mod types;

use ratatui::Frame;
use ratatui::buffer::Buffer;

use super::command::Screen;
use super::layout::{Area, Layout};
use super::panel::Panel;
use super::state::Crawler;
use canvas::Canvas;

/// Smallest screen that is drawn, in columns and rows.
const SMALLEST: (u16, u16) = (24, 6);

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, crawler: &Crawler) {
    let size = frame.area();
    let mut canvas = Canvas::new(frame.buffer_mut());
    if size.width < SMALLEST.0 || size.height < SMALLEST.1 {
        canvas.text(
            size.x,
            size.y,
            size.width,
            "too small: make the window larger",
            theme::WARNING,
        );
        return;
    }
    let card = crawler.card_rows(size.height);
    let layout = Layout::new(size.width, size.height - card, crawler.view.pane.focus);
    header::draw(&mut canvas, layout.header, crawler);
    header::draw_screens(&mut canvas, layout.screens, crawler);
    match crawler.view.screen {
        Screen::Events => {
            if layout.list.width > 0 {
                events::draw(&mut canvas, layout.list, crawler);
            }
            if layout.pane.width > 0 {
                pane::draw(&mut canvas, layout.pane, crawler);
            }
        }
        Screen::Subjects => subjects::draw(&mut canvas, layout.body, crawler),
        Screen::Sites => sites::draw(&mut canvas, layout.body, crawler),
        Screen::Lanes => lanes::draw(&mut canvas, layout.body, crawler),
        Screen::Findings => findings::draw(&mut canvas, layout.body, crawler),
        Screen::Productions => productions::draw(&mut canvas, layout.body, crawler),
        Screen::Browser => browser::draw(&mut canvas, layout.body, crawler),
        Screen::Structure => structure::draw(&mut canvas, layout.body, crawler),
        Screen::Blueprint => blueprint::draw(&mut canvas, layout.body, crawler),
        Screen::Types => types::draw(&mut canvas, layout.body, crawler),
        Screen::Functions => functions::draw(&mut canvas, layout.body, crawler),
    }
    let found = if crawler.view.screen == Screen::Events { layout.list } else { layout.body };
    canvas.highlight(found.inner(), &crawler.highlighted());
    breadcrumbs::draw(&mut canvas, layout.body, crawler);
    if let Some(top) = crawler.help {
        help::draw(&mut canvas, layout.body, crawler, top);
    }
    if let Some(palette) = &crawler.palette {
        palette::draw(&mut canvas, layout.body, palette);
    }
    footer::draw(&mut canvas, layout.footer, crawler);
    if let Some(guide) = crawler.guide.as_ref().filter(|_| card > 0) {
        let area = Area { x: 0, y: size.height - card, width: size.width, height: card };
        guide::draw(&mut canvas, area, crawler, guide);
    }
    theme::apply(frame.buffer_mut(), crawler.theme);
}

/// Draws a panel over all cells of a buffer.
pub fn panel(cells: &mut Buffer, panel: Panel, crawler: &Crawler) {
    let area = Area { x: 0, y: 0, width: cells.area.width, height: cells.area.height };
    let mut canvas = Canvas::new(cells);
    match panel {
        Panel::Events => events::draw(&mut canvas, area, crawler),
        Panel::Detail | Panel::Causes | Panel::Effects => pane::draw(&mut canvas, area, crawler),
        Panel::Subjects => subjects::draw(&mut canvas, area, crawler),
        Panel::Sites => sites::draw(&mut canvas, area, crawler),
    }
    theme::apply(cells, crawler.theme);
}
