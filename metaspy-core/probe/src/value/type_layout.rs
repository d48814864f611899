//! The recorded facts about a value's type: its size, the variant of an enum, and the table of a
//! trait object.
//!
//! Only words of the value are read. No code of the program runs.

use core::any::type_name;
use core::hash::{Hash, Hasher};
use core::mem::discriminant;

use crate::value::{How, Probe, Value};

/// The part of a value that its type determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeLayout {
    /// The size of the value in bytes.
    pub size: usize,
    /// The discriminant of the value, or of the target of a reference; 0 for types that are no
    /// enum. `None` if it is not read: behind a second reference, and behind a reference to a type
    /// that may be unsized.
    pub variant: Option<u64>,
}

/// In the place of abilities that are not used.
#[doc(hidden)]
pub trait Unseen {}

impl Value<'_> {
    /// Distinguishes its type from others in this process.
    pub fn type_address(&self) -> u64 {
        self.how.type_name as usize as u64
    }

    /// Size and variant, if types are recorded.
    pub fn layout(&self) -> Option<TypeLayout> {
        self.how.layout.map(|layout| layout(self.at))
    }

    /// Returns the description, to add facts about types to it.
    #[inline(always)]
    pub fn how_mut(&mut self) -> &mut How {
        &mut self.how
    }

    /// The two words of a value that is a pointer with metadata: for a trait object, its data and
    /// its table.
    ///
    /// # Safety
    /// The value must have 16 bytes on a machine with words of 8, and the first word must be
    /// initialised. The second word is read only if the first one is not 0, so an `Option` of a
    /// pointer is fine.
    pub unsafe fn pointer_words(&self) -> Option<(usize, usize)> {
        let words = self.at.cast::<usize>();
        // SAFETY: the caller's promise; `Value::new` borrows the value.
        let data = unsafe { words.read_unaligned() };
        // SAFETY: as above.
        (data != 0).then(|| (data, unsafe { words.add(1).read_unaligned() }))
    }
}

/// Types of values, references apart.
pub trait HasLayout {
    /// Writes how.
    fn lay_out(&self, how: &mut How);
}

/// References: the variant is the one behind them.
pub trait RefersToLayout {
    /// Writes how.
    fn lay_out(&self, how: &mut How);
}

impl<T> HasLayout for &Probe<T> {
    #[inline(always)]
    fn lay_out(&self, how: &mut How) {
        how.layout = Some(layout::<T>);
    }
}

impl<T> RefersToLayout for Probe<&T> {
    #[inline(always)]
    fn lay_out(&self, how: &mut How) {
        how.layout = Some(layout_behind::<&T, T>);
    }
}

impl<T> RefersToLayout for Probe<&mut T> {
    #[inline(always)]
    fn lay_out(&self, how: &mut How) {
        how.layout = Some(layout_behind::<&mut T, T>);
    }
}

fn layout<T>(at: *const u8) -> TypeLayout {
    // SAFETY: `Value::new` paired this function with a `T`, which it borrows.
    let value = unsafe { &*at.cast::<T>() };
    TypeLayout { size: size_of::<T>(), variant: variant(value) }
}

fn layout_behind<R: core::ops::Deref<Target = T>, T>(at: *const u8) -> TypeLayout {
    // SAFETY: as in `layout`; `R` is a reference.
    let value = unsafe { &*at.cast::<R>() };
    TypeLayout { size: size_of::<R>(), variant: variant::<T>(value) }
}

/// The discriminant; `None` for a reference, which has none itself. That of the compiler is opaque,
/// and hashes as its number.
fn variant<T>(value: &T) -> Option<u64> {
    if type_name::<T>().starts_with('&') {
        return None;
    }
    let mut number = Number(0);
    discriminant(value).hash(&mut number);
    Some(number.0)
}

/// A hasher that keeps the last number.
struct Number(u64);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut word = [0; 8];
        let length = bytes.len().min(8);
        word[..length].copy_from_slice(&bytes[..length]);
        self.0 = u64::from_le_bytes(word);
    }

    fn write_i8(&mut self, number: i8) {
        self.0 = number as u64;
    }

    fn write_i16(&mut self, number: i16) {
        self.0 = number as u64;
    }

    fn write_i32(&mut self, number: i32) {
        self.0 = number as u64;
    }

    fn write_isize(&mut self, number: isize) {
        self.0 = number as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::boxed::Box;
    use std::cmp::Ordering;
    use std::fmt::Debug;

    use super::*;
    use crate::value;

    #[test]
    fn variants_are_seen_by_value_and_behind_references() {
        #[allow(dead_code)]
        enum Shape {
            Circle(u8),
            Square,
        }
        #[allow(dead_code)]
        #[repr(u8)]
        enum Small {
            Nine = 9,
            Last = 255,
        }
        let square = Shape::Square;
        let last = Small::Last;
        let none = None::<Box<u8>>;
        let by_ref = &&square;
        let less = Ordering::Less;
        let variant = |value: &Value<'_>| value.layout().expect("types are recorded").variant;
        assert_eq!(variant(&value!(borrowed types "", square)), Some(1));
        assert_eq!(variant(&value!(borrowed types "", by_ref)), None);
        let square = *by_ref;
        assert_eq!(variant(&value!(borrowed types "", square)), Some(1));
        assert_eq!(variant(&value!(borrowed types "", last)), Some(255));
        assert_eq!(variant(&value!(own types "", none)), Some(0));
        assert_eq!(variant(&value!(borrowed types "", less)).map(|number| number as i64), Some(-1));
    }

    #[test]
    fn a_variant_behind_a_type_that_may_be_unsized_is_not_known() {
        fn variant<T: ?Sized>(value: &T) -> Option<u64> {
            value!(borrowed types "", value).layout().expect("types are recorded").variant
        }
        assert_eq!(variant(&Some(1_u8)), None);
    }

    #[test]
    fn a_trait_object_has_its_table_and_an_absent_one_has_none() {
        let (one, other): (&dyn Debug, Box<dyn Debug>) = (&1_u8, Box::new('a'));
        let absent: Option<Box<dyn Debug>> = None;
        let words = |value: &Value<'_>| {
            assert_eq!(value.layout().expect("types are recorded").size, 16);
            // SAFETY: it has two words.
            unsafe { value.pointer_words() }
        };
        // SAFETY: a reference to a trait object has these two words.
        let table =
            |of: &dyn Debug| unsafe { core::mem::transmute::<&dyn Debug, (usize, usize)>(of).1 };
        assert_eq!(words(&value!(borrowed types "", one)).expect("it is there").1, table(&1_u8));
        assert_eq!(words(&value!(own types "", other)).expect("it is there").1, table(&'a'));
        assert_eq!(words(&value!(borrowed types "", absent)), None);
    }

    #[test]
    fn only_types_are_seen_unless_values_are_requested() {
        let number = 7_u8;
        let mut text = std::string::String::new();
        assert!(!value!(borrowed types "n", number).show(&mut text));
        let known = value!(own types_known "n", number);
        assert!(known.show(&mut text) && known.layout().is_some());
        assert!(value!(own known "n", number).layout().is_none());
    }
}
