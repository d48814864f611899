#![doc = include_str!("../README.md")]

#[doc(hidden)]
pub mod layout;
#[doc(hidden)]
pub mod superblock;

#[doc(hidden)]
pub mod header;
#[doc(hidden)]
pub mod slot;
#[doc(hidden)]
pub mod slot_set;

#[doc(hidden)]
pub mod summary;

#[doc(hidden)]
pub mod folder;
#[doc(hidden)]
pub mod nesting;
#[doc(hidden)]
pub mod row;

#[doc(hidden)]
pub mod arena;
pub mod declared;
pub mod facts;

pub mod detail;
pub mod profile;

#[doc(hidden)]
pub mod span;
#[doc(hidden)]
pub mod stream;

mod event_id;
mod words;

pub use arena::View;
pub use event_id::{EventId, LaneId, ParseEventIdError};
pub use superblock::{Clock, Policy};
#[doc(hidden)]
pub use words::{Region, Words, high, join, low};

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
