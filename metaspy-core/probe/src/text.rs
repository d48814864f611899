//! Texts of the program, with a C layout.

/// A text of the program, with a C layout.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Text {
    start: *const u8,
    length: usize,
}

// SAFETY: it was made of a `&'static str`, which any thread may read.
unsafe impl Sync for Text {}
// SAFETY: as above.
unsafe impl Send for Text {}

impl Text {
    /// Of a text that stays.
    pub const fn of(text: &'static str) -> Self {
        Text { start: text.as_ptr(), length: text.len() }
    }

    /// The text.
    pub const fn get(&self) -> &'static str {
        // SAFETY: it was made of a `&'static str`, which only `Text::of` takes apart.
        unsafe {
            core::str::from_utf8_unchecked(core::slice::from_raw_parts(self.start, self.length))
        }
    }
}
