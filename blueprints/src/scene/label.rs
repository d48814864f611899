//! Labels of boxes, and names that are cut to fit.

/// Label of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Text of the label, already cut to fit.
    pub text: String,
    /// Position relative to the box.
    pub place: Place,
}

/// Position of a label relative to its box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the right side.
    Beside,
    /// In the box, horizontally.
    Inside,
    /// In the box, upwards from the lower side.
    Upright,
    /// At the right side, upwards from the lower side.
    Along,
}

/// Height of a line of text, in pixels.
pub const LINE: f64 = 11.0;
/// Maximum width of a letter, in pixels.
pub const LETTER: f64 = 5.5;
/// Minimum number of letters of a label in a box.
const LEAST_LETTERS: usize = 3;

impl Label {
    /// Places a name in a box, in the direction that has room for more letters.
    pub fn within(name: &str, size: (f64, f64)) -> Option<Label> {
        let fits = |long: f64, across: f64| match across >= LINE {
            true => ((long - 5.0) / LETTER) as usize,
            false => 0,
        };
        let letters = name.chars().count();
        let (inside, upright) = (fits(size.0, size.1).min(letters), fits(size.1, size.0).min(letters));
        let (place, fit) = if inside >= upright { (Place::Inside, inside) } else { (Place::Upright, upright) };
        (fit >= LEAST_LETTERS.min(letters)).then(|| Label { text: fit_start(name, fit), place })
    }

    /// Places a name along a tall box.
    pub fn along(name: &str, height: f64) -> Label {
        Label { text: fit_start(name, ((height - 4.0) / LETTER) as usize), place: Place::Along }
    }
}

/// Keeps the start of a name: `NodeWeig…`.
pub fn fit_start(name: &str, letters: usize) -> String {
    match name.chars().count() > letters {
        true => name.chars().take(letters.max(1) - 1).chain(std::iter::once('…')).collect(),
        false => name.to_owned(),
    }
}

/// Keeps the end of a name: `…types::grid_item`.
pub fn fit_end(name: &str, letters: usize) -> String {
    let count = name.chars().count();
    match count > letters {
        true => std::iter::once('…').chain(name.chars().skip(count + 1 - letters.max(1))).collect(),
        false => name.to_owned(),
    }
}

impl Place {
    /// Returns the CSS class of the label in SVG and HTML.
    pub fn class(self) -> &'static str {
        match self {
            Place::Beside => "beside",
            Place::Inside => "inside",
            Place::Upright => "upright",
            Place::Along => "along",
        }
    }
}
