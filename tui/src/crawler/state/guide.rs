//! Guide through a recording: cards, each below the view that it is about.

use metaspy_reader::Store;

use super::{Crawler, filter_edit};
use crate::crawler::command::{Command, Screen};
use crate::crawler::keys::Binding;

/// Rows of the screen that a crawler needs beside a card.
const LEAST: u16 = 9;

/// Card of a guide.
#[derive(Clone, Debug)]
pub struct Card {
    /// Title in the border.
    pub title: &'static str,
    /// Screen and filter that the card opens; `None` leaves the view as it is.
    pub view: Option<(Screen, &'static str)>,
    /// Writes the lines, with numbers of the recording as it is when the card is opened.
    pub lines: fn(&Store) -> Vec<String>,
}

/// Guide that is shown until the user leaves it.
#[derive(Clone, Debug)]
pub struct Guide {
    cards: Vec<Card>,
    at: usize,
    /// Lines of the open card.
    pub lines: Vec<String>,
}

impl Guide {
    /// Returns the number of the open card, counted from 1, and its title.
    pub fn title(&self) -> String {
        format!(" {} of {}: {} ", self.at + 1, self.cards.len(), self.cards[self.at].title)
    }

    /// Returns the hint for the key of a binding at the open card; `None` if the key does nothing
    /// there.
    pub fn hint(&self, binding: &Binding) -> Option<&'static str> {
        match binding.command {
            Command::NextCard if self.at + 1 == self.cards.len() => Some("close"),
            Command::PreviousCard if self.at == 0 => None,
            _ => Some(binding.hint),
        }
    }

    /// Returns the rows of the card: the lines, the keys and the border.
    fn height(&self) -> u16 {
        self.lines.len() as u16 + 3
    }
}

impl Crawler {
    /// Opens the first of these cards. A guide has at least one.
    pub fn guide(&mut self, cards: Vec<Card>) {
        self.guide = Some(Guide { cards, at: 0, lines: Vec::new() });
        self.open_card(0);
    }

    /// Returns the rows of a screen of `height` rows that the open card takes. On a small screen it
    /// takes none.
    pub(crate) fn card_rows(&self, height: u16) -> u16 {
        let rows = self.guide.as_ref().map_or(0, Guide::height);
        if rows + LEAST > height { 0 } else { rows }
    }

    /// Opens the next card, or with `-1` the previous one. Behind the last, the guide is left.
    pub(super) fn turn_card(&mut self, by: isize) {
        let Some(guide) = &self.guide else { return };
        let at = guide.at.saturating_add_signed(by);
        if at < guide.cards.len() { self.open_card(at) } else { self.guide = None }
    }

    fn open_card(&mut self, at: usize) {
        let Some(guide) = &mut self.guide else { return };
        guide.at = at;
        let card = guide.cards[at].clone();
        guide.lines = (card.lines)(&self.store);
        let Some((screen, filter)) = card.view else { return };
        match filter_edit::checked(filter, &self.store) {
            Ok(filter) => {
                self.history.leave(&self.view);
                self.show(screen);
                self.set_filter(filter);
            }
            Err(error) => self.message = Some(error.to_string()),
        }
    }
}
