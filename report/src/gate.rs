//! The decision of a gate: it holds, it fails, or the required numbers are not known. A gate never
//! holds for want of data.

/// The decision of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It holds, whatever is missing.
    Holds,
    /// It fails, whatever is missing. The sentence states why.
    Fails(String),
    /// It depends on what is missing. The sentence states what that is, and what to do.
    Undecided(String),
}
