//! What kind of announcement a message is.

use std::any::{Any, type_name};
use std::fmt::{self, Debug, Write};
use std::marker::PhantomData;

use metaspy_core::hook::Reify;

use crate::announce::AnnouncementType;
use crate::dynamic_sites::path_of;

/// Says what kind of announcement a message is.
#[diagnostic::on_unimplemented(
    message = "nobody knows what kind of announcement a `{M}` is",
    note = "derive `Debug` for it, or say so: `.kind(|message| …)`"
)]
pub trait KindOf<M>: Send + 'static {
    /// Tells the kind of a message.
    fn with_kind<R>(&self, message: &M, then: impl FnOnce(&str) -> R) -> R;

    /// The kinds that are known beforehand.
    fn known_kinds(&self) -> &'static [&'static str] {
        &[]
    }

    /// Shows a message to whom asked for details, if it can be shown.
    fn show(&self, message: &M, reify: &mut Reify<'_>) {
        let _ = (message, reify);
    }
}

/// The message knows: by `#[derive(Announce)]`, else by the name that its `Debug` begins with, else by its type.
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

/// What a closure says.
#[derive(Debug)]
pub struct ByClosure<F>(pub(super) F);

impl<M, F: Fn(&M) -> &str + Send + 'static> KindOf<M> for ByClosure<F> {
    fn with_kind<R>(&self, message: &M, then: impl FnOnce(&str) -> R) -> R {
        then((self.0)(message))
    }
}

/// The name that a value's `Debug` begins with: `Moved` of `Moved { to: 3 }`. The rest is not formatted.
fn leading_name(value: &impl Debug) -> Leading {
    let mut leading = Leading(String::new());
    let _ = write!(leading, "{value:?}");
    leading
}

struct Leading(String);

/// Bytes of a name at most.
const NAME_MAX: usize = 64;

impl Leading {
    /// The name, or that of the type if the text begins with something else: a number, a quote.
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
            let goes_on = char.is_alphabetic() || char == '_' || (char.is_alphanumeric() && !self.0.is_empty());
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
        Said(&'static str),
    }

    fn name<M: Debug + 'static>(message: M) -> String {
        ByItself::new().with_kind(&message, str::to_owned)
    }

    #[test]
    fn the_name_is_what_debug_begins_with_or_the_type() {
        assert_eq!(name(Message::Moved { to: 3 }), "Moved");
        assert_eq!(name(Message::Closed), "Closed");
        assert_eq!(name(Message::Said("no")), "Said");
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
                unreachable!("it was told to stop")
            }
        }
        assert_eq!(name(Shy), "Shy");
    }
}
