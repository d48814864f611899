//! The sites that a standing order selects, later ones included.

use crate::select::Selector;
use crate::site::{Family, Site, SiteKind};

#[derive(Clone, Debug)]
pub(crate) enum SitePattern {
    /// Sites whose path the selector matches, of this kind if one is given.
    Selected(Selector, Option<SiteKind>),
    /// Sites of a family.
    InFamily(Family),
}

impl SitePattern {
    pub fn matches(&self, site: &Site) -> bool {
        match self {
            SitePattern::Selected(selector, kind) => {
                kind.is_none_or(|kind| kind == site.def().kind) && selector.matches(&site.path())
            }
            SitePattern::InFamily(family) => site.family == family.number(),
        }
    }
}
