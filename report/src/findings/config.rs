//! Settings of a search.

use metaspy_reader::Selector;

/// Settings of a search.
#[derive(Clone, Debug)]
pub struct Config {
    /// Only these kinds; all if it is empty.
    pub kinds: Vec<String>,
    /// Sites whose events are units of work; without them, the outermost causes that occur at least twenty times.
    pub unit: Option<Selector>,
    /// Least share of the time or of the events that a finding costs, from 0 to 1, unless it is only counted as small.
    pub least_share: f64,
}

impl Default for Config {
    fn default() -> Self {
        Config { kinds: Vec::new(), unit: None, least_share: 0.01 }
    }
}
