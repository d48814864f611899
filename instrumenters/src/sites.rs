//! Sites of an instrumenter: checked sites, or a selector.

use std::fmt;

use metaspy_core::arm::Arming;
use metaspy_core::site::{Family, Site, SiteKind};
use metaspy_core::{InstallError, Selector, Session};

use crate::site_ref::{NamedSite, SiteRef};

/// Selection of sites: `site!(Scene::measure)`, `"layout::*"`, a [`Selector`] or a [`Site`].
pub struct Sites(Selection);

enum Selection {
    One(&'static Site),
    /// Several sites, with a name for messages.
    Several(Vec<&'static Site>, &'static str),
    Matching(String),
    /// All sites of a family, including later sites, with a name for messages.
    Family(Family, &'static str),
    /// Sites of this kind that match the selector, now or later.
    #[cfg_attr(
        not(any(feature = "channels", feature = "tracing")),
        expect(dead_code, reason = "only spans and announcements are registered late")
    )]
    Future(String, SiteKind),
}

impl Sites {
    /// Selects all of these sites. The name is for messages.
    pub(crate) fn all(sites: Vec<&'static Site>, name: &'static str) -> Self {
        Sites(Selection::Several(sites, name))
    }

    /// Selects all sites of a family.
    pub(crate) fn family(family: Family, name: &'static str) -> Self {
        Sites(Selection::Family(family, name))
    }

    /// Converts a selector to a kind whose sites are registered late. A selector without a match is
    /// not an error then.
    #[cfg(any(feature = "channels", feature = "tracing"))]
    pub(crate) fn or_later(self, kind: SiteKind) -> Self {
        match self.0 {
            Selection::Matching(selector) => Sites(Selection::Future(selector, kind)),
            one => Sites(one),
        }
    }

    /// Arms the sites. A selector also arms sites that are registered later.
    pub(crate) fn arm(&self, session: &mut Session, arming: &Arming) -> Result<(), InstallError> {
        match &self.0 {
            Selection::One(site) => session.arm(site, arming.clone()),
            Selection::Several(sites, name) if sites.is_empty() => {
                Err(InstallError::NoSite { selector: (*name).to_owned(), nearest: Vec::new() })
            }
            Selection::Several(sites, _) => {
                sites.iter().try_for_each(|site| session.arm(site, arming.clone()))
            }
            Selection::Family(family, _) => session.arm_family(*family, arming),
            Selection::Matching(selector) => {
                session.arm_matching(&selector.parse::<Selector>()?, arming)
            }
            Selection::Future(selector, kind) => {
                session.arm_pending(&selector.parse::<Selector>()?, Some(*kind), arming)
            }
        }
    }
}

impl<R: ?Sized> From<SiteRef<R>> for Sites {
    fn from(site: SiteRef<R>) -> Self {
        Sites(Selection::One(site.site()))
    }
}

impl<R: ?Sized> From<NamedSite<R>> for Sites {
    fn from(site: NamedSite<R>) -> Self {
        Sites(Selection::Several(site.sites(), site.name()))
    }
}

impl From<&'static Site> for Sites {
    fn from(site: &'static Site) -> Self {
        Sites(Selection::One(site))
    }
}

impl<const N: usize> From<[&'static Site; N]> for Sites {
    fn from(sites: [&'static Site; N]) -> Self {
        Sites::all(sites.into(), "an empty list of sites")
    }
}

impl From<Selector> for Sites {
    fn from(selector: Selector) -> Self {
        Sites(Selection::Matching(selector.to_string()))
    }
}

/// Makes a selection of a selector. An error in it is reported at install.
impl From<&str> for Sites {
    fn from(selector: &str) -> Self {
        Sites(Selection::Matching(selector.to_owned()))
    }
}

impl From<String> for Sites {
    fn from(selector: String) -> Self {
        Sites(Selection::Matching(selector))
    }
}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Selection::One(site) => write!(f, "Sites({})", site.path()),
            Selection::Several(_, name) | Selection::Family(_, name) => write!(f, "Sites({name})"),
            Selection::Matching(selector) | Selection::Future(selector, _) => {
                write!(f, "Sites({selector})")
            }
        }
    }
}
