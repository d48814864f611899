//! Transitions from one state to another.

use std::fmt::Debug;

use metaspy_core::hook::enter_with;
use metaspy_core::{Identify, Outcome, Site};

/// Records a transition: `state!(connection, State::Idle, State::Busy)`.
///
/// The event is an instant about the subject. The name of the site is the text of the two states,
/// `MODULE::Idle->Busy`, and it is registered before `main`. If the states are variables, the name
/// has the names of the variables; the arguments `from` and `to` have the values.
///
/// ```
/// use metaspy::prelude::*;
///
/// #[derive(Debug)]
/// enum State { Idle, Busy }
///
/// let connection = ObjectId::new();
/// let profiler = Profiler::new("states").observe(methods("Idle->Busy")).install()?;
/// state!(connection, State::Idle, State::Busy);
/// assert_eq!(profiler.uninstall().count_of(&connection), 1);
/// # Ok::<(), metaspy::InstallError>(())
/// ```
#[macro_export]
macro_rules! state {
    (@last $name:ident) => { ::core::stringify!($name) };
    (@last $first:ident :: $($rest:tt)+) => { $crate::state!(@last $($rest)+) };
    (@record $subject:expr, $from:expr, $to:expr, $name:expr) => {{
        $crate::__private::register! {
            static SITE: $crate::__private::Site = $crate::__private::Site::new($crate::__private::SiteDef {
                kind: $crate::__private::SiteKind::State,
                module: ::core::module_path!(),
                name: $name,
                file: ::core::file!(),
                lines: (::core::line!(), ::core::line!()),
                skipped: None,
            });
        }
        if SITE.is_armed() {
            $crate::__private::transition(&SITE, &$subject, &$from, &$to);
        }
    }};
    ($subject:expr, $($from:ident)::+, $($to:ident)::+ $(,)?) => {
        $crate::state!(@record $subject, $($from)::+, $($to)::+,
            ::core::concat!($crate::state!(@last $($from)::+), "->", $crate::state!(@last $($to)::+)))
    };
    ($subject:expr, $from:expr, $to:expr $(,)?) => {
        $crate::state!(@record $subject, $from, $to,
            ::core::concat!(::core::stringify!($from), "->", ::core::stringify!($to)))
    };
}

/// Records a transition, on behalf of the code that `state!` generates.
#[doc(hidden)]
#[cold]
pub fn transition(
    site: &'static Site,
    subject: &(impl Identify + ?Sized),
    from: &dyn Debug,
    to: &dyn Debug,
) {
    let subject = metaspy_core::hook::subject(|| subject.identify());
    let call = enter_with(site, subject, |reify| {
        reify.arg("from", from);
        reify.arg("to", to);
    });
    call.done(Outcome::Instant);
}
