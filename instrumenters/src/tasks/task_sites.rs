//! Sites and subjects of tasks.

use std::any::type_name;
use std::panic::Location;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use metaspy_core::site::Family;
use metaspy_core::{Owner, Site, SiteKind, Subject};

use crate::dynamic_sites;
use crate::lookup_cache::{LookupCache, Names};

thread_local! {
    static KNOWN: LookupCache<Names, &'static Site> = const { LookupCache::new() };
}

/// Family of the sites of all tasks.
pub(super) static TASKS: LazyLock<Family> = LazyLock::new(Family::new);

fn site(module: &'static str, name: String, at: &'static Location<'static>) -> &'static Site {
    dynamic_sites::site_in(Some(*TASKS), SiteKind::Async, module, name, at)
}

/// Returns the site of tasks with this name. Its module is the name of the file.
pub(super) fn named(name: &'static str, at: &'static Location<'static>) -> &'static Site {
    known([name, at.file()], || site(dynamic_sites::stem(at.file()), name.to_owned(), at))
}

/// Returns the site of tasks that run a function, or a closure in it: `pipeline::consume::task` for
/// the future of `pipeline::consume`.
///
/// If the type has no function in it, the site is named after the place that spawns.
pub(super) fn for_type<T: ?Sized>(
    kind: &'static str,
    at: &'static Location<'static>,
) -> &'static Site {
    let ty = type_name::<T>();
    known((ty, at), || match function(ty) {
        Some(function) => {
            let (module, name) = function.rsplit_once("::").unwrap_or(("", function));
            site(module, format!("{name}::{kind}"), at)
        }
        None => {
            let name = format!("{kind}_{}", at.line());
            site(dynamic_sites::stem(at.file()), name, at)
        }
    })
}

fn known(name: impl Into<Names> + Copy, make: impl Fn() -> &'static Site) -> &'static Site {
    KNOWN.try_with(|known| known.get(name, &make)).unwrap_or_else(|_| make())
}

/// Returns the function in a type's name: `a::b` for `a::b::{{closure}}`, and for a closure in it.
fn function(ty: &'static str) -> Option<&'static str> {
    let is_plain = ty.ends_with("::{{closure}}") && !ty.contains(['<', ' ', '&', '(']);
    is_plain.then(|| ty.split("::{{closure}}").next().unwrap_or(ty))
}

/// Returns the subject of a new task.
pub(super) fn next_task() -> Subject {
    static OWNER: LazyLock<Owner> = LazyLock::new(|| Owner::new("Task"));
    static NEXT: AtomicU64 = AtomicU64::new(1);
    OWNER.subject(NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::function;

    #[test]
    fn a_future_is_named_after_its_function() {
        assert_eq!(function("a::b::{{closure}}"), Some("a::b"));
        assert_eq!(function("a::b::{{closure}}::{{closure}}"), Some("a::b"));
        let others = [
            "core::pin::Pin<alloc::boxed::Box<dyn core::future::Future>>",
            "a::B",
            "a::b<u8>::{{closure}}",
        ];
        assert_eq!(others.map(function), [None; 3]);
    }
}
