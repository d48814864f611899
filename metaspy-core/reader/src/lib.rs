//! The reader of recordings.
