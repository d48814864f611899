//! Which sites a standing order means, those that come later included.

use crate::select::Selector;
use crate::site::{Family, Site};

#[derive(Clone, Debug)]
pub(crate) enum Meant {
    /// Those whose path it matches.
    Selected(Selector),
    /// Those of a family.
    Of(Family),
}

impl Meant {
    pub fn is(&self, site: &Site) -> bool {
        match self {
            Meant::Selected(selector) => selector.matches(&site.path()),
            Meant::Of(family) => site.family == *family,
        }
    }
}
