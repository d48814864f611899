//! Declarations of woven source beside functions: enums, traits and their implementations, and the
//! parameters of a function.
//!
//! With `--types` the weaver writes them as words of sites, beside the
//! [`Facts`](crate::facts::Facts) of the function. The first woven function of a file has the
//! declarations of the file. A space in a type is `~`.

use crate::facts::absolute;

/// An enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// The path of its definition.
    pub path: String,
    /// The names of its variants, with their discriminants.
    pub variants: Vec<(String, u32)>,
}

/// A trait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trait {
    /// The path of its definition.
    pub path: String,
    /// The paths of its supertraits.
    pub supertraits: Vec<String>,
}

/// An implementation of a trait.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Impl {
    /// The path of the trait.
    pub of_trait: String,
    /// The path of the type.
    pub of_type: String,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// How its type is declared.
    pub declared: String,
    /// True if the declaration leaves the type open: a trait object, `impl Trait`, or a type
    /// parameter.
    pub is_open: bool,
}

/// The words before these declarations.
pub const ENUM: &str = "enum";
/// See [`ENUM`].
pub const TRAIT: &str = "def";
/// See [`ENUM`].
pub const IMPL: &str = "impl";
/// See [`ENUM`].
pub const PARAMETERS: &str = "params";

/// The enums among the words of a site in this module.
pub fn enums_of(module: &str, words: &str) -> Vec<Enum> {
    let parse = |word: &str| {
        let (path, variants) = word.split_once('|')?;
        let mut next = 0_u32;
        let variants = variants.split(',').filter(|name| !name.is_empty()).map(|variant| {
            let (name, number) = variant.split_once('=').unwrap_or((variant, ""));
            let number = number.parse::<i64>().map_or(next, |number| number as u32);
            next = number.wrapping_add(1);
            (name.to_owned(), number)
        });
        Some(Enum { path: absolute(path, module)?, variants: variants.collect() })
    };
    words_of(words, ENUM).filter_map(parse).collect()
}

/// The traits among the words of a site in this module.
pub fn traits_of(module: &str, words: &str) -> Vec<Trait> {
    words_of(words, TRAIT)
        .filter_map(|word| {
            let (path, supertraits) = word.split_once('|')?;
            let supertraits = supertraits
                .split('+')
                .filter_map(|path| absolute(path, module).filter(|path| !path.is_empty()));
            Some(Trait { path: absolute(path, module)?, supertraits: supertraits.collect() })
        })
        .collect()
}

/// The implementations among the words of a site in this module.
pub fn impls_of(module: &str, words: &str) -> Vec<Impl> {
    let parse = |word: &str| {
        let (of_trait, of_type) = word.split_once('|')?;
        Some(Impl { of_trait: absolute(of_trait, module)?, of_type: absolute(of_type, module)? })
    };
    words_of(words, IMPL).filter_map(parse).collect()
}

/// The parameters among the words of a site, in their order.
pub fn parameters_of(words: &str) -> Vec<Parameter> {
    let parse = |text: &str| {
        let (name, declared) = text.split_once('|')?;
        let open = declared.strip_prefix('*');
        let declared = open.unwrap_or(declared).replace('~', " ");
        Some(Parameter { name: name.to_owned(), declared, is_open: open.is_some() })
    };
    words_of(words, PARAMETERS).flat_map(|word| word.split(';')).filter_map(parse).collect()
}

fn words_of<'w>(words: &'w str, name: &'static str) -> impl Iterator<Item = &'w str> {
    words.split(' ').filter_map(move |word| word.strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_among_the_words_of_a_site() {
        let words = "c=1 enum=crate::b::E|A,B=7,C def=self::T|crate::S+core::fmt::Debug impl=crate::c::T|crate::b::E vis=pub \
                     params=self|&Self;shape|*&dyn~Shape";
        let variants =
            [("A", 0), ("B", 7), ("C", 8)].map(|(name, number)| (name.to_owned(), number));
        assert_eq!(
            enums_of("a::c", words),
            [Enum { path: "a::b::E".into(), variants: variants.into() }]
        );
        let supertraits = vec!["a::S".into(), "core::fmt::Debug".into()];
        assert_eq!(traits_of("a::c", words), [Trait { path: "a::c::T".into(), supertraits }]);
        assert_eq!(
            impls_of("a::c", words),
            [Impl { of_trait: "a::c::T".into(), of_type: "a::b::E".into() }]
        );
        let parameters = parameters_of(words);
        let shown: Vec<_> = parameters
            .iter()
            .map(|it| (it.name.as_str(), it.declared.as_str(), it.is_open))
            .collect();
        assert_eq!(shown, [("self", "&Self", false), ("shape", "&dyn Shape", true)]);
    }
}
