//! Parts of a recording that its first page announces and its file does not hold.

use metaspy_format::layout::Layout;
use metaspy_format::superblock as sb;
use metaspy_format::{BLOCK_BYTES, Words};

/// Returns sentences about the areas and blocks that the first page announces and the file does not
/// hold.
pub(crate) fn missing(layout: &Layout, words: Words<'_>) -> Vec<String> {
    let mut missing = Vec::new();
    for (at, name, area) in layout.areas().filter(|(at, ..)| *at != sb::CHUNKS) {
        let bytes = words.get(at + 1);
        let held = area.len as u64 * 8;
        if held < bytes / 8 * 8 {
            missing.push(format!("the {name}: {held} of {bytes} bytes are there"));
        }
    }
    let taken = words.get(sb::FRESH).min(layout.blocks);
    let held = layout.whole_blocks();
    if held < taken {
        missing.push(format!(
            "{} of {taken} blocks of events are not there, or not whole: the file ends {} bytes too early",
            taken - held,
            cut(layout, taken)
        ));
    }
    missing
}

/// Returns the number of missing bytes after the last used block.
pub(crate) fn unused_cut(layout: &Layout, words: Words<'_>) -> u64 {
    let taken = words.get(sb::FRESH).min(layout.blocks);
    let allocated = words.get(sb::GROWN).min(layout.blocks);
    if layout.whole_blocks() < taken { 0 } else { cut(layout, allocated) }
}

/// Returns the number of missing bytes of this many blocks.
fn cut(layout: &Layout, blocks: u64) -> u64 {
    blocks.saturating_mul(BLOCK_BYTES as u64).saturating_sub(layout.chunks.len as u64 * 8)
}
