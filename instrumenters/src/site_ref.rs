//! References to sites, the results of `site!`.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

use metaspy_core::site::{self, Site};

/// Reference to the site of an observed function, checked by the compiler: `site!(Scene::measure)`.
///
/// `R` is the type of the receiver. It is `()` if there is none, or if it depends on parameters.
pub struct SiteRef<R: ?Sized = ()> {
    site: &'static Site,
    receiver: PhantomData<fn(&R)>,
}

impl<R: ?Sized> SiteRef<R> {
    /// Creates a reference to this site.
    #[inline(always)]
    pub const fn new(site: &'static Site) -> Self {
        SiteRef { site, receiver: PhantomData }
    }

    /// Returns the site.
    #[inline(always)]
    pub const fn site(self) -> &'static Site {
        self.site
    }

    /// Refers to the site of `<R as Trait>::method`. The compiler checks that the method exists;
    /// the site is found by name.
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

/// Reference to a method of a trait, as a type has it: `site!(<Scene as Layout>::measure)`.
///
/// If the type does not override the method, this is the site of the trait's default method, which
/// all such types share.
pub struct NamedSite<R: ?Sized> {
    own: &'static str,
    default: &'static str,
    receiver: PhantomData<fn(&R)>,
}

impl<R: ?Sized> NamedSite<R> {
    /// Finds the sites with this name. There are several only if a crate has two types with the
    /// name.
    pub fn sites(self) -> Vec<&'static Site> {
        let named = |name: &str| -> Vec<&'static Site> {
            site::entries()
                .iter()
                .map(|entry| entry.site)
                .filter(|site| site.def().name == name)
                .collect()
        };
        let own = self.nearest(named(self.own));
        if own.is_empty() { named(self.default) } else { own }
    }

    /// Returns the name for messages.
    pub fn name(self) -> &'static str {
        self.own
    }

    /// Returns the sites in the crate of the type, or all if that crate has none.
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
