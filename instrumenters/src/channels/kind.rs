//! Kinds of messages, from a derive, their `Debug`, or a closure.

use std::any::{Any, type_name};
use std::fmt::{self, Debug, Write};
use std::marker::PhantomData;

use metaspy_core::hook::Reify;

use crate::announce::AnnouncementType;
use crate::dynamic_sites::path_of;

/// Source of the kind of a message.
#[diagnostic::on_unimplemented(
    message = "metaspy cannot find the kind of a `{M}`",
    note = "derive `Debug` for it, or give a closure: `.kind(|message| …)`"
)]
pub trait KindOf<M>: Send + 'static {
    /// Calls `then` with the kind of a message.
    fn with_kind<R>(&self, message: &M, then: impl FnOnce(&str) -> R) -> R;

    /// Returns the kinds that are known before the first message.
    fn known_kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// Adds the message to the details of its event, if it can be shown.
    fn show(&self, message: &M, reify: &mut Reify<'_>) {
        let _ = (message, reify);
    }
}

/// Kind by `#[derive(Announce)]`, else the first name in the message's `Debug`, else the name of
/// its type.
pub struct ByItself<M>(Option<&'static AnnouncementType>, PhantomData<fn(&M)>);

impl<M: 'static> ByItself<M> {
    pub(super) fn new() -> Self {
        ByItself(AnnouncementType::find::<M>(), PhantomData)
    }
}

impl<M: Debug + Any> KindOf<M> for ByItself<M> {
    fn with_kind<R>(&self, message: &M, then: impl FnOnce(&str) -> R) -> R {
        match self.0.and_then(|announced| announced.kind(message)) {
            Some(kind) => then(kind),
            None => then(leading_name(message).or_type_of::<M>()),
        }
    }

    fn known_kinds(&self) -> &'static [&'static str] {
        self.0.map_or(&[], AnnouncementType::kinds)
    }

    fn show(&self, message: &M, reify: &mut Reify<'_>) {
        reify.arg("message", message);
    }
}

impl<M> fmt::Debug for ByItself<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ByItself").field(&self.0).finish()
    }
}

/// Kind by a closure.
#[derive(Debug)]
pub struct ByClosure<F>(pub(super) F);

impl<M, F: Fn(&M) -> &str + Send + 'static> KindOf<M> for ByClosure<F> {
    fn with_kind<R>(&self, message: &M, then: impl FnOnce(&str) -> R) -> R {
        then((self.0)(message))
    }
}

/// Returns the name at the beginning of a value's `Debug`: `Moved` for `Moved { to: 3 }`. The rest
/// is not formatted.
fn leading_name(value: &impl Debug) -> Leading {
    let mut leading = Leading(String::new());
    let _ = write!(leading, "{value:?}");
    leading
}

struct Leading(String);

/// Maximum length of a name, in bytes.
const NAME_MAX: usize = 64;

impl Leading {
    /// Returns the name, or the type's name if the text begins with something else, such as a
    /// number or a quote.
    fn or_type_of<M>(&self) -> &str {
        match self.0.as_str() {
            "" => path_of(type_name::<M>()).1,
            name => name,
        }
    }
}

impl Write for Leading {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for char in text.chars() {
            let goes_on = char.is_alphabetic()
                || char == '_'
                || (char.is_alphanumeric() && !self.0.is_empty());
            if !goes_on || self.0.len() >= NAME_MAX {
                return Err(fmt::Error);
            }
            self.0.push(char);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    #[expect(dead_code, reason = "they are shown")]
    enum Message {
        Moved { to: u32 },
        Closed,
        Sent(&'static str),
    }

    fn name<M: Debug + 'static>(message: M) -> String {
        ByItself::new().with_kind(&message, str::to_owned)
    }

    #[test]
    fn the_name_is_what_debug_begins_with_or_the_type() {
        assert_eq!(name(Message::Moved { to: 3 }), "Moved");
        assert_eq!(name(Message::Closed), "Closed");
        assert_eq!(name(Message::Sent("no")), "Sent");
        assert_eq!(name(Some(4)), "Some");
        assert_eq!(name(7_u32), "u32");
        assert_eq!(name("text".to_owned()), "String");
    }

    #[test]
    fn nothing_behind_the_name_is_formatted() {
        struct Shy;
        impl Debug for Shy {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("Shy ")?;
                unreachable!("formatting has stopped")
            }
        }
        assert_eq!(name(Shy), "Shy");
    }
}
