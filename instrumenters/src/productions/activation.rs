//! The door for parsers that are no data: an activation of a production, from the first byte to the last.
//!
//! The combinator libraries that metaspy knows use it (`.spied("name")`); a parser written by hand, or with another
//! library, does the same:
//!
//! ```
//! use metaspy::productions::{Activation, ActivationEnd, ActivationFrame, Position};
//!
//! /// Digits at the beginning; how many.
//! fn digits(text: &str) -> Option<usize> {
//!     let (mut slot, digits) = (ActivationFrame::vacant(), metaspy::production!("digits"));
//!     let activation = Activation::begin(&mut slot, digits, Position::Left(text.len()));
//!     let count = text.bytes().take_while(u8::is_ascii_digit).count();
//!     activation.end(if count > 0 { ActivationEnd::Matched } else { ActivationEnd::Backtracked }, Position::Left(text.len() - count));
//!     (count > 0).then_some(count)
//! }
//! assert_eq!(digits("42!"), Some(2));
//! ```

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use metaspy_core::hook::{Frame, Guard};
use metaspy_core::{Outcome, Owner, Site, SiteKind, Subject, label};

use crate::__private::enter_with;
use crate::dynamic_sites;
use crate::lookup_cache::{LookupCache, Names};

/// How an activation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivationEnd {
    /// It matched.
    Matched,
    /// It did not, and another alternative may be tried.
    Backtracked,
    /// It did not, and no other alternative may be tried.
    Cut,
    /// The input ended before it was clear.
    Incomplete,
}

impl ActivationEnd {
    pub(super) fn outcome(self) -> Outcome {
        match self {
            ActivationEnd::Matched => Outcome::Succeeded,
            ActivationEnd::Backtracked | ActivationEnd::Cut => Outcome::Failed,
            ActivationEnd::Incomplete => Outcome::Cancelled,
        }
    }
}

/// A place in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// So many bytes or tokens from its beginning.
    At(usize),
    /// So many before its end. The beginning is where the outermost activation on the thread was tried.
    Left(usize),
    /// Nobody knows.
    Unknown,
}

/// The purpose of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It makes a value of the input.
    Parse,
    /// It only checks the input, because its value is not needed.
    Check,
}

/// What an activation needs while it lasts. It stays as it is, uninitialised, unless somebody observes.
pub struct ActivationFrame(Frame);

impl fmt::Debug for ActivationFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActivationFrame").finish_non_exhaustive()
    }
}

impl ActivationFrame {
    /// Room for one activation.
    #[inline(always)]
    pub const fn vacant() -> Self {
        ActivationFrame(Frame::vacant())
    }
}

/// An activation of a production. One that is dropped before it has ended, by `?` or `return`, did not match; if a panic
/// drops it, it panicked.
#[must_use = "an activation lasts until it is ended or dropped"]
pub struct Activation<'s> {
    call: Guard<'s>,
    /// Where it was tried, if somebody wants to know.
    place: Option<Place>,
}

thread_local! {
    /// How many activations that tell their places have not ended, and how long the input is that they are about.
    static PARSE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// The input at hand.
    static INPUT: Cell<Subject> = const { Cell::new(Subject::NONE) };
}

/// A place that was begun; dropping it ends it, also while unwinding.
struct Place(Option<usize>);

impl Place {
    fn enter(place: Position) -> Self {
        let (open, whole) = PARSE.get();
        let whole = match place {
            Position::Left(left) if open == 0 => left,
            _ => whole,
        };
        PARSE.set((open + 1, whole));
        Place(offset(place))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = PARSE.try_with(|parse| {
            let (open, whole) = parse.get();
            parse.set((open.saturating_sub(1), whole));
        });
    }
}

fn offset(place: Position) -> Option<usize> {
    match place {
        Position::At(at) => Some(at),
        Position::Left(left) => PARSE.get().1.checked_sub(left),
        Position::Unknown => None,
    }
}

impl<'s> Activation<'s> {
    /// A production is tried at this place.
    #[inline(always)]
    pub fn begin(frame: &'s mut ActivationFrame, production: &'static Site, place: Position) -> Self {
        Self::begin_for(frame, production, place, Purpose::Parse)
    }

    /// As [`begin`](Self::begin). The event of an activation that only checks the input has the argument `checks`.
    #[inline(always)]
    pub fn begin_for(
        frame: &'s mut ActivationFrame,
        production: &'static Site,
        place: Position,
        purpose: Purpose,
    ) -> Self {
        if production.is_armed() {
            Self::observed(frame, production, place, purpose)
        } else {
            Activation { call: Guard::unarmed(production), place: None }
        }
    }

    #[inline]
    fn observed(frame: &'s mut ActivationFrame, production: &'static Site, place: Position, purpose: Purpose) -> Self {
        let mut begun = None;
        let entered = enter_with(&mut frame.0, production, INPUT.get(), |reify| {
            let place = Place::enter(place);
            if let Some(at) = place.0 {
                reify.arg("at", &at);
            }
            if purpose == Purpose::Check {
                reify.arg("checks", &true);
            }
            begun = Some(place);
        });
        let mut call = Guard::of(production, entered);
        call.exit(Outcome::Failed);
        Activation { call, place: begun }
    }

    /// It has ended, having read up to there. A cut is told as what it returned; what is incomplete is cancelled.
    #[inline]
    pub fn end(mut self, ended: ActivationEnd, place: Position) {
        if let Some(Place(began)) = &self.place {
            match (ended, began.zip(offset(place))) {
                (ActivationEnd::Matched, Some((at, end))) => self.call.returns(&(at..end)),
                (ActivationEnd::Cut, _) => self.call.returns(&format_args!("cut")),
                _ => {}
            }
        }
        self.call.done(ended.outcome());
    }
}

impl fmt::Debug for Activation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Activation").finish_non_exhaustive()
    }
}

/// Runs a parse whose activations are about one input, with this name.
pub fn with_input<R>(name: &str, parse: impl FnOnce() -> R) -> R {
    struct Back(Subject);
    impl Drop for Back {
        fn drop(&mut self) {
            let _ = INPUT.try_with(|input| input.set(self.0));
        }
    }
    let _back = Back(INPUT.replace(next_input(name)));
    parse()
}

/// The input at hand.
pub(super) fn input() -> Subject {
    INPUT.try_with(Cell::get).unwrap_or(Subject::NONE)
}

fn next_input(name: &str) -> Subject {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static INPUTS: LazyLock<Owner> = LazyLock::new(|| Owner::new("Input"));
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let input = INPUTS.subject(NEXT.fetch_add(1, Ordering::Relaxed));
    label(input, name);
    input
}

/// What names a production: its site, as [`production!`](crate::production) makes it, or its name alone.
pub trait IntoProduction {
    /// The production's site.
    fn site(self, at: &'static Location<'static>) -> &'static Site;
}

impl IntoProduction for &'static Site {
    #[inline]
    fn site(self, _at: &'static Location<'static>) -> &'static Site {
        self
    }
}

/// The site is made when the name is first used in a file, so a production that nothing asks for is not known.
impl IntoProduction for &'static str {
    fn site(self, at: &'static Location<'static>) -> &'static Site {
        thread_local! {
            static KNOWN: LookupCache<Names, &'static Site> = const { LookupCache::new() };
        }
        let make = || dynamic_sites::site(SiteKind::Production, dynamic_sites::stem(at.file()), self.to_owned(), at);
        KNOWN.try_with(|known| known.get([self, at.file()], make)).unwrap_or_else(|_| make())
    }
}

/// A production that is known before `main`, whether anything asks for it or not: `production!("value")` is its
/// [`Site`](metaspy_core::Site). Without it a list of what was never exercised would lack what never ran.
#[macro_export]
macro_rules! production {
    ($name:literal) => {{
        $crate::__private::register! {
            static SITE: $crate::__private::Site = $crate::__private::Site::new($crate::__private::SiteDef {
                kind: $crate::__private::SiteKind::Production,
                module: ::core::module_path!(),
                name: $name,
                file: ::core::file!(),
                lines: (::core::line!(), ::core::line!()),
                skipped: None,
            });
        }
        &SITE
    }};
}
