//! A recording in a pipe: a header, then frames of words, each with its place in the recording.
//!
//! All words are little-endian. Frames come in *rounds*. A round has the changes since the previous
//! one; its end frame is marked if no event was folded meanwhile. A reader can stop anywhere and
//! has a recording. At the end of a settled round the recording is exact.

/// The first word of a stream.
pub const MAGIC_WORD: u64 = u64::from_le_bytes(*b"METASPYS");
/// Version of the frames. A reader refuses a newer major version.
pub const MAJOR: u32 = 1;
/// Minor version. It adds kinds of frames that an older reader skips.
pub const MINOR: u32 = 0;
/// Words of the header: magic, version, words of the recording, and 0.
pub const HEADER_WORDS: usize = 4;
/// Words of a frame's head: [`Head`], then the frame's first word in the recording.
pub const HEAD_WORDS: usize = 2;
/// Words of one frame at most.
pub const FRAME_MAX: usize = 1 << 16;

/// Words of the largest recording that a stream may carry: 1 TiB of blocks and its tables.
pub const RECORDING_MAX: u64 = (1 << 37) + (1 << 34);

/// The version word of a stream's header.
pub const fn version() -> u64 {
    crate::join(MINOR, MAJOR)
}

/// The major version in the version word of a header.
pub const fn major(version: u64) -> u32 {
    crate::high(version)
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Frame {
    /// Words of the first page or of a table.
    Words = 1,
    /// Words of a block, its header first.
    Block = 2,
    /// The end of a round. The second word of the head is 1 if no event was folded during the
    /// round, else 0.
    Round = 3,
    /// The end of the recording. The second word is 1 if it was closed, 2 if its process is gone
    /// and did not close it.
    End = 4,
}

/// The first word of a frame: kind (low 8 bits), words that follow (24 bits), words in the
/// recording (32 bits). The words that do not follow are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The kind. It can be of a later version.
    pub kind: u8,
    /// Words that follow.
    pub words: u32,
    /// Words in the recording, at least as many as follow.
    pub span: u32,
}

impl Head {
    /// Packs the head.
    pub const fn pack(self) -> u64 {
        self.kind as u64 | (self.words as u64 & 0xFF_FFFF) << 8 | (self.span as u64) << 32
    }

    /// Unpacks a head; `None` if it contradicts itself.
    pub const fn unpack(word: u64) -> Option<Self> {
        let head = Head {
            kind: word as u8,
            words: (word >> 8) as u32 & 0xFF_FFFF,
            span: (word >> 32) as u32,
        };
        let fits = head.words as usize <= FRAME_MAX
            && head.span as usize <= FRAME_MAX
            && head.words <= head.span;
        if fits && head.kind != 0 { Some(head) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = FRAME_MAX as u32;

    #[test]
    fn a_head_is_read_as_it_was_written() {
        for kind in
            [Frame::Words as u8, Frame::Block as u8, Frame::Round as u8, Frame::End as u8, u8::MAX]
        {
            for (words, span) in [(0, 0), (0, 1), (1, 1), (512, 700), (0, MOST), (MOST, MOST)] {
                let head = Head { kind, words, span };
                assert_eq!(Head::unpack(head.pack()), Some(head));
            }
        }
    }

    #[test]
    fn a_head_that_contradicts_itself_is_refused() {
        let head = Head { kind: Frame::Words as u8, words: 2, span: 3 };
        let wrong = [
            Head { kind: 0, ..head },
            Head { words: 4, ..head },
            Head { span: MOST + 1, ..head },
            Head { words: MOST + 1, span: MOST + 1, ..head },
            Head { words: MOST + 1, ..head },
        ];
        assert_eq!(wrong.map(|head| Head::unpack(head.pack())), [None; 5]);
    }

    #[test]
    fn a_reader_knows_the_major_version() {
        assert_eq!((major(version()), major(crate::join(u32::MAX, 9))), (MAJOR, 9));
    }
}
