//! The types of a process, each with the kind that stands for it in recordings.
//!
//! A type is found by the address of the function that names it, and a type behind a trait object
//! by the address of its table. Both are found without a lock and without memory, except when they
//! are met first.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use metaspy_probe::Value;

use crate::format::declared::enums_of;
use crate::format::profile::TypeKey;
use crate::platform::program;
use crate::platform::signal_mask::may_be_in_handler;
use crate::site;
use crate::subject::{KindId, Nature, register};

/// The name of a type, and the variant of an enum.
#[derive(Clone, Copy)]
pub(super) struct Named {
    /// `None` if there are too many types.
    pub kind: Option<KindId>,
    pub variant: Option<u32>,
}

/// The types that were met.
#[derive(Default)]
pub(super) struct TypeNames {
    slots: Box<[Slot]>,
    /// Paths of enums whose variants have names.
    enums: HashSet<String>,
}

/// Types and tables of a process at most.
const SLOTS: usize = 16_384;
/// Slots that are searched.
const STEPS: usize = 64;

#[derive(Default)]
struct Slot {
    /// 0 = free.
    key: AtomicU64,
    /// Kind and traits; 0 = not known yet.
    word: AtomicU64,
}

/// Known facts about a type: the number of its kind, and these bits.
#[derive(Clone, Copy)]
struct Known(u64);

impl Known {
    const PRESENT: u64 = 0x8000_0000_0000_0000;
    /// Variants are counted.
    const ENUM: u64 = 0x4000_0000_0000_0000;
    /// A pointer with a table.
    const TABLE: u64 = 0x2000_0000_0000_0000;

    fn kind(self) -> Option<KindId> {
        Some(KindId(self.0 as u16)).filter(|kind| kind.0 != 0)
    }

    fn has(self, bit: u64) -> bool {
        self.0 & bit != 0
    }
}

impl TypeNames {
    /// Without types, and with the enums of all woven code in the program.
    pub fn of_program() -> Self {
        let mut enums: HashSet<String> =
            ["core::option::Option", "core::result::Result", "core::cmp::Ordering"]
                .map(str::to_owned)
                .into();
        for entry in site::entries() {
            let of_site = enums_of(&entry.site.module_path(), &entry.site.facts());
            enums.extend(of_site.into_iter().map(|one| one.path));
        }
        TypeNames { slots: (0..SLOTS).map(|_| Slot::default()).collect(), enums }
    }

    /// The type of a value; `None` if its hook does not record types.
    #[inline]
    pub fn of(&self, value: &Value<'_>) -> Option<Named> {
        let layout = value.layout()?;
        let known = self.find(value.type_address(), || self.learn(value, layout.size));
        let variant = layout.variant.filter(|_| known.has(Known::ENUM)).map(|number| number as u32);
        if !known.has(Known::TABLE) {
            return Some(Named { kind: known.kind(), variant });
        }
        // SAFETY: `learn` found two words, of a pointer or an `Option` of one.
        let Some((_, table)) = (unsafe { value.pointer_words() }) else {
            return Some(Named { kind: known.kind(), variant });
        };
        let key = value.type_address() ^ (table as u64).rotate_left(32);
        let behind = self.find(key, || behind(value.type_name(), table));
        Some(Named { kind: behind.kind(), variant })
    }

    /// The kind of the type with this name.
    pub fn of_receiver(&self, type_name: &'static str) -> Option<KindId> {
        self.find(type_name.as_ptr().addr() as u64, || Known::named(type_name)).kind()
    }

    #[inline]
    fn find(&self, key: u64, learn: impl FnOnce() -> Known) -> Known {
        let first = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        for step in 0..STEPS {
            let slot = &self.slots[(first + step) % SLOTS];
            let found = slot.key.load(Acquire);
            let is_own = found == key || found == 0 && self.claim(slot, key);
            if is_own {
                return match slot.word.load(Acquire) {
                    0 => {
                        let known = learn();
                        slot.word.store(known.0, Release);
                        known
                    }
                    word => Known(word),
                };
            }
        }
        Known(Known::PRESENT)
    }

    #[cold]
    fn claim(&self, slot: &Slot, key: u64) -> bool {
        slot.key
            .compare_exchange(0, key, AcqRel, Acquire)
            .map_or_else(|other| other == key, |_| true)
    }

    #[cold]
    fn learn(&self, value: &Value<'_>, size: usize) -> Known {
        let name = value.type_name();
        let plain = name.trim_start_matches("&mut ").trim_start_matches('&');
        let path = plain.split('<').next().unwrap_or(plain);
        let known = Known::named(name);
        let is_enum = if self.is_enum(path) { Known::ENUM } else { 0 };
        let has_table = size == 2 * size_of::<usize>() && size == 16 && is_pointer_with_table(name);
        Known(known.0 | is_enum | if has_table { Known::TABLE } else { 0 })
    }
}

impl TypeNames {
    /// True for an enum of woven source. One inside a function is in a closure for the compiler,
    /// and the source has no `r#` of raw names.
    fn is_enum(&self, path: &str) -> bool {
        let names = || path.split("::").filter(|name| !name.starts_with('{'));
        self.enums.contains(path)
            || path.contains(['}', '#'])
                && self.enums.iter().any(|known| {
                    known.split("::").eq(names().map(|name| name.trim_start_matches("r#")))
                })
    }
}

impl Known {
    fn named(name: &'static str) -> Known {
        Known(Known::PRESENT | u64::from(register(name, Nature::Across).0))
    }
}

/// True for a pointer to a trait object, and for an `Option` of one.
fn is_pointer_with_table(name: &str) -> bool {
    const POINTERS: [&str; 8] = [
        "&mut ",
        "&",
        "alloc::boxed::Box<",
        "alloc::rc::Rc<",
        "alloc::sync::Arc<",
        "core::pin::Pin<",
        "core::option::Option<",
        "core::ptr::non_null::NonNull<",
    ];
    let pointee = POINTERS.iter().find_map(|pointer| name.strip_prefix(pointer));
    pointee.is_some_and(|pointee| is_trait_object(pointee) || is_pointer_with_table(pointee))
}

/// True for a trait object, and for a type whose last field is one, such as `RefCell<dyn Shape>`.
fn is_trait_object(name: &str) -> bool {
    const CELLS: [&str; 4] = ["::RefCell<dyn ", "::Cell<dyn ", "::Mutex<dyn ", "::RwLock<dyn "];
    name.starts_with("dyn ") || name.starts_with("(dyn ") || {
        let path = name.find('<').map_or(name, |at| &name[..(at + "<dyn ".len()).min(name.len())]);
        CELLS.iter().any(|cell| path.ends_with(cell))
    }
}

/// The type behind a table, which a reader resolves. Its name takes memory, so a signal handler has
/// none.
#[cold]
fn behind(type_name: &'static str, table: usize) -> Known {
    if may_be_in_handler() {
        return Known(0);
    }
    let offset = program::offset(table);
    // The names of kinds stay as long as the program. There are at most `SLOTS` of them.
    let name = offset.map(|offset| &*format!("{type_name}{}{offset:x}", TypeKey::TABLE).leak());
    Known::named(name.unwrap_or(type_name))
}

#[cfg(test)]
mod tests {
    use super::{TypeNames, is_pointer_with_table};

    #[test]
    fn an_enum_inside_a_function_is_known() {
        let names = TypeNames { slots: Box::default(), enums: ["a::f::E".to_owned()].into() };
        for (path, expected) in
            [("a::f::E", true), ("a::f::{{closure}}::E", true), ("a::f::{{closure}}::S", false)]
        {
            assert_eq!(names.is_enum(path), expected, "{path}");
        }
    }

    #[test]
    fn pointers_with_a_table_are_known_by_their_names() {
        for name in [
            "&dyn a::Shape",
            "&mut dyn core::fmt::Debug",
            "&(dyn a::Shape + core::marker::Send)",
            "alloc::rc::Rc<core::cell::RefCell<dyn a::Shape>>",
            "core::option::Option<alloc::boxed::Box<dyn a::Shape>>",
            "core::pin::Pin<alloc::boxed::Box<dyn core::future::future::Future<Output = u8>>>",
        ] {
            assert!(is_pointer_with_table(name), "{name}");
        }
        for name in [
            "&str",
            "&[alloc::boxed::Box<dyn a::Shape>]",
            "a::Two<dyn a::Shape>",
            "&&dyn a::Shape",
            "(u64, u64)",
        ] {
            assert_eq!(is_pointer_with_table(name), name == "&&dyn a::Shape", "{name}");
        }
    }
}
