//! Conditions under which a build contains an item, by the attributes of the item and of the
//! modules around it.

use std::collections::BTreeSet;

use metaspy_syntax::name;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Item, Lit, Meta, MetaList, Token};

/// The known settings of a build: the `--cfg` of its command line, as `feature="std"`, and `test`.
#[derive(Clone, Debug, Default)]
pub struct Build {
    settings: BTreeSet<String>,
    edition: u32,
}

impl Build {
    /// A build with these settings.
    pub fn new(settings: impl IntoIterator<Item = String>) -> Self {
        let settings =
            settings.into_iter().map(|setting| setting.replace(char::is_whitespace, "")).collect();
        Build { settings, edition: 2015 }
    }

    /// In this edition of the language.
    pub(crate) fn in_edition(self, edition: u32) -> Self {
        Build { edition, ..self }
    }

    /// The edition of the language.
    pub fn edition(&self) -> u32 {
        self.edition
    }

    /// True if it is a build of tests.
    pub fn is_test(&self) -> bool {
        self.settings.contains("test")
    }

    /// True if it has a setting. `None` if the compiler may set it by itself, such as `unix`.
    fn has(&self, setting: &str) -> Option<bool> {
        let is_given = setting == "test" || setting.starts_with("feature=");
        self.settings.contains(setting).then_some(true).or(is_given.then_some(false))
    }
}

/// When a build contains an item: while all of these are true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Condition(Vec<Predicate>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Predicate {
    /// A setting, as `test` or `feature="std"`.
    Set(String),
    Not(Box<Predicate>),
    All(Vec<Predicate>),
    Any(Vec<Predicate>),
    /// Only the compiler and macros know.
    Unknown,
}

impl Condition {
    /// One that only the compiler and macros know.
    pub fn unknown() -> Self {
        Condition(vec![Predicate::Unknown])
    }

    /// The condition of these attributes.
    pub fn of(attrs: &[Attribute]) -> Self {
        Condition(attrs.iter().filter_map(|attr| Predicate::of_attribute(&attr.meta)).collect())
    }

    /// The condition of an item that may have items in it, or is an implementation.
    pub fn of_item(item: &Item) -> Self {
        match item {
            Item::Mod(item) => Condition::of(&item.attrs),
            Item::Impl(item) => Condition::of(&item.attrs),
            Item::Trait(item) => Condition::of(&item.attrs),
            Item::Fn(item) => Condition::of(&item.attrs),
            Item::Const(item) => Condition::of(&item.attrs),
            Item::Macro(item) => Condition::of(&item.attrs),
            _ => Condition::default(),
        }
    }

    /// Returns the condition of this item inside an item with the condition `within`.
    pub fn and(&self, within: &Condition) -> Self {
        Condition(self.0.iter().chain(&within.0).cloned().collect())
    }

    /// True if every build contains the item.
    pub fn is_always(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a build contains the item for certain.
    pub fn holds(&self, build: &Build) -> bool {
        self.0.iter().all(|predicate| predicate.holds(&|setting| build.has(setting)) == Some(true))
    }

    /// True if only builds of tests contain the item.
    pub fn is_test_only(&self) -> bool {
        self.0.iter().any(|predicate| {
            predicate.holds(&|setting| (setting == "test").then_some(false)) == Some(false)
        })
    }
}

impl Predicate {
    /// Returns the condition that an attribute requires; `None` if it removes nothing.
    fn of_attribute(meta: &Meta) -> Option<Self> {
        match meta {
            Meta::List(list) if list.path.is_ident("cfg") => {
                Some(list.parse_args().map_or(Predicate::Unknown, |meta| Predicate::of(&meta)))
            }
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                let Some(metas) = all_of(list) else { return Some(Predicate::Unknown) };
                let (condition, attributes) = metas.split_first()?;
                // Others, such as `no_std` and derives, remove nothing.
                let required: Vec<_> =
                    attributes.iter().filter_map(Predicate::of_attribute).collect();
                let otherwise = || Predicate::Not(Box::new(Predicate::of(condition)));
                (!required.is_empty())
                    .then(|| Predicate::Any(vec![otherwise(), Predicate::All(required)]))
            }
            meta => ["cfg", "path"]
                .iter()
                .any(|name| meta.path().is_ident(name))
                .then_some(Predicate::Unknown),
        }
    }

    /// The predicate in `cfg(…)`.
    fn of(meta: &Meta) -> Self {
        let name = || meta.path().get_ident().map(name::of_ident);
        match meta {
            Meta::Path(_) => name().map_or(Predicate::Unknown, Predicate::Set),
            Meta::NameValue(pair) => match (name(), &pair.value) {
                (Some(name), Expr::Lit(ExprLit { lit: Lit::Str(value), .. })) => {
                    Predicate::Set(format!("{name}={:?}", value.value()))
                }
                _ => Predicate::Unknown,
            },
            Meta::List(list) => {
                let Some(metas) = all_of(list) else { return Predicate::Unknown };
                let parts: Vec<_> = metas.iter().map(Predicate::of).collect();
                match (name().as_deref(), &parts[..]) {
                    (Some("all"), _) => Predicate::All(parts),
                    (Some("any"), _) => Predicate::Any(parts),
                    (Some("not"), [part]) => Predicate::Not(Box::new(part.clone())),
                    _ => Predicate::Unknown,
                }
            }
        }
    }

    /// True or false if the settings decide it; `None` from `has` is a setting that is not known.
    fn holds(&self, has: &dyn Fn(&str) -> Option<bool>) -> Option<bool> {
        match self {
            Predicate::Set(setting) => has(setting),
            Predicate::Not(part) => part.holds(has).map(|holds| !holds),
            Predicate::All(parts) => decided(parts, has, false),
            Predicate::Any(parts) => decided(parts, has, true),
            Predicate::Unknown => None,
        }
    }
}

/// Combines the results of the parts: `by` if one of them is `by`, and the contrary if all are
/// certain.
fn decided(parts: &[Predicate], has: &dyn Fn(&str) -> Option<bool>, by: bool) -> Option<bool> {
    let parts: Vec<_> = parts.iter().map(|part| part.holds(has)).collect();
    if parts.contains(&Some(by)) { Some(by) } else { (!parts.contains(&None)).then_some(!by) }
}

fn all_of(list: &MetaList) -> Option<Vec<Meta>> {
    let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    Some(metas.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_builds_of_tests_contain_what_requires_them() {
        for (attributes, is_test_only) in [
            ("", false),
            ("#[cfg(test)]", true),
            ("#[cfg(all(test, unix))]", true),
            ("#[cfg(any(test, feature = \"bench\"))]", false),
            ("#[cfg(not(test))]", false),
            ("#[cfg_attr(test, inline)]", false),
        ] {
            let item: Item =
                syn::parse_str(&format!("{attributes} mod m {{}}")).expect("it is an item");
            assert_eq!(Condition::of_item(&item).is_test_only(), is_test_only, "{attributes}");
        }
    }

    #[test]
    fn a_condition_holds_where_the_command_line_decides_it() {
        let build = Build::new(["feature = \"std\"", "test", "fast"].map(str::to_owned));
        let check = |attributes: &str, holds| {
            let item: Item =
                syn::parse_str(&format!("{attributes} impl A for B {{}}")).expect("it is an item");
            assert_eq!(Condition::of_item(&item).holds(&build), holds, "{attributes}");
        };
        for holds in [
            "",
            "#[inline] #[cfg_attr(unix, no_std)]",
            "#[cfg(test)]",
            "#[cfg(feature = \"std\")] #[cfg(fast)]",
            "#[cfg(not(feature = \"alloc\"))]",
            "#[cfg(any(unix, feature = \"std\"))]",
            "#[cfg(all(test, not(all(unix, feature = \"alloc\"))))]",
            "#[cfg_attr(feature = \"alloc\", cfg(unix))]",
        ] {
            check(holds, true);
        }
        for fails in [
            "#[cfg(feature = \"alloc\")]",
            "#[cfg(not(test))]",
            "#[cfg(unix)]",
            "#[cfg(not(unix))]",
            "#[cfg(slow)]",
            "#[cfg(version(\"1.80\"))]",
            "#[cfg_attr(feature = \"std\", cfg(unix))]",
            "#[cfg_attr(unix, path = \"unix.rs\")]",
        ] {
            check(fails, false);
        }
    }
}
