//! Which sites a standing order means, those that come later included.

use crate::select::Selector;
use crate::site::{Family, Site, SiteKind};

#[derive(Clone, Debug)]
pub(crate) enum Meant {
    /// Those whose path it matches, of this kind if one is given.
    Selected(Selector, Option<SiteKind>),
    /// Those of a family.
    Of(Family),
}

impl Meant {
    pub fn is(&self, site: &Site) -> bool {
        match self {
            Meant::Selected(selector, kind) => {
                kind.is_none_or(|kind| kind == site.def().kind) && selector.matches(&site.path())
            }
            Meant::Of(family) => site.family == *family,
        }
    }
}
