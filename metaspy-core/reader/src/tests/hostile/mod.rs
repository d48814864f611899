//! The reader answers for any input: recordings, streams, filters and selectors.
//!
//! `PROPTEST_CASES=200000 cargo test -p metaspy-reader --release --lib hostile` runs for about an
//! hour on one core.

mod recording;
mod stream;
mod text;

use proptest::prelude::ProptestConfig;

/// `PROPTEST_CASES` cases of each test; `few` where the variable is not set, because a test of all
/// must be quick.
fn cases(few: u32) -> ProptestConfig {
    // `with_cases` alone takes no notice of the variable.
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    let config = if is_set { ProptestConfig::default() } else { ProptestConfig::with_cases(few) };
    // The limit of inputs that a test leaves out does not grow with the cases by itself.
    ProptestConfig { max_global_rejects: config.max_global_rejects.max(config.cases), ..config }
}
