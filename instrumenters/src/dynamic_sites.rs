//! Sites that are registered when their name is first used.

use std::any::type_name;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

use metaspy_core::hook::Unforked;
use metaspy_core::site::{Family, Site, SiteDef, SiteKind, register_dynamic};

use crate::lookup_cache::{LookupCache, Names};

/// Returns the site of the calls `name` on values of type `T`. Each type and name has a site.
#[inline]
pub(crate) fn for_calls<T: ?Sized>(
    name: &'static str,
    at: &'static Location<'static>,
) -> &'static Site {
    thread_local! {
        static KNOWN: LookupCache<Names, &'static Site> = const { LookupCache::new() };
    }
    let look_up = || {
        let (module, ty) = path_of(type_name::<T>());
        site(SiteKind::Method, module, format!("{ty}::{name}"), at)
    };
    KNOWN
        .try_with(|known| known.get([type_name::<T>(), name], look_up))
        .unwrap_or_else(|_| look_up())
}

/// Returns the site of a kind of announcements: `jobs::Done::sent`.
///
/// Each bus, kind and end has a site. The cache compares names by address, so all three must be
/// interned.
#[cfg(feature = "channels")]
pub(crate) fn for_announcements(
    bus: &'static str,
    kind: &'static str,
    end: &'static str,
    at: &'static Location<'static>,
) -> &'static Site {
    thread_local! {
        static SENT: LookupCache<Names, &'static Site> = const { LookupCache::new() };
        static RECEIVED: LookupCache<Names, &'static Site> = const { LookupCache::new() };
    }
    let known = if end == "sent" { &SENT } else { &RECEIVED };
    let look_up = || site(SiteKind::Announcement, bus, format!("{kind}::{end}"), at);
    known.try_with(|known| known.get([kind, bus], look_up)).unwrap_or_else(|_| look_up())
}

/// Returns the site with this path, which is registered the first time.
#[cold]
pub(crate) fn site(
    kind: SiteKind,
    module: &'static str,
    name: String,
    at: &'static Location<'static>,
) -> &'static Site {
    site_in(None, kind, module, name, at)
}

/// Returns the site with this path in a family.
#[cold]
pub(crate) fn site_in(
    family: Option<Family>,
    kind: SiteKind,
    module: &'static str,
    name: String,
    at: &'static Location<'static>,
) -> &'static Site {
    static ALL: Mutex<Option<HashMap<(&'static str, String), &'static Site>>> = Mutex::new(None);
    let _unforked = Unforked::begin();
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.get_or_insert_default().entry((module, name)).or_insert_with_key(|(_, name)| {
        let lines = (at.line(), at.line());
        // A site lives as long as the process, and so does its name.
        let name = name.clone().leak();
        let def = SiteDef { kind, module, name, file: at.file(), lines, skipped: None };
        family.map_or_else(|| register_dynamic(def), |family| family.register(def))
    })
}

/// Splits a type's name into module and name, without its arguments: `a::b::Scene<u8>` is `Scene`
/// in `a::b`.
pub(crate) fn path_of(ty: &'static str) -> (&'static str, &'static str) {
    let is_named = ty.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !ty.starts_with("dyn ");
    let path = if is_named { ty.split('<').next().unwrap_or(ty) } else { ty };
    match path.rsplit_once("::") {
        Some((module, name)) if is_named => (module, name),
        _ => ("", path),
    }
}

/// Returns the module name of a file: `json` for `src/json.rs` and for `src/json/mod.rs`.
pub(crate) fn stem(file: &'static str) -> &'static str {
    let mut parts = file.rsplit(['/', '\\']);
    let name = parts.next().map_or(file, |name| name.split('.').next().unwrap_or(name));
    match name {
        "mod" => parts.next().unwrap_or(name),
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn a_type_is_named_without_its_arguments() {
        assert_eq!(path_of("a::b::Scene<a::C<u8>>"), ("a::b", "Scene"));
        assert_eq!(path_of("u8"), ("", "u8"));
        assert_eq!(path_of("[a::B]"), ("", "[a::B]"));
    }
}
