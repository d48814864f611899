//! References to sites, as `site!` makes them.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use metaspy_core::site::{self, Site};

/// The site of an observed function, checked by the compiler: `site!(Scene::measure)`.
///
/// `R` is the receiver that typed handlers are given; `()` where there is none, or where it depends on parameters.
pub struct SiteRef<R: ?Sized = ()> {
    site: &'static Site,
    receiver: PhantomData<fn(&R)>,
}

impl<R: ?Sized> SiteRef<R> {
    /// A reference to this site.
    #[inline(always)]
    pub const fn new(site: &'static Site) -> Self {
        SiteRef { site, receiver: PhantomData }
    }

    /// The site.
    #[inline(always)]
    pub const fn site(self) -> &'static Site {
        self.site
    }

    /// The site of `<R as Trait>::method`: that it exists is checked by the compiler, the site is found by name.
    pub const fn by_name(own: &'static str, default: &'static str) -> NamedSite<R> {
        NamedSite { own, default, receiver: PhantomData }
    }
}

impl<R: ?Sized> Clone for SiteRef<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for SiteRef<R> {}

impl<R: ?Sized> fmt::Debug for SiteRef<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SiteRef").field(&self.site.path()).finish()
    }
}

/// A method of a trait, as one type has it: `site!(<Scene as Layout>::measure)`.
///
/// Where the type has no method of its own, it is the trait's default method: one site for all who share it.
pub struct NamedSite<R: ?Sized> {
    own: &'static str,
    default: &'static str,
    receiver: PhantomData<fn(&R)>,
}

impl<R: ?Sized> NamedSite<R> {
    /// The sites that it means. More than one only if equally named types implement equally named traits in one crate.
    pub fn sites(self) -> Vec<&'static Site> {
        let called = |name: &str| -> Vec<&'static Site> {
            site::entries().iter().map(|entry| entry.site).filter(|site| site.def().name == name).collect()
        };
        let own = self.nearest(called(self.own));
        if own.is_empty() { called(self.default) } else { own }
    }

    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        self.own
    }

    /// Those in the crate of the type, where there are any.
    fn nearest(self, sites: Vec<&'static Site>) -> Vec<&'static Site> {
        let krate = |path: &'static str| path.split("::").next();
        let is_near = |site: &&'static Site| krate(site.def().module) == krate(type_name::<R>());
        match sites.iter().copied().filter(is_near).collect::<Vec<_>>() {
            near if near.is_empty() => sites,
            near => near,
        }
    }
}

impl<R: ?Sized> Clone for NamedSite<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: ?Sized> Copy for NamedSite<R> {}

impl<R: ?Sized> fmt::Debug for NamedSite<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedSite").field(&self.own).finish()
    }
}
