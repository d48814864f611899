//! The facts of a function: static knowledge about it, as the words of its site.
//!
//! Facts are one more text of the site, in the words of the weaver, and not fields of the format.
//! Older readers ignore the text, older recordings have none, and it has one parser. It includes
//! the length of the module path, because a path alone does not separate `outer::inner` from a
//! module and its function.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Static knowledge about a function. The macros and the weaver write it as words, and every reader
/// of a recording parses them here.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The module in which its `impl` or its trait is: `taffy::compute`.
    pub module: String,
    /// Its name without type and trait; a nested function is called `outer::inner`.
    pub name: String,
    /// The part of its path behind the module: `Scene::Layout::measure`.
    pub whole_name: String,
    /// Its file.
    pub file: String,
    /// Its first and last line.
    pub lines: (u32, u32),
    /// The name of the type of its `impl`; `None` for free functions and default methods.
    pub of_type: Option<String>,
    /// The trait that its `impl` implements, or whose default method it is.
    pub of_trait: Option<String>,
    /// The type arguments of the type of its `impl`, as `<u8>`; empty if there are none, or if they
    /// are parameters.
    pub type_arguments: String,
    /// Likewise, the type arguments of the trait that its `impl` implements: `<&str>`.
    pub trait_arguments: String,
    /// The supertraits of that trait, for a default method.
    pub supertraits: Vec<String>,
    /// The type that it belongs to, or for a default method the trait, by the place of its
    /// definition: `taffy::tree::Node`. All `impl`s of a type have the same owner, whatever module
    /// they are in. A type of another crate has the path that the source imports it by,
    /// `std::collections::HashMap`; a primitive its name.
    pub owner: Option<String>,
    /// True if the definition of the type was not found, as with a type that a macro makes and with
    /// `impl<T> Trait for T`. Then `owner` is a guess: the module of the `impl` and the name of the
    /// type.
    pub is_unresolved: bool,
    /// Its cyclomatic complexity.
    pub complexity: u32,
    /// The hash of its tokens, which changes with its source; 0 = unknown.
    pub fingerprint: u32,
    /// How it takes `self`.
    pub self_kind: SelfKind,
    /// Who may call it.
    pub visibility: Visibility,
    /// True for an async function.
    pub is_async: bool,
    /// True for a test.
    pub is_test: bool,
    /// True if only builds of tests contain it, such as a function in `#[cfg(test)]` or inside a
    /// test.
    pub is_test_only: bool,
    /// True for a closure.
    pub is_closure: bool,
    /// Whether its declared return type is an `Option` or a `Result`.
    pub returns: Returns,
    /// True if it returns nothing: `()`, or a `Result` of it.
    pub is_unit: bool,
    /// True if it takes `self` by value and returns a `Self`.
    pub is_chain: bool,
    /// True if its body fills a cell of std once, or looks up an entry of a map.
    pub is_caching: bool,
    /// True if it is inside another function.
    pub is_nested: bool,
    /// True if its hook sees its return value.
    pub is_deep: bool,
    /// True if its hook sees all of its arguments, and its receiver.
    pub shows_inputs: bool,
    /// True if its hook sees only that a call begins: how it ends is not known.
    pub is_entry: bool,
    /// True if such a hook counts calls in their contexts, too.
    pub has_context: bool,
    /// True for a test that is not selected: its hook only marks which test runs.
    pub is_alone: bool,
}

/// How a function takes `self`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SelfKind {
    /// Not at all.
    #[default]
    None,
    /// `&self`.
    Ref,
    /// `&mut self`.
    Mut,
    /// `self`.
    Value,
    /// In another way, as `self: Rc<Self>`.
    Other,
}

/// The declared return type of a function, as far as it decides the return value of a failed call.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Returns {
    /// Another type, an alias of which only the compiler knows the meaning, or an unknown one.
    #[default]
    Other,
    /// An `Option`: a call that failed returned `None`.
    Option,
    /// A `Result`: a call that failed returned `Err`.
    Result,
}

impl Returns {
    /// Finds it among the words of a site's facts.
    pub fn of_words(words: &str) -> Returns {
        let known = [Returns::Option, Returns::Result];
        let mut found =
            words.split(' ').filter_map(|word| known.into_iter().find(|it| it.word() == word));
        found.next().unwrap_or_default()
    }

    /// The word among the facts; empty for [`Returns::Other`], which is not written.
    pub fn word(self) -> &'static str {
        match self {
            Returns::Other => "",
            Returns::Option => "option",
            Returns::Result => "result",
        }
    }

    /// Returns the name of a failed call's return value: `none` or `err`, or `failed` where the
    /// type does not tell which of them.
    pub fn failure(self) -> &'static str {
        match self {
            Returns::Other => "failed",
            Returns::Option => "none",
            Returns::Result => "err",
        }
    }
}

/// Who may call a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// Everybody: `pub`, and the methods of implemented traits.
    #[serde(rename = "pub")]
    Public,
    /// A part of the crate, as with `pub(crate)`.
    Restricted,
    /// Its module.
    #[default]
    Private,
}

impl SelfKind {
    const ALL: [SelfKind; 5] =
        [SelfKind::None, SelfKind::Ref, SelfKind::Mut, SelfKind::Value, SelfKind::Other];

    /// As one word.
    pub fn word(self) -> &'static str {
        match self {
            SelfKind::None => "none",
            SelfKind::Ref => "ref",
            SelfKind::Mut => "mut",
            SelfKind::Value => "value",
            SelfKind::Other => "other",
        }
    }
}

impl Visibility {
    const ALL: [Visibility; 3] = [Visibility::Public, Visibility::Restricted, Visibility::Private];

    /// As one word.
    pub fn word(self) -> &'static str {
        match self {
            Visibility::Public => "pub",
            Visibility::Restricted => "restricted",
            Visibility::Private => "private",
        }
    }
}

impl Facts {
    /// True for a test, and for a function inside `#[cfg(test)]`: coverage counts neither.
    pub fn is_of_tests(&self) -> bool {
        self.is_test || self.is_test_only
    }

    /// Parses the words of the function with this module, name, file and lines.
    pub fn parse(module: &str, name: &str, file: &str, lines: (u32, u32), words: &str) -> Self {
        let value = |key: &str| {
            let mut words =
                words.split(' ').filter_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            words.next().filter(|value| !value.is_empty())
        };
        let has = |word: &str| words.split(' ').any(|it| it == word);
        let of_type = value("type");
        let of_trait = value("trait");
        let mut rest = name;
        for owner in [of_type, of_trait].into_iter().flatten() {
            rest =
                rest.strip_prefix(owner).and_then(|rest| rest.strip_prefix("::")).unwrap_or(rest);
        }
        let self_kind = value("self")
            .and_then(|word| SelfKind::ALL.into_iter().find(|kind| kind.word() == word));
        let visibility =
            value("vis").and_then(|word| Visibility::ALL.into_iter().find(|it| it.word() == word));
        let owner = value("owner").and_then(|owner| absolute(owner, module));
        let guessed = of_type.or(of_trait).map(|name| joined(module, name));
        Facts {
            module: module.to_owned(),
            name: rest.to_owned(),
            whole_name: name.to_owned(),
            file: file.to_owned(),
            lines,
            of_type: of_type.map(str::to_owned),
            of_trait: of_trait.map(str::to_owned),
            type_arguments: value("typeargs").map(with_spaces).unwrap_or_default(),
            trait_arguments: value("traitargs").map(with_spaces).unwrap_or_default(),
            supertraits: value("super")
                .map_or(Vec::new(), |all| all.split('+').map(str::to_owned).collect()),
            // A trait is defined where its default methods are; recordings without owners are of an
            // older version.
            is_unresolved: has("unresolved") || of_type.is_some() && owner.is_none(),
            owner: owner.or(guessed),
            complexity: value("c").and_then(|text| text.parse().ok()).unwrap_or(1),
            fingerprint: value("source")
                .and_then(|text| u32::from_str_radix(text, 16).ok())
                .unwrap_or(0),
            self_kind: self_kind.unwrap_or_default(),
            visibility: visibility.unwrap_or_default(),
            is_async: has("async"),
            is_test: has("test"),
            is_test_only: has("test_only"),
            is_closure: has("closure"),
            returns: Returns::of_words(words),
            is_unit: has("unit"),
            is_chain: has("chain"),
            is_caching: has("caching"),
            is_nested: has("nested"),
            is_deep: has("deep"),
            shows_inputs: has("inputs"),
            is_entry: has("entry"),
            has_context: has("context"),
            is_alone: has("alone"),
        }
    }

    /// `crate::module::Type::Trait::method`.
    pub fn path(&self) -> String {
        joined(&self.module, &self.whole_name)
    }

    /// The path with the type arguments of its `impl`: `rope::Slice::PartialEq<&str>::eq`. Several
    /// `impl`s of a generic trait, or of a generic type, have the same path, and other arguments.
    pub fn path_with_arguments(&self) -> String {
        let of_trait = self.of_trait.as_ref().map(|name| format!("{name}{}", self.trait_arguments));
        let of_type = self.of_type.as_ref().map(|name| format!("{name}{}", self.type_arguments));
        let module = Some(&self.module).filter(|module| !module.is_empty());
        let segments = module.into_iter().chain(&of_type).chain(&of_trait).chain([&self.name]);
        segments.map(String::as_str).collect::<Vec<_>>().join("::")
    }

    /// The crate.
    pub fn package(&self) -> &str {
        self.module.split("::").next().unwrap_or_default()
    }

    /// The number of lines.
    pub fn line_count(&self) -> u32 {
        self.lines.1.saturating_sub(self.lines.0).saturating_add(1)
    }

    /// The module in which its owner is defined, and the name of the owner; `None` for free
    /// functions. A primitive, and a type of a crate that is not part of the program's model, is in
    /// the root of the crate that implements the method, by its whole path.
    pub fn owner_module_and_name(&self, is_crate: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
        let owner = self.owner.as_deref()?;
        let (krate, _) = owner.split_once("::").unwrap_or((owner, ""));
        let place = owner.rsplit_once("::").filter(|_| krate == self.package() || is_crate(krate));
        Some(place.unwrap_or((self.package(), owner)))
    }
}

/// The words of the facts, but for module, name, file and lines, which a site has anyway.
impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c={} self={}", self.complexity, self.self_kind.word())?;
        let supertraits = self.supertraits.join("+");
        let named = [
            ("type", self.of_type.as_deref()),
            ("trait", self.of_trait.as_deref()),
            ("super", Some(&*supertraits)),
            ("owner", self.owner.as_deref()),
        ];
        for (word, name) in named {
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                write!(f, " {word}={}", name.replace(char::is_whitespace, ""))?;
            }
        }
        for (word, arguments) in
            [("typeargs", &self.type_arguments), ("traitargs", &self.trait_arguments)]
        {
            if !arguments.is_empty() {
                write!(f, " {word}={}", arguments.replace(' ', NO_SPACE))?;
            }
        }
        write!(f, " vis={}", self.visibility.word())?;
        let flags = [
            (self.is_unresolved, "unresolved"),
            (self.is_async, "async"),
            (self.is_closure, "closure"),
            (self.is_test, "test"),
            (self.is_test_only, "test_only"),
            (self.returns != Returns::Other, self.returns.word()),
            (self.is_unit, "unit"),
            (self.is_chain, "chain"),
            (self.is_caching, "caching"),
            (self.is_nested, "nested"),
            (self.is_alone, "alone"),
            (self.is_deep, "deep"),
            (self.shows_inputs, "inputs"),
            (self.is_entry, "entry"),
            (self.has_context, "context"),
        ];
        flags
            .iter()
            .filter(|(is_set, _)| *is_set)
            .try_for_each(|(_, word)| write!(f, " {word}"))?;
        if self.fingerprint == 0 { Ok(()) } else { write!(f, " source={:x}", self.fingerprint) }
    }
}

/// Stands for a space in a word. No type contains it.
const NO_SPACE: &str = "~";

fn with_spaces(word: &str) -> String {
    word.replace(NO_SPACE, " ")
}

/// The path of an owner from its crate on. The words may say it relative to the module: `self::`,
/// `super::`, `crate::`.
pub(crate) fn absolute(owner: &str, module: &str) -> Option<String> {
    if let Some(rest) = owner.strip_prefix("crate::") {
        return Some(joined(module.split("::").next().unwrap_or_default(), rest));
    }
    let mut around = Some(module);
    let mut rest = owner.strip_prefix("self::").unwrap_or(owner);
    let is_relative = rest.len() < owner.len() || rest.starts_with("super::");
    while let Some(outer) = rest.strip_prefix("super::") {
        (around, rest) = (around?.rsplit_once("::").map(|(outer, _)| outer), outer);
    }
    if is_relative { Some(joined(around?, rest)) } else { Some(owner.to_owned()) }
}

fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Facts {
        Facts::parse("a::b", "Scene::Layout::measure", "src/b.rs", (3, 9), words)
    }

    #[test]
    fn words_are_parsed() {
        let facts = parse("c=4 self=mut type=Scene trait=Layout super=A+B vis=pub test unit");
        assert_eq!(
            (facts.path().as_str(), facts.name.as_str()),
            ("a::b::Scene::Layout::measure", "measure")
        );
        assert_eq!((facts.package(), facts.line_count(), facts.complexity), ("a", 7, 4));
        assert_eq!((facts.self_kind, facts.visibility), (SelfKind::Mut, Visibility::Public));
        assert_eq!(facts.supertraits, ["A", "B"]);
        assert!(facts.is_test && facts.is_unit && !facts.is_async && !facts.is_deep);
        let free = Facts::parse("a", "outer::inner", "src/b.rs", (3, 3), "");
        assert_eq!(
            (free.name.as_str(), &free.of_type, free.line_count()),
            ("outer::inner", &None, 1)
        );
        assert_eq!((free.owner_module_and_name(|_| false), free.is_unresolved), (None, false));
    }

    #[test]
    fn facts_that_are_written_are_parsed_again() {
        let words = "c=4 self=mut type=Scene trait=Layout super=A+B owner=a::Scene vis=pub async test_only result unit chain caching deep source=1f";
        assert_eq!((parse(words).fingerprint, parse(words).returns), (31, Returns::Result));
        assert_eq!(parse(words).to_string(), words);
    }

    #[test]
    fn a_path_has_the_type_arguments_of_its_impl() {
        let facts = parse(
            "c=1 self=ref type=Scene trait=Layout typeargs=<u8> traitargs=<&mut~str> vis=pub",
        );
        assert_eq!(facts.path_with_arguments(), "a::b::Scene<u8>::Layout<&mut str>::measure");
        assert_eq!(parse(&facts.to_string()), facts);
        let free = Facts::parse("a", "outer::inner", "src/b.rs", (3, 3), "");
        assert_eq!(free.path_with_arguments(), free.path());
    }

    #[test]
    fn an_owner_is_identified_by_the_path_of_its_definition() {
        for (words, owner, is_unresolved) in [
            ("type=Scene owner=crate::c::Scene", "a::c::Scene", false),
            ("type=Scene owner=super::Scene", "a::Scene", false),
            ("type=Scene owner=self::super::Scene unresolved", "a::Scene", true),
            ("type=Vec owner=std::vec::Vec", "std::vec::Vec", false),
            ("type=u8 owner=u8", "u8", false),
            ("trait=Layout", "a::b::Layout", false),
            ("type=Scene", "a::b::Scene", true),
            ("type=Scene owner=super::super::super::Scene", "a::b::Scene", true),
        ] {
            let facts = parse(words);
            assert_eq!(
                (facts.owner.as_deref(), facts.is_unresolved),
                (Some(owner), is_unresolved),
                "{words}"
            );
        }
        let check = |words: &str, expected: (&str, &str)| {
            assert_eq!(parse(words).owner_module_and_name(|name| name == "woven"), Some(expected));
        };
        check("type=T owner=crate::c::T", ("a::c", "T"));
        check("type=u8 owner=u8", ("a", "u8"));
        check("type=X owner=ab::c::X", ("a", "ab::c::X"));
        check("type=X owner=woven::c::X", ("woven::c", "X"));
    }
}
