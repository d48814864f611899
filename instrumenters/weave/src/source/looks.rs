//! What selectors judge a function by, besides its path.

use serde::{Deserialize, Serialize};
use syn::{Attribute, Meta};

use metaspy_syntax::name;

/// What a function looks like. A closure looks like the function that it stands in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looks {
    /// Whether it is `pub`, or the method of an implemented trait.
    pub is_pub: bool,
    /// Its attributes, each by the last segment of its path.
    pub attributes: Vec<String>,
    /// What it returns, without spaces; `()` for nothing.
    pub returns: String,
    /// How many lines it has.
    pub lines: u32,
}

/// The last segments of the paths of attributes.
pub(super) fn names(attrs: &[Attribute]) -> Vec<String> {
    let name = |attr: &Attribute| {
        let inner = attr.path().is_ident("unsafe").then(|| attr.parse_args::<Meta>().ok()).flatten();
        name::of_path(inner.as_ref().map_or(attr.path(), Meta::path))
    };
    attrs.iter().map(name).collect()
}
