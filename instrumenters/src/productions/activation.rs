//! Activations of productions, for parsers in Rust.
//!
//! `.spied("name")` makes activations in parsers of winnow, nom and chumsky. A parser that is
//! written by hand, or with
//! another library, makes them itself:
//!
//! ```
//! use metaspy::productions::{Activation, ActivationEnd, ActivationFrame, Position};
//!
//! /// The number of digits at the beginning.
//! fn digits(text: &str) -> Option<usize> {
//!     let (mut frame, digits) = (ActivationFrame::vacant(), metaspy::production!("digits"));
//!     let activation = Activation::begin(&mut frame, digits, Position::Left(text.len()));
//!     let count = text.bytes().take_while(u8::is_ascii_digit).count();
//!     let end = if count > 0 { ActivationEnd::Matched } else { ActivationEnd::Backtracked };
//!     activation.end(end, Position::Left(text.len() - count));
//!     (count > 0).then_some(count)
//! }
//! assert_eq!(digits("42!"), Some(2));
//! ```

use std::cell::Cell;
use std::fmt;
use std::panic::Location;

use metaspy_core::hook::{Frame, Guard};
use metaspy_core::{Outcome, Owner, Site, SiteKind, Subject, forget, label};

use crate::__private::enter_with;
use crate::dynamic_sites;
use crate::lookup_cache::{LookupCache, Names};

/// End of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivationEnd {
    /// The production matched.
    Matched,
    /// The production did not match, and another alternative may be tried.
    Backtracked,
    /// The production did not match, and no other alternative may be tried.
    Cut,
    /// The input ended too early for a result.
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

/// Position in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Number of bytes or tokens from the beginning.
    At(usize),
    /// Number of bytes or tokens before the end. The input begins at the thread's outermost
    /// activation.
    Left(usize),
    /// Unknown position.
    Unknown,
}

/// Purpose of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The activation makes a value of the input.
    Parse,
    /// The activation only checks the input, because its value is not needed.
    Check,
}

/// Memory of an activation. It stays uninitialised if the production is not armed.
pub struct ActivationFrame(Frame);

impl fmt::Debug for ActivationFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActivationFrame").finish_non_exhaustive()
    }
}

impl ActivationFrame {
    /// Creates memory for an activation.
    #[inline(always)]
    pub const fn vacant() -> Self {
        ActivationFrame(Frame::vacant())
    }
}

/// Activation of a production.
///
/// If it is dropped before its end, by `?` or `return`, the production did not match. If a panic
/// drops it, the activation panicked.
#[must_use = "an activation lasts until it is ended or dropped"]
pub struct Activation<'s> {
    call: Guard<'s>,
    /// Position at which the production was tried, if details are recorded.
    place: Option<PositionGuard>,
}

thread_local! {
    /// Number of open activations with positions, and the length of their input.
    static PARSE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// Current input of the thread.
    static INPUT: Cell<Subject> = const { Cell::new(Subject::NONE) };
}

/// Guard that keeps the position of an open activation. Dropping it ends the activation, also
/// while unwinding.
struct PositionGuard(Option<usize>);

impl PositionGuard {
    fn enter(place: Position) -> Self {
        let (open, whole) = PARSE.get();
        let whole = match place {
            Position::Left(left) if open == 0 => left,
            _ => whole,
        };
        PARSE.set((open + 1, whole));
        PositionGuard(offset(place))
    }
}

impl Drop for PositionGuard {
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
    /// Begins an activation: the production is tried at this position.
    #[inline(always)]
    pub fn begin(
        frame: &'s mut ActivationFrame,
        production: &'static Site,
        place: Position,
    ) -> Self {
        Self::begin_for(frame, production, place, Purpose::Parse)
    }

    /// Begins an activation for a purpose. The event of an activation that only checks the input
    /// has the argument `checks`.
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
    fn observed(
        frame: &'s mut ActivationFrame,
        production: &'static Site,
        place: Position,
        purpose: Purpose,
    ) -> Self {
        let mut begun = None;
        let entered = enter_with(&mut frame.0, production, INPUT.get(), |reify| {
            let place = PositionGuard::enter(place);
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

    /// Ends the activation. `place` is the end of the consumed input.
    ///
    /// A cut is recorded as the return value `cut`; an incomplete activation is cancelled.
    #[inline]
    pub fn end(mut self, ended: ActivationEnd, place: Position) {
        if let Some(PositionGuard(began)) = &self.place {
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

/// Runs a parse of an input with this name, which is the subject of all its activations.
///
/// The subject ends with the parse. Its name is kept at least as long as an event about it is
/// stored.
pub fn with_input<R>(name: &str, parse: impl FnOnce() -> R) -> R {
    struct Back {
        before: Subject,
        own: Subject,
    }
    impl Drop for Back {
        fn drop(&mut self) {
            let _ = INPUT.try_with(|input| input.set(self.before));
            forget(self.own);
        }
    }
    let own = next_input(name);
    let _back = Back { before: INPUT.replace(own), own };
    parse()
}

/// Returns the current input of the thread.
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

/// Production: the site that [`production!`](crate::production) makes, or a name.
pub trait IntoProduction {
    /// Returns the production's site.
    fn site(self, at: &'static Location<'static>) -> &'static Site;
}

impl IntoProduction for &'static Site {
    #[inline]
    fn site(self, _at: &'static Location<'static>) -> &'static Site {
        self
    }
}

/// The first use of the name registers the site, so a production that never runs is not listed.
impl IntoProduction for &'static str {
    fn site(self, at: &'static Location<'static>) -> &'static Site {
        thread_local! {
            static KNOWN: LookupCache<Names, &'static Site> = const { LookupCache::new() };
        }
        let make = || {
            dynamic_sites::site(
                SiteKind::Production,
                dynamic_sites::stem(at.file()),
                self.to_owned(),
                at,
            )
        };
        KNOWN.try_with(|known| known.get([self, at.file()], make)).unwrap_or_else(|_| make())
    }
}

/// Registers a production before `main`, and returns its [`Site`](metaspy_core::Site):
/// `production!("value")`.
///
/// So a production that never runs is listed, too.
///
/// ```
/// use metaspy::prelude::*;
/// use metaspy::productions::winnow::ParserExt;
/// use winnow::{Parser, ascii::digit1};
///
/// fn number(input: &mut &str) -> winnow::Result<String> {
///     digit1.map(str::to_owned).spied(production!("number")).parse_next(input)
/// }
///
/// let (value, profile) = Profiler::new("numbers").observe(productions("number")).profile(|| number.parse("42"))?;
/// assert_eq!((value.as_deref(), profile.counts().total()), (Ok("42"), 1));
/// # Ok::<(), InstallError>(())
/// ```
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
