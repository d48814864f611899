//! Fills of boxes.

/// Fill of a box: a token, to which each theme gives a colour, a hatch or a letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Grey from 0, the lightest, to 9.
    Grey(u8),
    /// Method without receiver. It is not a light grey, which would mean few receivers.
    NoReceiver,
    /// Method that never ran.
    NeverRan,
    /// Method that returns nothing, or its receiver.
    Unit,
    /// Method that always returned the same value for each receiver.
    Constant,
    /// Method that returned different values.
    Varies,
    /// Method whose values cannot be compared.
    NotComparable,
    /// Method whose returned values were not recorded.
    #[default]
    Unknown,
    /// Faster, or fewer calls, and its source has changed.
    Faster,
    /// Faster, or fewer calls, with the same source: the cause is elsewhere.
    FasterHere,
    /// Slower, or more calls, and its source has changed.
    Slower,
    /// Slower, or more calls, with the same source: the cause is elsewhere.
    SlowerHere,
    /// Method that the older version does not have.
    New,
    /// Numbers equal within noise.
    Same,
    /// Production that was tried, and failed each time.
    Failed,
}

impl Fill {
    /// Returns the CSS class of the fill in SVG and HTML.
    pub fn class(self) -> String {
        match self {
            Fill::Grey(grey) => format!("g{grey}"),
            Fill::NoReceiver => "none".into(),
            Fill::NeverRan => "never".into(),
            Fill::Unit => "unit".into(),
            Fill::Constant => "constant".into(),
            Fill::Varies => "varies".into(),
            Fill::NotComparable => "hatch".into(),
            Fill::Unknown => "unknown".into(),
            Fill::Faster => "faster".into(),
            Fill::FasterHere => "faster-here".into(),
            Fill::Slower => "slower".into(),
            Fill::SlowerHere => "slower-here".into(),
            Fill::New => "new".into(),
            Fill::Same => "same".into(),
            Fill::Failed => "failed".into(),
        }
    }

    /// Returns true if text on this fill needs the colour of the page.
    pub(crate) fn is_dark(self) -> bool {
        matches!(self, Fill::Grey(5..))
    }

    /// Returns the letter that stands for the fill in text.
    pub fn letter(self) -> char {
        match self {
            Fill::Grey(0..=2) | Fill::Unit => '░',
            Fill::Grey(3..=5) | Fill::Unknown => '▒',
            Fill::NotComparable => '▚',
            Fill::Grey(6..=8) | Fill::Constant => '▓',
            Fill::Grey(_) | Fill::Varies => '█',
            Fill::NoReceiver => '▢',
            Fill::NeverRan | Fill::Same => '·',
            Fill::Faster => '▼',
            Fill::FasterHere => '▽',
            Fill::Slower => '▲',
            Fill::SlowerHere => '△',
            Fill::New => '+',
            Fill::Failed => '✗',
        }
    }
}
