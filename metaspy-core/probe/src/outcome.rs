//! How an event ended.

/// How an event ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Outcome {
    /// It has not ended; after a crash, this is where the program was.
    #[default]
    Running = 0,
    /// It returned, and its success is not known.
    Returned = 1,
    /// It returned `Ok` or `Some`.
    Succeeded = 2,
    /// It returned `Err` or `None`.
    Failed = 3,
    /// A panic left it.
    Panicked = 4,
    /// An async call was dropped before it was done.
    Cancelled = 5,
    /// It has no length: something that happened at one instant.
    Instant = 6,
    /// It ran on when the window went past it; how it ended is in the tallies.
    Moved = 7,
}

impl Outcome {
    /// All of them, each at the place of its three bits.
    pub const ALL: &'static [Outcome] = &[
        Outcome::Running,
        Outcome::Returned,
        Outcome::Succeeded,
        Outcome::Failed,
        Outcome::Panicked,
        Outcome::Cancelled,
        Outcome::Instant,
        Outcome::Moved,
    ];

    /// From its three bits.
    #[inline(always)]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 7 {
            0 => Outcome::Running,
            1 => Outcome::Returned,
            2 => Outcome::Succeeded,
            3 => Outcome::Failed,
            4 => Outcome::Panicked,
            5 => Outcome::Cancelled,
            6 => Outcome::Instant,
            _ => Outcome::Moved,
        }
    }

    /// The word that screens and filters use.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Running => "running",
            Outcome::Returned => "returned",
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::Panicked => "panicked",
            Outcome::Cancelled => "cancelled",
            Outcome::Instant => "instant",
            Outcome::Moved => "moved",
        }
    }
}
