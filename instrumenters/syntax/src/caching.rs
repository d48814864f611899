//! Detection of functions that keep a value for later calls, as far as their source shows it.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprMethodCall, Item, Path};

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
/// Methods of maps of std that look up a key.
const LOOKUPS: [&str; 3] = ["contains_key", "get", "get_mut"];

/// Returns true if a body fills a cell of std once, looks up an entry of a map, or looks up a key
/// in a map and inserts into the same map later. Closures count with their function; nested
/// functions do not count.
pub fn is_in(block: &Block) -> bool {
    let mut visitor = CachingVisitor::default();
    visitor.visit_block(block);
    visitor.fills
}

#[derive(Default)]
struct CachingVisitor {
    /// Maps in which something was looked up, as they are written.
    looked_up: Vec<String>,
    fills: bool,
}

impl<'ast> Visit<'ast> for CachingVisitor {
    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Static(item) = item {
            self.visit_type(&item.ty);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.fills |= METHODS.iter().any(|name| call.method == name);
        // The inserted value is computed first, so its lookups come first, too.
        visit::visit_expr_method_call(self, call);
        match call.args.len() {
            1 if LOOKUPS.iter().any(|name| call.method == name) => {
                self.looked_up.push(map_of(&call.receiver))
            }
            2 if call.method == "insert" => {
                self.fills |= self.looked_up.contains(&map_of(&call.receiver))
            }
            _ => {}
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.fills |=
            path.segments.iter().any(|segment| CELLS.iter().any(|name| segment.ident == name));
        visit::visit_path(self, path);
    }
}

/// Returns the map behind a lock or a `RefCell`, as it is written.
fn map_of(mut receiver: &Expr) -> String {
    const GUARDS: [&str; 8] =
        ["as_mut", "as_ref", "borrow", "borrow_mut", "lock", "read", "unwrap", "write"];
    while let Expr::MethodCall(call) = receiver
        && call.args.is_empty()
        && GUARDS.iter().any(|name| call.method == name)
    {
        receiver = &call.receiver;
    }
    receiver.to_token_stream().to_string()
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
        check(
            "if let Some(known) = self.sizes.get(&key) { return *known; } self.sizes.insert(key, 7);",
            true,
        );
        check(
            "if !self.sizes.borrow().contains_key(&key) { self.sizes.borrow_mut().insert(key, 7); }",
            true,
        );
    }

    #[test]
    fn what_computes_its_value_again_is_none() {
        check("self.sizes.get(&key).copied().unwrap_or_else(|| self.measure())", false);
        check("fn inner() { cell.get_or_init(f) } inner()", false);
        check("let entry = self.entry; entry + 1", false);
        check("let size = self.sizes.get(&key); self.names.insert(key, size);", false);
        check("self.seen.get(&key); self.seen.insert(key);", false);
    }
}
