//! Implementation of `#[observe]` and its relatives. Use them through the facade, `metaspy`, where
//! they are documented with examples.
//!
//! A macro parses its options and its item, reports errors in them, and leaves the rest to `hook`.
//! Without the feature `record`, `hook` is another module, which returns the item unchanged.

#![forbid(unsafe_code)]
// Options are checked in both cases, but only hooks use them.
#![cfg_attr(not(feature = "record"), allow(dead_code))]

mod announce;
mod identify;
mod item;
mod observe;
mod options;
mod proxy;
mod site_ref;
mod verdict;

#[cfg(feature = "record")]
mod hook;
#[cfg(not(feature = "record"))]
#[path = "disabled.rs"]
mod hook;

use proc_macro::TokenStream;

/// Makes functions observable: an `impl`, a trait, a free function, or a method of an `impl`.
///
/// Put the attribute on the `impl`, and `only` to observe chosen methods. An attribute on a method
/// alone cannot see the `impl` around it: the site is called `measure` instead of `Scene::measure`,
/// and `site!` cannot name it. An associated function without `self` and `Self` needs the attribute
/// on its `impl`.
///
/// | option | on | meaning |
/// |---|---|---|
/// | `subject = expression` | all | the subject of the call; an expression over the arguments |
/// | `skip` | methods | the method is not observed, and listed as such |
/// | `only` | `impl`, trait | methods with an `#[observe]` of their own are observed, the others are not |
/// | `name = "…"` | all | the name of the item: the type of an `impl`, the last segment of a method |
/// | `args(a, b = expression)` | functions | arguments to show, by name; they must be `Debug` |
/// | `ret` | all | the return value is shown too; it must be `Debug` |
/// | `caller` | all | the place of the call is shown, as an argument named `caller`; not on an `async fn` |
/// | `proxy`, `proxy = path` | traits | makes a proxy, `Spied` and the trait's name, instead of observing default methods |
/// | `crate = path` | all | the path of `metaspy`, if it is not `::metaspy` |
///
/// Without `subject`, the subject is the receiver: by its `Identify`, or else by its place in
/// memory. A function without a receiver has no subject.
///
/// A call ends as *succeeded* or *failed* where the return type is a `Result`, an `Option`, or
/// named like one; an early way out through a `?` has failed. It ends as *panicked* where a panic
/// leaves it, else as *returned*.
///
/// A call of an async function is a single event, from its first poll to its end or, *cancelled*,
/// to its drop. So is the call of a function whose last expression is an `async` block, bare or in
/// `Box::pin`. The arguments of an `async fn` are recorded at its first poll, before its body
/// begins; those of a function that makes a future, when it is called. The caller is known for the
/// latter only, because the compiler tells no `async fn`. A typed handler gets no receiver of an
/// async call, which may be borrowed from wherever the future is polled.
///
/// `args` and `ret` cost nothing unless details are recorded. Then values are printed by their
/// `Debug`, cut at 256 bytes; a panic in `Debug` is caught and noted.
///
/// A proxy forwards `self`, `&self`, `&mut self`, `self: Box<Self>` and functions without a
/// receiver. A method that it cannot forward is an error; with a default body and
/// `#[observe(skip)]`, the proxy runs that body.
///
/// A `const fn`, a function with a foreign ABI and a method that a macro makes cannot be observed.
/// In an `impl` such a method is listed as skipped, with the reason; the attribute directly on one
/// is an error.
#[proc_macro_attribute]
pub fn observe(options: TokenStream, item: TokenStream) -> TokenStream {
    observe::observe(options.into(), item.into()).into()
}

/// Implements the facade's `site!`, which adds the path of `metaspy`.
#[proc_macro]
pub fn site(path: TokenStream) -> TokenStream {
    site_ref::site(path.into()).into()
}

/// Identifies values of a type by a key of at most 64 bits: the field marked `#[identify(key)]`, or
/// the only field.
///
/// The kind is named after the type. If a field already has an identity, such as an `ObjectId`,
/// mark it `#[identify(same)]` to give the type this identity.
#[proc_macro_derive(Identify, attributes(identify))]
pub fn identify(item: TokenStream) -> TokenStream {
    identify::identify(item.into()).into()
}

/// Gives messages a kind of announcement: the name of the variant, or of the type if it is a
/// struct.
///
/// A tap on a bus of such messages uses these names. Kinds that are never announced are listed,
/// too.
#[proc_macro_derive(Announce, attributes(announce))]
pub fn announce(item: TokenStream) -> TokenStream {
    announce::announce(item.into()).into()
}
