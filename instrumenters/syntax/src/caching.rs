//! Detection of functions that keep a value for later calls, as far as their source shows it.

use syn::visit::{self, Visit};
use syn::{Block, ExprMethodCall, Item, Path};

/// Methods of cells and maps of std that compute a value once, and return it again.
const METHODS: [&str; 7] = [
    "entry",
    "get_or_init",
    "get_or_insert",
    "get_or_insert_default",
    "get_or_insert_with",
    "get_or_try_init",
    "get_mut_or_init",
];
/// Cells of std that are filled once.
const CELLS: [&str; 4] = ["LazyCell", "LazyLock", "OnceCell", "OnceLock"];

/// Returns true if a body fills a cell of std once, or looks up an entry of a map. Closures count
/// with their function; nested functions do not count.
pub fn is_in(block: &Block) -> bool {
    let mut found = Found(false);
    found.visit_block(block);
    found.0
}

struct Found(bool);

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Static(item) = item {
            self.visit_type(&item.ty);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.0 |= METHODS.iter().any(|name| call.method == name);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.0 |= path.segments.iter().any(|segment| CELLS.iter().any(|name| segment.ident == name));
        visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    fn check(body: &str, expected: bool) {
        let block = syn::parse_str(&format!("{{ {body} }}")).expect("a body");
        assert_eq!(super::is_in(&block), expected, "{body}");
    }

    #[test]
    fn a_cell_that_is_filled_once_and_an_entry_of_a_map_are_caches() {
        check("self.size.get_or_init(|| self.measure()).clone()", true);
        check("*self.size.get_or_insert_with(|| 7)", true);
        check("self.sizes.entry(key).or_insert_with(compute)", true);
        check("static ALL: std::sync::OnceLock<Vec<u8>> = OnceLock::new(); 7", true);
        check("LazyLock::force(&TABLE)", true);
    }

    #[test]
    fn what_computes_its_value_again_is_none() {
        check("self.sizes.get(&key).copied().unwrap_or_else(|| self.measure())", false);
        check("fn inner() { cell.get_or_init(f) } inner()", false);
        check("let entry = self.entry; entry + 1", false);
    }
}
