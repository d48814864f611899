//! What an instrumenter may be told about where to hook: a checked site, or a selector.

use std::fmt;

use metaspy_core::arm::Arming;
use metaspy_core::site::{Family, Site, SiteKind};
use metaspy_core::{InstallError, Selector, Session};

use crate::site_ref::{NamedSite, SiteRef};

/// Which sites are meant: `site!(Scene::measure)`, `"layout::*"`, a [`Selector`] or a [`Site`].
pub struct Sites(Meant);

enum Meant {
    One(&'static Site),
    /// All of these; and what they are called.
    Some(Vec<&'static Site>, &'static str),
    Matching(String),
    /// All of a family, those that come later included; and what they are called.
    Family(Family, &'static str),
    /// Those of this kind that match, though there may be none yet.
    #[cfg_attr(
        not(any(feature = "tokio", feature = "tracing")),
        expect(dead_code, reason = "only spans and announcements are made when they are met")
    )]
    ToCome(String, SiteKind),
}

impl Sites {
    /// All of these; what they are called is for messages.
    pub(crate) fn all(sites: Vec<&'static Site>, name: &'static str) -> Self {
        Sites(Meant::Some(sites, name))
    }

    /// All of a family.
    pub(crate) fn family(family: Family, name: &'static str) -> Self {
        Sites(Meant::Family(family, name))
    }

    /// Sites of one kind, which are made when the program first comes by: a selector that matches none is no error.
    #[cfg(any(feature = "tokio", feature = "tracing"))]
    pub(crate) fn or_later(self, kind: SiteKind) -> Self {
        match self.0 {
            Meant::Matching(selector) => Sites(Meant::ToCome(selector, kind)),
            one => Sites(one),
        }
    }

    /// Arms them. A selector also meets sites that are registered later.
    pub(crate) fn arm(&self, session: &mut Session, arming: &Arming) -> Result<(), InstallError> {
        match &self.0 {
            Meant::One(site) => session.arm(site, arming.clone()),
            Meant::Some(sites, name) if sites.is_empty() => {
                Err(InstallError::NoSite { selector: (*name).to_owned(), nearest: Vec::new() })
            }
            Meant::Some(sites, _) => sites.iter().try_for_each(|site| session.arm(site, arming.clone())),
            Meant::Family(family, _) => session.arm_family(*family, arming),
            Meant::Matching(selector) => session.arm_matching(&selector.parse::<Selector>()?, arming),
            Meant::ToCome(selector, kind) => session.arm_pending(&selector.parse::<Selector>()?, Some(*kind), arming),
        }
    }
}

impl<R: ?Sized> From<SiteRef<R>> for Sites {
    fn from(site: SiteRef<R>) -> Self {
        Sites(Meant::One(site.site()))
    }
}

impl<R: ?Sized> From<NamedSite<R>> for Sites {
    fn from(site: NamedSite<R>) -> Self {
        Sites(Meant::Some(site.sites(), site.name()))
    }
}

impl From<&'static Site> for Sites {
    fn from(site: &'static Site) -> Self {
        Sites(Meant::One(site))
    }
}

impl<const N: usize> From<[&'static Site; N]> for Sites {
    fn from(sites: [&'static Site; N]) -> Self {
        Sites::all(sites.into(), "no site at all")
    }
}

impl From<Selector> for Sites {
    fn from(selector: Selector) -> Self {
        Sites(Meant::Matching(selector.to_string()))
    }
}

/// A selector; what is wrong with it is said when it is installed.
impl From<&str> for Sites {
    fn from(selector: &str) -> Self {
        Sites(Meant::Matching(selector.to_owned()))
    }
}

impl From<String> for Sites {
    fn from(selector: String) -> Self {
        Sites(Meant::Matching(selector))
    }
}

impl fmt::Debug for Sites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Meant::One(site) => write!(f, "Sites({})", site.path()),
            Meant::Some(_, name) | Meant::Family(_, name) => write!(f, "Sites({name})"),
            Meant::Matching(selector) | Meant::ToCome(selector, _) => write!(f, "Sites({selector})"),
        }
    }
}
