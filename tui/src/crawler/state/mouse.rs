//! Mouse: a press selects a row, a screen or a tab. A second press on the same row of the pane goes
//! to its event. The wheel scrolls the part under it.

use metaspy_report::text::width;

use super::Crawler;
use crate::crawler::command::Screen;
use crate::crawler::layout::{Area, Focus, LaneColumns, Layout, screens, tab_at};

impl Crawler {
    pub(super) fn click(&mut self, column: u16, row: u16) {
        if self.help.take().is_some() {
            return;
        }
        let layout = Layout::new(self.size.0, self.size.1, self.view.pane.focus);
        if layout.screens.contains(column, row) {
            let beside = width(&self.view.filter_and_sort()) as u16;
            let mut names = screens(self.screens(), self.view.screen, self.size.0, beside);
            if let Some((_, screen, _)) =
                names.find(|(x, _, text)| (*x..*x + text.len() as u16).contains(&column))
            {
                self.show(screen);
            }
            return;
        }
        // Returns the line of an area under the mouse, below `head` lines of titles.
        let line = |area: Area, head: u16| row.checked_sub(area.inner().y + head).map(usize::from);
        let view = &mut self.view;
        match view.screen {
            Screen::Events if layout.list.inner().contains(column, row) => {
                view.pane.focus = Focus::List;
                view.list.select_line(line(layout.list, 0).unwrap_or(0));
            }
            Screen::Events if layout.pane.inner().contains(column, row) => {
                self.focus_pane();
                self.click_pane(line(layout.pane, 1), column - layout.pane.inner().x);
            }
            _ => {
                if view.screen == Screen::Browser {
                    view.browser.focus = layout.body.share_at(column, view.browser.columns.len());
                }
                if let Some(rows) = view.rows_mut()
                    && let Some(line) =
                        line(layout.body, 1).filter(|&line| line < rows.cursor().height)
                {
                    let row = rows.cursor().top + line;
                    let count = rows.row_count();
                    rows.cursor_mut().select(row, count);
                }
                let time = LaneColumns::new(layout.body.inner().width);
                let at = column
                    .checked_sub(layout.body.inner().x + time.time)
                    .filter(|&at| at < time.columns);
                if let (Some(at), Screen::Lanes) = (at, view.screen) {
                    view.lanes.column = Some(at.into());
                }
            }
        }
    }

    /// Scrolls the part under the mouse. The selection and the focus stay.
    pub(super) fn wheel(&mut self, column: u16, row: u16, by: isize) {
        if self.help.is_some() {
            return self.scroll_help(by);
        }
        let layout = Layout::new(self.size.0, self.size.1, self.view.pane.focus);
        let store = &self.store;
        let view = &mut self.view;
        if let Some(rows) = view.rows_mut() {
            let count = rows.row_count();
            rows.cursor_mut().scroll(by, count);
        } else if layout.pane.contains(column, row) {
            view.pane.cursor.scroll(by, view.pane.rows.len());
        } else {
            view.list.scroll(store, &view.filter, by);
        }
    }

    fn click_pane(&mut self, line: Option<usize>, column: u16) {
        let pane = &mut self.view.pane;
        match line.map(|line| pane.cursor.top + line) {
            Some(at) if at == pane.cursor.row => self.enter_pane_row(),
            Some(at) => {
                pane.graph.select_line(at);
                pane.select(at);
            }
            None => {
                if let Some(tab) = tab_at(column, pane.width, pane.tab) {
                    self.open_tab(tab);
                }
            }
        }
    }
}
