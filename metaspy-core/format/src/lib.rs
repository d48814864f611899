//! The recording as words: one layout for memory, files and live files.
//!
//! Everything is a 64-bit word, written and read as an atomic, so that a reader in another process never needs a
//! lock and a kill at any instant leaves a recording that opens. The writer is `metaspy-core`, the
//! reader `metaspy-reader`; both know the layout from here only. Internal: the layout is no part of the stable API.

pub mod arena;
mod clock;
pub mod detail;
mod event_id;
pub mod facts;
mod halves;
pub mod header;
mod policy;
pub mod profile;
pub mod row;
pub mod slot;
pub mod span;
pub mod stream;
pub mod summary;
pub mod superblock;
mod view;
mod words;

pub use clock::Clock;
pub use event_id::{EventId, LaneId};
pub use halves::{high, join, low};
pub use policy::Policy;
pub use view::View;
pub use words::{Region, Words};

#[doc(hidden)]
pub use metaspy_probe::hash;

/// Bytes of a slot, the unit that holds an event.
pub const SLOT_BYTES: usize = 32;
/// 64-bit words of a slot.
pub const SLOT_WORDS: usize = SLOT_BYTES / 8;
/// Bytes of a block, the unit that a lane fills.
pub const BLOCK_BYTES: usize = 4096;
/// Slots of a block; slot 0 is its header.
pub const BLOCK_SLOTS: usize = BLOCK_BYTES / SLOT_BYTES;
/// Blocks of a chunk, the unit of summary and of growth.
pub const CHUNK_BLOCKS: usize = 64;
/// Bytes of a chunk.
pub const CHUNK_BYTES: usize = BLOCK_BYTES * CHUNK_BLOCKS;
