//! Sites by number and kind.

/// The number of a site in its process; in a recording, in its site table. 20 bits, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteId(pub u32);

/// What kind of place a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum SiteKind {
    /// A method or a function.
    Method = 1,
    /// An async method or function: one event from first poll to completion or drop.
    Async = 2,
    /// Something that is announced.
    Announcement = 3,
    /// A production of a grammar.
    Production = 4,
    /// A tracing span or event.
    Span = 5,
    /// A state that is read or written.
    State = 6,
    /// A block of a profiler.
    Block = 7,
    /// A change of the model, told by the domain.
    Change = 8,
    /// Something that is held: a lock. Its thread does other things meanwhile.
    Hold = 9,
}

impl SiteKind {
    /// From its number; what a later version added reads as a method.
    pub const fn from_byte(byte: u8) -> Self {
        match byte {
            2 => SiteKind::Async,
            3 => SiteKind::Announcement,
            4 => SiteKind::Production,
            5 => SiteKind::Span,
            6 => SiteKind::State,
            7 => SiteKind::Block,
            8 => SiteKind::Change,
            9 => SiteKind::Hold,
            _ => SiteKind::Method,
        }
    }

    /// Whether its thread does things while its events last that are not theirs: what is entered and left, as a future,
    /// and what is held.
    pub const fn is_entered(self) -> bool {
        matches!(self, SiteKind::Async | SiteKind::Span | SiteKind::Hold)
    }

    /// The word that screens and filters use.
    pub const fn name(self) -> &'static str {
        match self {
            SiteKind::Method => "method",
            SiteKind::Async => "async",
            SiteKind::Announcement => "announcement",
            SiteKind::Production => "production",
            SiteKind::Span => "span",
            SiteKind::State => "state",
            SiteKind::Block => "block",
            SiteKind::Change => "change",
            SiteKind::Hold => "hold",
        }
    }
}
