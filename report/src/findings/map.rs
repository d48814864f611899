//! Maps of the detectors, which every event asks several times.

use foldhash::fast::RandomState;

/// Map with a fast hash. The hash has a random seed, because the keys come from a file.
pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
/// Set with a fast hash, as [`HashMap`].
pub(super) type HashSet<K> = std::collections::HashSet<K, RandomState>;
