//! Kinds of announcements, which nobody asks for.

/// A message that says what kind of announcement it is. `#[derive(Announce)]` takes the variant's name.
pub trait Announce {
    /// All kinds there are.
    const KINDS: &'static [&'static str];

    /// The kind of this one.
    fn kind(&self) -> &'static str;
}
