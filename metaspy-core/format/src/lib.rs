//! The layout of a recording, word by word: the contract between writer and reader.
