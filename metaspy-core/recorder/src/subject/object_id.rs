//! An identity to embed in an object.

use std::any::type_name;
use std::sync::atomic::{AtomicU64, Ordering};

use metaspy_probe::Text;

use crate::subject::{Identify, Kind, KindId, Nature, Subject, kind_of_type};

/// An identity of its own, as a field of an object: it survives moves, and no two objects share
/// one.
///
/// A clone is another object, so it gets a new identity; two ids are equal only if they are the
/// same object's.
///
/// ```
/// use metaspy_recorder::subject::ObjectId;
///
/// struct Widget {
///     id: ObjectId,
/// }
///
/// // Screens and reports show it as `Widget #1`; one of `ObjectId::new()` is `object #1`.
/// let widget = Widget { id: ObjectId::of::<Widget>() };
/// # assert_ne!(widget.id, ObjectId::of::<Widget>());
/// ```
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    number: u64,
    kind: KindId,
}

impl ObjectId {
    /// An identity that nothing else has, of an object whose type has no name on screens.
    pub fn new() -> Self {
        static KIND: Kind = Kind::new("object");
        Self::next(KIND.id())
    }

    /// An identity that nothing else has, of an object of this type.
    pub fn of<T: ?Sized>() -> Self {
        Self::next(kind_of_type(Text::of(type_name::<T>()), Nature::Object))
    }

    fn next(kind: KindId) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        ObjectId { number: NEXT.fetch_add(1, Ordering::Relaxed), kind }
    }

    /// The number.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl Default for ObjectId {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for ObjectId {
    fn clone(&self) -> Self {
        Self::next(self.kind)
    }
}

impl Identify for ObjectId {
    #[inline(always)]
    fn identify(&self) -> Subject {
        Subject::new(self.kind, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Widget;

    #[test]
    fn the_kind_of_an_object_is_its_type_and_no_kind_of_the_domain() {
        static OF_THE_DOMAIN: Kind =
            Kind::new("metaspy_recorder::subject::object_id::tests::Widget");
        let one = ObjectId::of::<Widget>();
        let other = ObjectId::of::<Widget>();
        assert_eq!(one.identify().kind, other.identify().kind);
        assert_ne!(one.identify(), other.identify());
        let copy = one.clone();
        assert_eq!(copy.identify().kind, one.identify().kind);
        assert_ne!(copy, one);
        assert_ne!(
            one.identify().kind,
            OF_THE_DOMAIN.id(),
            "a key of the domain may be the same number"
        );
        assert_ne!(one.identify().kind, ObjectId::of::<Vec<Widget>>().identify().kind);
        assert_ne!(one.identify().kind, ObjectId::new().identify().kind);
    }
}
