//! The macros that woven text calls. The lints of the woven crate ignore code that a macro of
//! another crate makes.
//!
//! A hook that sees returned values owns all parameters, by a mention that is never reached, and
//! does not capture the other variables that the body uses. Parameters are then dropped in the
//! plain order, and unused ones stay unused for the compiler's warnings.

/// Begins a call that ends where the enclosing block does.
#[macro_export]
macro_rules! hook {
    ($name:literal, $first:literal, $last:literal, $facts:literal, [$($subject:tt)*], [$($argument:tt)*]) => {
        let mut frame = $crate::Frame::vacant();
        let _guard = $crate::enter!($name, $first, $last, $facts, [$($subject)*], [$($argument)*], frame);
    };
}

/// Counts a call that begins.
#[macro_export]
macro_rules! entry {
    ($name:literal, $first:literal, $last:literal, $facts:literal) => {
        $crate::Site::entered($crate::site!($name, $first, $last, $facts));
    };
}

/// Counts a call that begins, and shows on which object.
#[macro_export]
macro_rules! covered {
    ($name:literal, $first:literal, $last:literal, $facts:literal, []) => {
        $crate::Site::covered($crate::site!($name, $first, $last, $facts));
    };
    ($name:literal, $first:literal, $last:literal, $facts:literal, [place $object:expr]) => {
        $crate::Site::covered_on($crate::site!($name, $first, $last, $facts), &*$object);
    };
}

/// Counts a call that begins, in its calling context, which the end of the enclosing block leaves.
#[macro_export]
macro_rules! context {
    ($name:literal, $first:literal, $last:literal, $facts:literal) => {
        let _context = $crate::Site::enter_context($crate::site!($name, $first, $last, $facts));
    };
}

/// Runs a body, and shows its return value.
#[macro_export]
macro_rules! whole {
    (
        $name:literal, $first:literal, $last:literal, $facts:literal,
        [$($subject:tt)*], [$($argument:tt)*], [$kind:ident $trust:ident $($returned:tt)*], $body:tt
    ) => {{
        let mut frame = $crate::Frame::vacant();
        let mut guard = $crate::enter!($name, $first, $last, $facts, [$($subject)*], [$($argument)*], frame);
        let value = $crate::once(move || -> $($returned)* $body);
        if guard.is_seen() {
            $crate::apart(|| guard.returned(&$crate::value!($kind $trust "", value)));
        }
        value
    }};
}

/// Runs the body of a function that is async.
#[macro_export]
macro_rules! polled {
    (
        $name:literal, $first:literal, $last:literal, $facts:literal,
        [$($subject:tt)*], [$($argument:tt)*], [$kind:ident $trust:ident $($returned:tt)*], $body:tt
    ) => {
        $crate::Polled::new(
            $crate::start!($name, $first, $last, $facts, [$($subject)*], [$($argument)*]),
            $crate::future!([$($returned)*], $body),
            |_, _| {},
        )
        .await
    };
}

/// Runs the body of a function that is async, and shows its return value.
#[macro_export]
macro_rules! polled_whole {
    (
        $name:literal, $first:literal, $last:literal, $facts:literal,
        [$($subject:tt)*], [$($argument:tt)*], [$kind:ident $trust:ident $($returned:tt)*], $body:tt
    ) => {
        $crate::Polled::new(
            $crate::start!($name, $first, $last, $facts, [$($subject)*], [$($argument)*]),
            $crate::future!([$($returned)*], $body),
            |call, value: &$($returned)*| call.returned(&$crate::value!($kind $trust "", *value)),
        )
        .await
    };
}

/// Counts the beginning of a call of an async function.
#[macro_export]
macro_rules! began {
    ($name:literal, $first:literal, $last:literal, $facts:literal) => {
        $crate::Site::began($crate::site!($name, $first, $last, $facts));
    };
}

/// A future with a stated output type.
#[doc(hidden)]
#[macro_export]
macro_rules! future {
    ([$($returned:tt)*], $body:tt) => {
        async move {
            #[allow(unreachable_code, unused_variables, clippy::diverging_sub_expression)]
            if false {
                let never: $($returned)* = loop {};
                return never;
            }
            $body
        }
    };
}

/// Makes a closure or an async block own the named variables, in this order: they are dropped
/// inside it. The mention is never reached, so that variables that are used nowhere else stay
/// unused.
#[macro_export]
macro_rules! held {
    ($($name:ident)+) => {
        if false {
            #[allow(unreachable_code)]
            {
                loop {}
                $(let _ = &$name;)+
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! enter {
    ($name:literal, $first:literal, $last:literal, $facts:literal, [], [], $frame:ident) => {
        $crate::Guard::begin($crate::site!($name, $first, $last, $facts), &mut $frame, $crate::Object::NONE)
    };
    ($name:literal, $first:literal, $last:literal, $facts:literal, [place $object:expr], [], $frame:ident) => {
        $crate::Guard::begin($crate::site!($name, $first, $last, $facts), &mut $frame, $crate::Object::of(&*$object))
    };
    ($name:literal, $first:literal, $last:literal, $facts:literal, [$($key:tt)+], [], $frame:ident) => {{
        let site = $crate::site!($name, $first, $last, $facts);
        if site.is_armed() {
            $crate::Guard::about(site, &mut $frame, $crate::receiver!(site $($key)+))
        } else {
            $crate::Guard::unarmed(site)
        }
    }};
    (
        $name:literal, $first:literal, $last:literal, $facts:literal,
        [$($subject:tt)*], [$($trust:ident $argument:ident),+], $frame:ident
    ) => {{
        let site = $crate::site!($name, $first, $last, $facts);
        if site.is_armed() {
            $crate::apart(|| {
                $crate::Guard::showing(
                    site,
                    &mut $frame,
                    &$crate::Seen::new(
                        $crate::receiver!(site $($subject)*),
                        &[$($crate::value!(borrowed $trust $crate::library::stringify!($argument), $argument)),+],
                    ),
                )
            })
        } else {
            $crate::Guard::unarmed(site)
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! start {
    (
        $name:literal, $first:literal, $last:literal, $facts:literal,
        [$($subject:tt)*], [$($trust:ident $argument:ident),*]
    ) => {{
        let site = $crate::site!($name, $first, $last, $facts);
        if site.is_armed() {
            $crate::AsyncCall::start(
                site,
                &$crate::Seen::new(
                    $crate::receiver!(site $($subject)*),
                    &[$($crate::value!(borrowed $trust $crate::library::stringify!($argument), $argument)),*],
                ),
            )
        } else {
            $crate::AsyncCall::unobserved(site)
        }
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! receiver {
    ($site:ident) => {
        $crate::Receiver::NONE
    };
    ($site:ident place $object:expr) => {
        $crate::Object::of(&*$object).receiver()
    };
    ($site:ident key $key:expr) => {
        $crate::receiver!(@ $site $key, key, $crate::Probe::of(key).type_name())
    };
    ($site:ident key $key:expr, type $object:ty) => {
        $crate::receiver!(@ $site $key, key, $crate::library::any::type_name::<$object>())
    };
    ($site:ident key $key:expr, of $object:expr) => {
        $crate::receiver!(@ $site $key, key, $crate::pointed_to($crate::Probe::of(&$object).type_name()))
    };
    (@ $site:ident $expression:expr, $key:ident, $type_name:expr) => {{
        #[allow(unused_imports)]
        use $crate::{CanBeHashed as _, CannotBeHashed as _};
        let $key = &$expression;
        let probe = $crate::Probe::of($key);
        let mut how = probe.how();
        (&probe).can_hash(&mut how);
        $site.keyed($crate::library::ptr::from_ref($key).cast(), how.hash, $crate::Text::of($type_name))
    }};
}

/// A value and its abilities: for code of `any` type, or of `known` types. A value that is not
/// `own` may contain references that do not stay valid, so it is not kept.
#[doc(hidden)]
#[macro_export]
macro_rules! value {
    ($kind:ident types $name:expr, $value:expr) => {
        $crate::typed!($kind unseen $name, $value)
    };
    ($kind:ident types_known $name:expr, $value:expr) => {
        $crate::typed!($kind known $name, $value)
    };
    ($kind:ident types_any $name:expr, $value:expr) => {
        $crate::typed!($kind any $name, $value)
    };
    (own $trust:ident $name:expr, $value:expr) => {{
        #[allow(unused_imports)]
        use $crate::$trust::{CanBeKept as _, CanBeListed as _, CannotBeKept as _, CannotBeListed as _};
        let probe = $crate::Probe::of(&$value);
        let mut how = probe.how();
        (&probe).can_compare(&mut how);
        (&probe).can_compare_items(&mut how);
        $crate::value!(@ $trust $name, $value, probe, how)
    }};
    (borrowed $trust:ident $name:expr, $value:expr) => {{
        let probe = $crate::Probe::of(&$value);
        let mut how = probe.how();
        $crate::value!(@ $trust $name, $value, probe, how)
    }};
    (@ $trust:ident $name:expr, $value:expr, $probe:ident, $how:ident) => {{
        #[allow(unused_imports)]
        use $crate::$trust::{CanBeHashed as _, CanBeShown as _, CannotBeHashed as _, CannotBeShown as _};
        #[allow(unused_imports)]
        use $crate::{
            IsNoOption as _, IsNoResult as _, Options as _, Refers as _, RefersMut as _, RefersNot as _,
            RefersNotMut as _, Results as _,
        };
        (&$probe).can_show(&mut $how);
        (&$probe).can_hash(&mut $how);
        (&$probe).refers_to(&mut $how);
        (&$probe).refers_to_mut(&mut $how);
        (&$probe).may_be_err(&mut $how);
        (&$probe).may_be_none(&mut $how);
        $crate::Value::new($name, &$value, $how)
    }};
}

/// A value whose type is recorded, too.
#[doc(hidden)]
#[macro_export]
macro_rules! typed {
    ($kind:ident $trust:ident $name:expr, $value:expr) => {{
        #[allow(unused_imports)]
        use $crate::{HasLayout as _, RefersToLayout as _};
        let mut typed = $crate::value!($kind $trust $name, $value);
        (&$crate::Probe::of(&$value)).lay_out(typed.how_mut());
        typed
    }};
}

#[doc(hidden)]
#[macro_export]
macro_rules! site {
    ($name:literal, $first:literal, $last:literal, $facts:literal) => {{
        $crate::register! {
            static SITE: $crate::Site = $crate::Site::woven(
                $crate::library::module_path!(),
                $name,
                $crate::library::file!(),
                ($first, $last),
                $facts,
            );
        }
        &SITE
    }};
}
