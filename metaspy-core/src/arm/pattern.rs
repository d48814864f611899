//! Which sites a standing order means, those that come later included.

use crate::select::Selector;
use crate::site::{Family, Site, SiteKind};

#[derive(Clone, Debug)]
pub(crate) enum SitePattern {
    /// Those whose path it matches, of this kind if one is given.
    Selected(Selector, Option<SiteKind>),
    /// Those of a family.
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
