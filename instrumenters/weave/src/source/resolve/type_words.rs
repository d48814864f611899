//! Enums, traits and implementations of a file as words of a site, with the paths of their
//! definitions.

use crate::source::condition::Condition;
use crate::source::files::SourceFile;
use crate::source::functions::TypeWords;
use crate::source::resolve::{Search, Tree};
use crate::source::scope::TypeRef;
use crate::source::type_items::{OfItem, TypeItem};

/// The words. A file that is several modules has none, because its hooks belong to all of them.
///
/// An implementation has the condition under which a build contains it: one that is left out would
/// be one that never arrived.
pub(super) fn of_file(tree: &Tree<'_>, file: &SourceFile) -> TypeWords {
    let ([around], Ok(parsed)) = (&file.modules[..], &file.parsed) else {
        return TypeWords::default();
    };
    let word = |TypeItem { scope, of, .. }: &TypeItem| {
        let search = Search::new(tree, around, &parsed.scopes, *scope);
        let here = |name: &String| {
            let below = parsed.scopes.get(*scope).map_or(&[][..], |scope| &scope.path[..]);
            let path: Vec<&str> =
                around.iter().chain(below).chain([name]).map(String::as_str).collect();
            format!("crate::{}", path.join("::"))
        };
        let path = |ty: &TypeRef| match (search.owner(ty), ty) {
            (Some(owner), _) => Some(owner.written()),
            // A trait of the prelude.
            (None, TypeRef::Path(path)) => Some(path.segments.join("::")),
            (None, _) => None,
        };
        Some(match of {
            OfItem::Enum(name, variants) => format!("enum={}|{variants}", here(name)),
            OfItem::Trait(name, supertraits) => {
                let supertraits: Vec<String> = supertraits.iter().filter_map(path).collect();
                format!("def={}|{}", here(name), supertraits.join("+"))
            }
            OfItem::Impl(of_trait, of_type) => {
                format!("impl={}|{}", path(of_trait)?, search.owner(of_type)?.written())
            }
        })
    };
    let with_condition = |item: &TypeItem| {
        let condition = match item.of {
            OfItem::Impl(..) => parsed.functions.condition.and(&item.condition),
            OfItem::Enum(..) | OfItem::Trait(..) => Condition::default(),
        };
        Some((condition, word(item)?.replace(char::is_whitespace, "")))
    };
    TypeWords(parsed.functions.types.iter().filter_map(with_condition).collect())
}
