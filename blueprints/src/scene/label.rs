//! Labels of boxes: names that are cut to fit, and told apart from those beside them.
//!
//! Labels are in a font whose letters have one width, so that the room that a name takes is known
//! without a browser.

use std::collections::HashMap;

/// Label of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Text of the label, already cut to fit.
    pub text: String,
    /// Position relative to the box.
    pub place: LabelPlace,
    /// Size of its letters, in pixels.
    pub size: f64,
}

/// Position of a label relative to its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelPlace {
    /// At the right side.
    Beside,
    /// In the box, horizontally.
    Inside,
    /// In the box, upwards from the lower side.
    Upright,
    /// At the right side, upwards from the lower side.
    Along,
}

/// Size of letters that can be read, in pixels.
pub const SIZE: f64 = 9.0;
/// Height of a line of text of that size, in pixels.
pub const LINE: f64 = 11.0;
/// Width of a letter of that size, in pixels.
pub const LETTER: f64 = 5.5;
/// Space between a box and the label beside it, and after the label.
pub(super) const MARGIN: f64 = 4.0;
/// Maximum size of letters, as a multiple of the size that can be read. Larger ones would hide the
/// boxes.
const LARGEST: f64 = 3.0;
/// Maximum number of attempts to find a size.
const ROUNDS: usize = 8;
/// Minimum number of letters of a label in a box.
const LEAST_LETTERS: usize = 3;
/// Minimum number of letters of a name that is cut to the height of its box.
const LEAST_ALONG: usize = 16;
/// Number of letters that show how a name differs from another one.
const TELLING: usize = 2;
/// Width and height of the part of a page that shows the picture, in a window of 1440 × 900.
const SCREEN: (f64, f64) = (1_400.0, 640.0);
/// Maximum zoom at which a page opens.
const CLOSEST: f64 = 3.0;

impl Label {
    /// Makes a label beside its box.
    pub fn beside(text: String, size: f64) -> Label {
        Label { text, place: LabelPlace::Beside, size }
    }

    /// Places a name in a box of these sides, in the direction that has room for more letters.
    pub fn within(name: &str, (w, h): (f64, f64)) -> Option<Label> {
        let fits = |long: f64, across: f64| {
            if across >= LINE { ((long - 5.0) / LETTER) as usize } else { 0 }
        };
        let letters = name.chars().count();
        let inside = fits(w, h).min(letters);
        let upright = fits(h, w).min(letters);
        let (place, fit) = if inside >= upright {
            (LabelPlace::Inside, inside)
        } else {
            (LabelPlace::Upright, upright)
        };
        (fit >= LEAST_LETTERS.min(letters)).then(|| Label {
            text: fit_middle(name, fit),
            place,
            size: SIZE,
        })
    }

    /// Places a name along a tall box.
    pub fn along(name: &str, height: f64) -> Label {
        let text = fit_middle(name, ((height - 4.0) / LETTER) as usize);
        Label { text, place: LabelPlace::Along, size: SIZE }
    }

    /// Places a name at a box of these sides: in the box if there is room, and otherwise at its
    /// right side. Only along a tall box it may be cut.
    pub fn whole(text: String, (w, h): (f64, f64), size: f64) -> Label {
        let long = text_width(&text, size) + 1.0;
        let across = line(size);
        let place = if w >= long && h >= across {
            LabelPlace::Inside
        } else if h >= long && w >= across {
            LabelPlace::Upright
        } else if h >= long {
            LabelPlace::Along
        } else if h >= text_width(&"m".repeat(LEAST_ALONG), size) {
            let letters = (h - MARGIN - 1.0) / (LETTER * size / SIZE);
            return Label {
                text: fit_middle(&text, letters as usize),
                place: LabelPlace::Along,
                size,
            };
        } else {
            LabelPlace::Beside
        };
        Label { text, place, size }
    }

    /// Returns the sides of the room that a box and its label need together.
    pub fn room(&self, (w, h): (f64, f64)) -> (f64, f64) {
        match self.place {
            LabelPlace::Beside => (w + text_width(&self.text, self.size), h.max(line(self.size))),
            LabelPlace::Along => (w + line(self.size), h),
            LabelPlace::Inside | LabelPlace::Upright => (w, h),
        }
    }

    /// Returns the distance from the upper side of a box to the lower side of the label beside it.
    pub(crate) fn foot(&self, height: f64) -> f64 {
        height.min(line(self.size)) / 2.0 + line(self.size) / 2.0
    }
}

/// Returns the height of a line of letters of this size.
pub fn line(size: f64) -> f64 {
    LINE * size / SIZE
}

/// Returns the width of a text with letters of this size, with the space around it.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    MARGIN + letters(text) as f64 * LETTER * size / SIZE
}

/// Counts the letters of a text. Signs that other fonts have are as wide as two.
pub(super) fn letters(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '①'..='⑳' | '↻' | '⊘') { 2 } else { 1 }).sum()
}

/// Picture that was laid out with letters of a size.
pub(crate) struct Readable<T> {
    /// The picture.
    pub picture: T,
    /// Its width and height.
    pub page: (f64, f64),
    /// True if the letters can be read when a page shows the whole picture. Otherwise they have the
    /// usual size, and a page opens with a part of the picture.
    pub fits: bool,
}

/// Widens a page as far as a screen shows it no smaller.
pub(crate) fn widened((w, h): (f64, f64)) -> (f64, f64) {
    (w.max(0.99 * SCREEN.0 / zoom((w, h))), h)
}

/// Lays out a picture with letters that can be read when a page shows the whole picture, if there
/// is room for them. `lay_out` gets the size of the letters, and returns the picture with its width
/// and height.
pub(crate) fn readable<T>(lay_out: impl Fn(f64) -> (T, (f64, f64))) -> Readable<T> {
    let mut size = SIZE;
    for _ in 0..ROUNDS {
        let (picture, page) = lay_out(size);
        let needed = SIZE / zoom(page);
        if needed <= size {
            return Readable { picture, page, fits: true };
        }
        size = needed * 1.02;
        if size > SIZE * LARGEST {
            break;
        }
    }
    let (picture, page) = lay_out(SIZE);
    Readable { picture, page, fits: false }
}

/// Returns the zoom at which a page shows all of a picture.
pub(crate) fn zoom((w, h): (f64, f64)) -> f64 {
    (SCREEN.0 / w.max(1.0)).min(SCREEN.1 / h.max(1.0)).min(CLOSEST)
}

/// Texts of labels below one parent, of which no two are equal.
#[derive(Clone, Debug, Default)]
pub struct Distinct {
    /// Name of each text that is taken.
    taken: HashMap<String, String>,
}

impl Distinct {
    /// Returns a text of at most so many letters for a name. `path` replaces a name that another
    /// label has.
    pub fn text(&mut self, name: &str, path: &str, letters: usize) -> String {
        if let Some(text) = self.free(name, letters).or_else(|| self.free(path, letters)) {
            return text;
        }
        let mut numbered = (2..).map(|number| {
            let number = format!(" ·{number}");
            fit_middle(name, letters.saturating_sub(number.chars().count())) + &number
        });
        let text = numbered.find(|text| !self.taken.contains_key(text)).unwrap_or_default();
        self.taken.insert(text.clone(), name.to_owned());
        text
    }

    /// Returns a text like `text` for a name that may be cut in another place, or `None` if all of
    /// them are taken.
    pub fn cut(&mut self, name: &str, text: &str) -> Option<String> {
        self.free(name, text.chars().count())
    }

    /// Takes the first free way to cut a name. If the name that has the middle cut differs only in
    /// the part that this cut hides, another cut shows the difference.
    fn free(&mut self, name: &str, letters: usize) -> Option<String> {
        let other = self.taken.get(&fit_middle(name, letters));
        let telling = other.and_then(|other| telling_cut(name, other, letters));
        let text = telling
            .into_iter()
            .chain(cuts(name, letters))
            .find(|text| !self.taken.contains_key(text))?;
        self.taken.insert(text.clone(), name.to_owned());
        Some(text)
    }
}

/// Cuts a name behind, or else before, the letters in which it differs from another one; `None` if
/// the room is too small for that.
fn telling_cut(name: &str, other: &str, letters: usize) -> Option<String> {
    let kept = letters.saturating_sub(1);
    let equal_at_start = name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let equal_at_end =
        name.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).count();
    let is_cut = name != other && name.chars().count() > letters;
    if is_cut && equal_at_start + TELLING <= kept {
        Some(cut_at(name, equal_at_start + TELLING, kept))
    } else if is_cut && equal_at_end + TELLING <= kept {
        Some(cut_at(name, kept - equal_at_end - TELLING, kept))
    } else {
        None
    }
}

/// Name of a box.
#[derive(Clone, Debug, Default)]
pub struct Name {
    /// Marks in front of it.
    pub marks: String,
    /// The name itself.
    pub text: String,
    /// The text in its place if a box beside it has the same name.
    pub path: String,
    /// Signs after it.
    pub signs: String,
}

impl Name {
    /// Returns the text of a label with at most so many letters, marks and signs included, that
    /// differs from those that are taken.
    pub(crate) fn cut(&self, distinct: &mut Distinct, most: usize) -> String {
        let beside = letters(&self.marks) + letters(&self.signs);
        self.shortened(distinct, most.saturating_sub(beside))
    }

    /// As above, but only the name itself has at most so many letters.
    pub(crate) fn shortened(&self, distinct: &mut Distinct, most: usize) -> String {
        let text = distinct.text(&self.text, &self.path, most);
        format!("{}{text}{}", self.marks, self.signs)
    }

    /// Counts the letters of the whole name, with its marks and signs.
    pub(crate) fn letters(&self) -> usize {
        letters(&self.marks) + letters(&self.text) + letters(&self.signs)
    }
}

/// Returns the ways to cut a name to so many letters: first in the middle, then nearer to an end.
fn cuts(name: &str, letters: usize) -> impl Iterator<Item = String> {
    let kept = letters.saturating_sub(1);
    let ways = if name.chars().count() <= letters { 0 } else { kept };
    let start = move |way: usize| {
        if way.is_multiple_of(2) {
            kept.div_ceil(2) - way / 2
        } else {
            kept.div_ceil(2) + way / 2 + 1
        }
    };
    std::iter::once(fit_middle(name, letters)).chain(
        (1..=ways)
            .filter_map(move |way| Some(start(way)).filter(|&start| start <= kept))
            .map(move |start| cut_at(name, start, kept)),
    )
}

/// Keeps both ends of a name: `get_pl…urces`.
pub fn fit_middle(name: &str, letters: usize) -> String {
    let kept = letters.max(1) - 1;
    if name.chars().count() > letters {
        cut_at(name, kept.div_ceil(2), kept)
    } else {
        name.to_owned()
    }
}

/// Keeps so many letters of a name, of which `start` are at its start.
fn cut_at(name: &str, start: usize, kept: usize) -> String {
    let end = name.chars().count().saturating_sub(kept.saturating_sub(start));
    name.chars().take(start).chain(std::iter::once('…')).chain(name.chars().skip(end)).collect()
}

/// Keeps the end of a name: `…types::grid_item`.
pub(crate) fn fit_end(name: &str, letters: usize) -> String {
    let count = name.chars().count();
    if count <= letters {
        return name.to_owned();
    }
    std::iter::once('…').chain(name.chars().skip(count + 1 - letters.max(1))).collect()
}

impl LabelPlace {
    /// Returns the CSS class of the label in SVG and HTML.
    pub fn class(self) -> &'static str {
        match self {
            LabelPlace::Beside => "beside",
            LabelPlace::Inside => "inside",
            LabelPlace::Upright => "upright",
            LabelPlace::Along => "along",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_cut_alike_are_told_apart() {
        let mut all = Distinct::default();
        assert_eq!(all.text("get_plain_resource", "a::get_plain_resource", 11), "get_p…ource");
        assert_eq!(all.text("get_purple_resource", "a::get_purple_resource", 11), "get_pur…rce");
        assert_eq!(all.text("get_p_old_resource", "a::get_p_old_resource", 11), "get_p_o…rce");
        // Names that are equal up to their middle, and the one that has the middle cut already.
        assert_eq!(all.text("read_all_of_the_7_page", "", 10), "read_…page");
        assert_eq!(all.text("read_all_of_the_8_page", "", 10), "re…_8_page");
        assert_eq!(all.text("new", "a::new", 11), "new");
        assert_eq!(all.text("new", "b::new", 11), "b::new");
        assert_eq!(all.text("new", "b::new", 11), "new ·2");
        assert_eq!(all.cut("new", "new"), None);
        for letters in 0..20 {
            let ways: Vec<String> = cuts("get_plain_resource", letters).collect();
            let fits = |text: &String| {
                text.chars().count() <= letters.max(1) && text.matches('…').count() <= 1
            };
            assert!(ways.iter().all(fits), "{ways:?}");
        }
    }

    #[test]
    fn letters_grow_until_they_can_be_read() {
        // A page that needs a part of its room for boxes, and another one for labels.
        let laid_out = readable(|size| (size, (2_000.0 + 20.0 * size, 100.0)));
        assert!(laid_out.fits && laid_out.picture > SIZE);
        assert!(SIZE / zoom(laid_out.page) <= laid_out.picture, "{:?}", laid_out.page);
        // Labels that fill more than a page.
        let laid_out = readable(|size| (size, (500.0 * size, 100.0)));
        assert!(!laid_out.fits && laid_out.picture == SIZE);
    }
}
