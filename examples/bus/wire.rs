//! What is written into messages: the bytes that mini-redis carries and does not look into.
//!
//! It is text. mini-redis hands on any bytes, but its client makes text of what it receives, and of
//! bytes that are none a picture of them.

use metaspy::Carried;
use metaspy::Recording;

/// The kinds of announcements, and the channel of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    NodeSelected,
    NodeChanged,
    CommandRun,
    PanelRefreshed,
}

pub const KINDS: [Kind; 4] =
    [Kind::NodeSelected, Kind::NodeChanged, Kind::CommandRun, Kind::PanelRefreshed];
pub const CHANNELS: [&str; 3] = ["nodes", "commands", "panels"];

impl Kind {
    /// Channel and kind.
    pub fn path(self) -> &'static str {
        match self {
            Kind::NodeSelected => "nodes::node_selected",
            Kind::NodeChanged => "nodes::node_changed",
            Kind::CommandRun => "commands::command_run",
            Kind::PanelRefreshed => "panels::panel_refreshed",
        }
    }

    /// Its place in [`CHANNELS`].
    pub fn channel(self) -> usize {
        match self {
            Kind::NodeSelected | Kind::NodeChanged => 0,
            Kind::CommandRun => 1,
            Kind::PanelRefreshed => 2,
        }
    }
}

/// An announcement under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Announcement {
    /// The event of its PUBLISH.
    pub sent: Carried,
    pub publisher: usize,
    /// How many its publisher had announced on this channel before: a gap in these was missed.
    pub number: u64,
    pub kind: Kind,
}

/// What stands in a message.
#[derive(Debug, PartialEq)]
pub enum Letter {
    Announced(Announcement),
    /// Nothing comes on this channel any more; how many each publisher announced on it.
    End(Vec<u64>),
}

impl Letter {
    /// `announced RECORDING EVENT PUBLISHER NUMBER KIND`, filled up with dots;
    /// `end NUMBER NUMBER …`.
    pub fn write(&self, recording: &str, payload: usize) -> String {
        match self {
            Letter::Announced(Announcement { sent, publisher, number, kind }) => {
                let (sent, kind) = (sent.to_bits(), kind.path());
                let mut text =
                    format!("announced {recording} {sent:x} {publisher} {number} {kind} ");
                text.extend(std::iter::repeat_n('.', payload.saturating_sub(text.len())));
                text
            }
            Letter::End(totals) => {
                let totals: Vec<String> = totals.iter().map(u64::to_string).collect();
                format!("end {}", totals.join(" "))
            }
        }
    }

    /// Reads a message; `None` if it is none of ours. What another recording's event caused has no
    /// cause here.
    pub fn read(text: &str, recording: &str) -> Option<Letter> {
        let mut words = text.split_whitespace();
        match words.next()? {
            "announced" => {
                let is_ours = words.next()? == recording;
                let bits = u64::from_str_radix(words.next()?, 16).ok()?;
                let sent = if is_ours { Carried::from_bits(bits) } else { Carried::NOTHING };
                let (publisher, number) =
                    (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
                let path = words.next()?;
                let kind = KINDS.into_iter().find(|kind| kind.path() == path)?;
                Some(Letter::Announced(Announcement { sent, publisher, number, kind }))
            }
            "end" => words.map(|total| total.parse().ok()).collect::<Option<_>>().map(Letter::End),
            _ => None,
        }
    }
}

/// Identifies a recording among all processes. The number of an event alone has another meaning in
/// each.
pub fn name_of(recording: &Recording) -> String {
    let header = recording.store().header();
    format!("{:x}-{:x}", header.pid, header.started_ns)
}

/// The order of what arrives: finds what was missed.
#[derive(Debug)]
pub struct Order {
    /// The next number, by publisher and channel.
    next: Vec<[u64; CHANNELS.len()]>,
    /// Channels that have not ended.
    open: usize,
}

impl Order {
    pub fn new(publishers: usize) -> Self {
        Order { next: vec![[0; CHANNELS.len()]; publishers], open: CHANNELS.len() }
    }

    /// How many were missed before this letter; `None` if that is impossible: it came twice, or
    /// from no known sender.
    pub fn missed_before(&mut self, channel: usize, letter: &Letter) -> Option<u64> {
        match letter {
            Letter::Announced(Announcement { publisher, number, .. }) => {
                let next = self.next.get_mut(*publisher)?.get_mut(channel)?;
                let missed = number.checked_sub(*next)?;
                *next = number + 1;
                Some(missed)
            }
            Letter::End(totals) if totals.len() == self.next.len() => {
                self.open = self.open.checked_sub(1)?;
                let missed =
                    |(total, next): (&u64, &mut [u64; _])| total.checked_sub(*next.get(channel)?);
                totals.iter().zip(&mut self.next).map(missed).sum()
            }
            Letter::End(_) => None,
        }
    }

    /// True if no message will come any more.
    pub fn has_ended(&self) -> bool {
        self.open == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(publisher: usize, number: u64) -> Letter {
        let sent = Carried::from_bits(0x0100_0000_0000_4d03);
        Letter::Announced(Announcement { sent, publisher, number, kind: Kind::NodeChanged })
    }

    #[test]
    fn a_letter_is_read_as_it_was_written() {
        for letter in [announced(2, 7), Letter::End(vec![3, 0, 12])] {
            for payload in [0, 400] {
                let text = letter.write("1f-2a", payload);
                assert_eq!(Letter::read(&text, "1f-2a"), Some(letter_of(&letter)), "{text}");
            }
        }
        assert_eq!(announced(2, 7).write("1f-2a", 400).len(), 400);
    }

    fn letter_of(letter: &Letter) -> Letter {
        match letter {
            Letter::Announced(announcement) => Letter::Announced(*announcement),
            Letter::End(totals) => Letter::End(totals.clone()),
        }
    }

    #[test]
    fn the_event_of_another_recording_is_no_cause() {
        let text = announced(0, 0).write("another", 0);
        let Some(Letter::Announced(read)) = Letter::read(&text, "this one") else {
            panic!("{text}")
        };
        assert_eq!((read.sent, read.number), (Carried::NOTHING, 0));
    }

    #[test]
    fn what_is_no_letter_of_ours_is_not_read_as_one() {
        for text in [
            "",
            "hello",
            "announced",
            "announced r zz 0 0 nodes::node_selected",
            "announced r 1 0 0 x",
            "end x",
        ] {
            assert_eq!(Letter::read(text, "r"), None, "{text}");
        }
    }

    #[test]
    fn what_was_missed_is_what_the_numbers_leave_out() {
        let mut order = Order::new(2);
        assert_eq!(order.missed_before(0, &announced(0, 0)), Some(0));
        assert_eq!(order.missed_before(0, &announced(0, 3)), Some(2));
        assert_eq!(order.missed_before(0, &announced(1, 1)), Some(1));
        assert_eq!(order.missed_before(0, &announced(0, 3)), None, "it came twice");
        assert_eq!(order.missed_before(0, &announced(9, 0)), None, "from no known sender");
        assert_eq!(order.missed_before(0, &Letter::End(vec![6, 2])), Some(2));
        assert!(!order.has_ended());
        assert_eq!(order.missed_before(1, &Letter::End(vec![0, 5])), Some(5));
        assert_eq!(order.missed_before(2, &Letter::End(vec![0, 0])), Some(0));
        assert!(order.has_ended());
    }
}
