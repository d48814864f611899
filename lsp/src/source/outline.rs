//! Functions, types and modules of a file, by the names that the weaver gives them.
//!
//! They are read from token trees, not from a syntax tree, because code is broken while it is being
//! written. Only brackets and quotes must match, and most editors match brackets as they are typed.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use metaspy_probe::qualified;
use metaspy_syntax::{Owner, fingerprint, name};
use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

use super::tokens::{DEPTH, Tokens, is_shallow};
use super::{foreign, recovery, signature};

/// Average number of times that a text may be read: an item with its content is read once for each
/// item around it.
const READINGS: usize = 16;
/// Smallest size of a text for this limit, in bytes.
const SMALL: usize = 64 << 10;
/// Maximum size of a text, in MiB.
const LENGTH_MIB: usize = 1;

/// Functions, types and modules of a file, in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Functions with a body.
    pub functions: Vec<Function>,
    /// Types, traits, `impl` blocks and modules.
    pub items: Vec<Item>,
    /// Names of types, traits and aliases whose values may run foreign code: closures, iterators
    /// and futures.
    pub running: BTreeSet<String>,
    /// Names of functions that macros may generate.
    pub generated: BTreeSet<String>,
    /// Bound that the text exceeds. The rest of the text is left out.
    pub exceeded: Option<Bound>,
}

/// Bound on the work of reading a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Size of the text.
    Length,
    /// Depth of nested brackets.
    Depth,
    /// Bytes of all items, each with its content.
    Work,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Length => write!(f, "a text may have {LENGTH_MIB} MiB"),
            Bound::Depth => write!(f, "brackets may be nested {DEPTH} levels deep"),
            Bound::Work => write!(
                f,
                "its items, each with what is in it, may have {READINGS} times its length"
            ),
        }
    }
}

/// Function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Modules around the function in this file.
    pub modules: Vec<String>,
    /// Name of the function behind the module: `Scene::Layout::measure`.
    pub name: String,
    /// Bytes of the function's identifier.
    pub ident: Range<usize>,
    /// Index of the innermost function around it.
    pub around: Option<usize>,
    /// Bytes from the signature to the closing brace.
    pub whole: Range<usize>,
    /// Bytes of the signature.
    pub signature: Range<usize>,
    /// Hash of the function's tokens.
    pub fingerprint: u32,
    /// Traits for which the `impl` block or the trait around the function leaves the implementing
    /// type open.
    pub open: Arc<[String]>,
    /// Type parameters of the `impl` block around the function.
    pub parameters: Arc<[String]>,
}

/// Type, trait, `impl` block or module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Kind of the item.
    pub kind: ItemKind,
    /// Modules around the item in this file.
    pub modules: Vec<String>,
    /// Name of the item.
    pub name: String,
    /// Bytes of the item's identifier.
    pub ident: Range<usize>,
    /// Bytes of the body of an `impl` block; empty otherwise.
    pub body: Range<usize>,
    /// True if the item is within a function.
    pub is_nested: bool,
    /// Traits behind which a field of a type may have any type: `dyn Trait`.
    pub open: Vec<String>,
}

/// Kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A type or a trait, where it is defined or implemented.
    Type,
    /// A module.
    Module,
}

impl Outline {
    /// Reads a file. Text that is not Rust has no functions.
    pub fn new(text: &str) -> Outline {
        if text.len() > LENGTH_MIB << 20 {
            return Outline { exceeded: Some(Bound::Length), ..Outline::default() };
        }
        // A script's first line, and a byte order mark, are not tokens.
        let skipped = text.len() - text.trim_start_matches('\u{feff}').len();
        let shebang =
            text[skipped..].strip_prefix("#!").filter(|rest| !rest.trim_start().starts_with('['));
        let offset = shebang
            .map_or(skipped, |rest| text.len() - rest.find('\n').map_or(0, |end| rest.len() - end));
        let work = READINGS * text.len().max(SMALL);
        let mut search =
            Search { offset, work, found: Outline::default(), definitions: Vec::new() };
        let Tokens { stream, is_cut } = recovery::tokens(&text[offset..]);
        search.group(stream, &Around::default());
        search.found.exceeded = search.found.exceeded.or(is_cut.then_some(Bound::Depth));
        search.found.running = foreign::running(&search.definitions);
        // The tokens are gone, so their source is not needed either.
        proc_macro2::extra::invalidate_current_thread_spans();
        let functions = &mut search.found.functions;
        functions.sort_by_key(|function| function.whole.start);
        for at in 1..functions.len() {
            functions[at].around = innermost(functions, at - 1, functions[at].whole.start);
        }
        search.found
    }

    /// Returns the innermost function around a byte.
    pub(crate) fn function_around(&self, byte: usize) -> Option<usize> {
        let before = self.functions.partition_point(|function| function.whole.start <= byte);
        innermost(&self.functions, before.checked_sub(1)?, byte)
    }
}

/// Returns the innermost function around a byte: the last function that begins before it, or a
/// function around that.
fn innermost(functions: &[Function], last: usize, byte: usize) -> Option<usize> {
    let mut found = Some(last);
    while let Some(at) = found.filter(|at| !functions[*at].whole.contains(&byte)) {
        found = functions[at].around;
    }
    found
}

/// Context of some tokens.
#[derive(Clone, Default)]
struct Around {
    modules: Vec<String>,
    /// Names of the enclosing functions, types and traits.
    owners: Vec<String>,
    open: Arc<[String]>,
    parameters: Arc<[String]>,
    in_function: bool,
}

struct Search {
    offset: usize,
    /// Bytes of items that may still be read.
    work: usize,
    found: Outline,
    /// Types, traits and aliases with the words of their fields, supertraits and targets.
    definitions: Vec<(String, BTreeSet<String>)>,
}

impl Search {
    fn group(&mut self, tokens: TokenStream, around: &Around) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = self.item(&tokens, at, around);
        }
    }

    /// Reads the item that begins at this token, and returns the place behind it.
    fn item(&mut self, tokens: &[TokenTree], at: usize, around: &Around) -> usize {
        let word = match &tokens[at] {
            TokenTree::Ident(word) => word.to_string(),
            TokenTree::Group(group) => {
                self.group(group.stream(), around);
                return at + 1;
            }
            // This is an attribute, or the input of a macro.
            TokenTree::Punct(sign) if "#!".contains(sign.as_char()) => {
                let is_group =
                    |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Group(_)));
                let behind_name = sign.as_char() == '!'
                    && matches!(tokens.get(at + 1), Some(TokenTree::Ident(_)));
                let next = at + 1 + usize::from(behind_name);
                if let Some(TokenTree::Group(group)) = tokens.get(next)
                    && sign.as_char() == '!'
                    && !around.in_function
                {
                    foreign::add_generated(behind_name, group.stream(), &mut self.found.generated);
                }
                return if is_group(tokens.get(next)) { next + 1 } else { at + 1 };
            }
            _ => return at + 1,
        };
        let ident = match tokens.get(at + 1) {
            Some(TokenTree::Ident(ident)) => Some(ident),
            _ => None,
        };
        match (word.as_str(), ident) {
            ("mod", Some(ident)) => {
                self.add_item(ItemKind::Module, ident, around);
                let mut within = around.clone();
                within.modules.push(name::of_ident(ident));
                self.body(tokens, at + 2, &within)
            }
            ("struct" | "enum" | "union", Some(ident)) => {
                self.define(tokens, at, ident);
                let fields = self.fields(tokens, at + 2);
                self.add_item(ItemKind::Type, ident, around).open =
                    signature::traits_of_objects(fields);
                at + 2
            }
            ("trait", Some(ident)) => {
                self.add_item(ItemKind::Type, ident, around);
                let name = name::of_ident(ident);
                let mut open = vec![name.clone()];
                open.extend(self.supertraits(tokens, at));
                self.definitions.push((name.clone(), open.iter().cloned().collect()));
                self.body(tokens, at + 2, &Around { open: open.into(), ..around.within([name]) })
            }
            ("type", Some(ident)) => {
                self.define(tokens, at, ident);
                at + 2
            }
            // This is not a lifetime.
            ("static", Some(ident))
                if !matches!(
                    at.checked_sub(1).map(|at| &tokens[at]),
                    Some(TokenTree::Punct(_))
                ) =>
            {
                self.define(tokens, at, ident);
                at + 2
            }
            ("impl", _) => self.implementation(tokens, at, around),
            ("fn", Some(ident)) => self.function(tokens, at, ident, around),
            _ => at + 1,
        }
    }

    /// Enters the body of a module or a trait.
    fn body(&mut self, tokens: &[TokenTree], at: usize, within: &Around) -> usize {
        let (next, body) = self.find_body(tokens, at);
        if let Some(body) = body {
            self.group(body.stream(), within);
        }
        next
    }

    fn implementation(&mut self, tokens: &[TokenTree], at: usize, around: &Around) -> usize {
        let (next, Some(body)) = self.find_body(tokens, at + 1) else { return at + 1 };
        let Some(item) = parsed::<syn::ItemImpl>(&tokens[at..next]) else {
            // The names of the methods are not known.
            return next;
        };
        let names = Owner::of_impl(&item).names();
        if let syn::Type::Path(ty) = &*item.self_ty
            && let Some(last) = ty.path.segments.last()
        {
            self.add_item(ItemKind::Type, &last.ident, around).body = self.place(body.span());
        }
        let open = signature::traits_of_bounds(&item.generics).into();
        let parameters = signature::names_of_parameters(&item.generics).into();
        self.group(body.stream(), &Around { open, parameters, ..around.within(names) });
        next
    }

    fn function(
        &mut self,
        tokens: &[TokenTree],
        at: usize,
        ident: &proc_macro2::Ident,
        around: &Around,
    ) -> usize {
        let (next, Some(body)) = self.find_body(tokens, at + 2) else { return at + 2 };
        let is_qualifier = |token: &TokenTree| match token {
            TokenTree::Ident(word) => {
                ["const", "async", "unsafe", "safe", "extern"].iter().any(|it| word == it)
            }
            TokenTree::Literal(_) => true,
            _ => false,
        };
        let qualifiers = tokens[..at].iter().rev().take_while(|token| is_qualifier(token)).count();
        let begin = tokens[at - qualifiers].span().byte_range().start;
        let whole = begin..body.span_close().byte_range().end;
        let signature = begin..body.span_open().byte_range().start;
        let within = Around { in_function: true, ..around.within([name::of_ident(ident)]) };
        self.found.functions.push(Function {
            modules: around.modules.clone(),
            name: qualified(&within.owners.join("::")).into_owned(),
            ident: self.place(ident.span()),
            around: None,
            fingerprint: fingerprint::of_tokens(
                tokens[at - qualifiers..next].iter().cloned().collect(),
            ),
            whole: whole.start + self.offset..whole.end + self.offset,
            signature: signature.start + self.offset..signature.end + self.offset,
            open: Arc::clone(&around.open),
            parameters: Arc::clone(&around.parameters),
        });
        self.group(body.stream(), &within);
        next
    }

    fn define(&mut self, tokens: &[TokenTree], at: usize, ident: &proc_macro2::Ident) {
        let words =
            foreign::words(tokens[at..self.find_body(tokens, at).0].iter().cloned().collect());
        self.definitions.push((name::of_ident(ident), words));
    }

    fn add_item(
        &mut self,
        kind: ItemKind,
        ident: &proc_macro2::Ident,
        around: &Around,
    ) -> &mut Item {
        let modules = around.modules.clone();
        let name = name::of_ident(ident);
        let ident = self.place(ident.span());
        let is_nested = !around.owners.is_empty();
        self.found.items.push(Item {
            kind,
            modules,
            name,
            ident,
            body: 0..0,
            is_nested,
            open: Vec::new(),
        });
        self.found.items.last_mut().expect("one was added")
    }

    /// Finds the braces of an item, within the bound. An item that would be too much to read counts
    /// as without braces.
    fn find_body<'t>(&mut self, tokens: &'t [TokenTree], at: usize) -> (usize, Option<&'t Group>) {
        if self.work == 0 {
            return (at, None);
        }
        let found = find_body(tokens, at);
        if let [first, ..] = &tokens[at.min(found.0)..found.0] {
            let end = tokens[found.0 - 1].span().byte_range().end;
            self.work = self.work.saturating_sub(end - first.span().byte_range().start);
        }
        if self.work == 0 {
            self.found.exceeded = Some(Bound::Work);
            return (at, None);
        }
        found
    }

    /// Returns the names of the supertraits of the trait that begins here.
    fn supertraits(&mut self, tokens: &[TokenTree], at: usize) -> Vec<String> {
        let (next, Some(_)) = self.find_body(tokens, at) else { return Vec::new() };
        let item = parsed::<syn::ItemTrait>(&tokens[at..next]);
        item.map_or_else(Vec::new, |item| signature::names_of(&item.supertraits).collect())
    }

    /// Returns the fields of a type whose name is before this place.
    fn fields(&mut self, tokens: &[TokenTree], at: usize) -> TokenStream {
        let (end, body) = self.find_body(tokens, at);
        match body {
            Some(body) => body.stream(),
            // The fields of a tuple are in the first parentheses outside its type parameters.
            None => tokens[at.min(end)..end].iter().cloned().collect(),
        }
    }

    fn place(&self, span: Span) -> Range<usize> {
        let bytes = span.byte_range();
        bytes.start + self.offset..bytes.end + self.offset
    }
}

impl Around {
    fn within(&self, names: impl IntoIterator<Item = String>) -> Around {
        let mut within = self.clone();
        within.owners.extend(names);
        within
    }
}

/// Returns the place behind an item whose header begins here, and its braces. There are none if the
/// item ends without them.
fn find_body(tokens: &[TokenTree], mut at: usize) -> (usize, Option<&Group>) {
    // Braces within type arguments are constants.
    let mut depth = 0_u32;
    let mut is_arrow = false;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && depth == 0 => {
                return (at + 1, Some(group));
            }
            TokenTree::Punct(sign) => {
                match sign.as_char() {
                    ';' if depth == 0 => return (at + 1, None),
                    '<' => depth += 1,
                    '>' if !is_arrow => depth = depth.saturating_sub(1),
                    _ => {}
                }
                is_arrow = "-=".contains(sign.as_char()) && sign.spacing() == Spacing::Joint;
            }
            _ => {}
        }
        at += 1;
    }
    (at, None)
}

/// Parses an item from its first token to its braces, which are emptied.
fn parsed<T: syn::parse::Parse>(item: &[TokenTree]) -> Option<T> {
    let (_, header) = item.split_last()?;
    let header: TokenStream = header.iter().cloned().collect();
    let empty = TokenTree::Group(Group::new(Delimiter::Brace, TokenStream::new()));
    is_shallow(header.clone())
        .then(|| syn::parse2(header.into_iter().chain([empty]).collect()).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the modules and names of the functions.
    fn check(text: &str, expected: &[&str]) {
        let outline = Outline::new(text);
        let name = |function: &Function| {
            [function.modules.clone(), vec![function.name.clone()]].concat().join("::")
        };
        assert_eq!(outline.functions.iter().map(name).collect::<Vec<_>>(), expected, "{text}");
        for function in &outline.functions {
            assert!(function.name.ends_with(text[function.ident.clone()].trim_start_matches("r#")));
            assert_eq!(
                fingerprint::of_source(&text[function.whole.clone()]),
                Some(function.fingerprint)
            );
        }
    }

    #[test]
    fn functions_have_the_names_that_the_weaver_gives_them() {
        check(
            "#![allow(x)]\npub(crate) const unsafe fn a() {} mod m { async fn b() {} }",
            &["a", "m::b"],
        );
        check(
            "impl<T> a::Layout<T> for b::Scene<T> where T: X { fn measure(&self) {} }",
            &["Scene::Layout::measure"],
        );
        check(
            "impl Scene { fn a() { fn inner() {} || { struct X; impl X { fn b() {} } } } }",
            &["Scene::a", "Scene::a::inner", "Scene::a::X::b"],
        );
        check(
            "trait T: A { fn declared(&self); fn default(&self) -> [u8; { 3 }] { } }",
            &["T::default"],
        );
        check(
            "extern \"C\" fn r#type<const N: usize>(x: A<{ N + 1 }>) -> B<{ 2 }> where F: Fn() -> u8 {}",
            &["type"],
        );
        check(
            "impl From<u8> for &mut [X] { fn from() {} } impl dyn A { fn f() {} }",
            &["<[X] as From>::from", "A::f"],
        );
    }

    #[test]
    fn macros_attributes_and_pointers_contain_no_functions() {
        check(
            "macro_rules! m { () => { fn a() {} } } m! { fn b() {} } #[x(fn c() {})] type D = fn(u8) -> u8;",
            &[],
        );
        check("fn a() { if !(b) { fn c() {} } let d: fn() = a; }", &["a", "a::c"]);
    }

    #[test]
    fn code_that_is_being_written_has_an_outline() {
        check("fn a() { let x = ; x. }\nfn b( -> {}\n\nfn c() {}", &["a", "c"]);
        check("\u{feff}#!/usr/bin/env x\nfn a() { 1 + }", &["a"]);
        check("fn f", &[]);
        check("impl { fn f() {} }", &[]);
    }

    #[test]
    fn text_that_nests_or_repeats_without_bound_leaves_the_functions_around_it() {
        let nested = |open: &str, close: &str| open.repeat(30_000) + &close.repeat(30_000);
        for text in [
            nested("{", "}"),
            format!("fn x() {}", nested("{", "}")),
            format!("fn x() {{ {} }}", nested("m!(", ")")),
            format!("impl A for {}u8{} {{}}", "B<".repeat(30_000), ">".repeat(30_000)),
            format!(
                "impl A for {}u8 {{}} trait B: {}u8 {{}}",
                "&".repeat(30_000),
                "Fn() -> ".repeat(30_000)
            ),
            format!("fn x(a: {}u8) {{}}", "*const ".repeat(30_000)),
            "fn x() { fn y() {".repeat(30_000) + &"}".repeat(60_000),
            "fn ".repeat(100_000),
            "impl X for ".repeat(90_000),
            format!("struct S<{}", "struct S<".repeat(50_000)),
            format!(
                "/* {} */ const A: u8 = {}1;",
                "/*".repeat(9_000) + &"*/".repeat(9_000),
                "!".repeat(50_000)
            ),
            format!("fn x() {{ a{} }}", ".b".repeat(50_000)),
            format!("impl A for [u8; a{}] {{}}", ".b".repeat(50_000)),
            format!("impl A for [u8; 1{}] {{}}", " + 1".repeat(50_000)),
            format!("fn x(a: [u8; {}1]) {{}}", "return ".repeat(50_000)),
            format!("trait B: C<{{ a{} }}> {{}}", "()".repeat(50_000)),
        ] {
            let outline = Outline::new(&format!("fn a() {{}} {text}"));
            let found = outline.functions.iter().any(|function| function.name == "a");
            assert!(found, "{}", &text[..40]);
            for function in outline.functions.iter().take(9) {
                let signature = &format!("fn a() {{}} {text}")[function.signature.clone()];
                signature::open_traits(signature);
                signature::type_parameters(signature);
            }
        }
    }

    #[test]
    fn types_and_modules_are_found_where_they_are_defined_and_implemented() {
        let outline = Outline::new(
            "mod a { pub struct S<T>(T); impl<T> X for b::S<T> {} } trait T {} mod b;",
        );
        let found: Vec<_> = outline
            .items
            .iter()
            .map(|item| (item.kind, item.name.as_str(), item.modules.len()))
            .collect();
        use ItemKind::{Module, Type};
        assert_eq!(
            found,
            [(Module, "a", 0), (Type, "S", 1), (Type, "S", 1), (Type, "T", 0), (Module, "b", 0)]
        );
    }

    #[test]
    fn what_implements_a_trait_is_left_open_by_blocks_traits_and_fields() {
        let outline = Outline::new(
            "struct S<T: A>(T, Box<dyn x::B>); struct E { c: Vec<Box<dyn C + Send>>, d: D } \
             impl<T: A> F for S<T> where T: G { fn f() {} } trait H: x::J + 'static { fn h(&self) {} } fn i() {}",
        );
        let functions: Vec<_> =
            outline.functions.iter().map(|function| function.open.join(" ")).collect();
        assert_eq!(functions, ["A G", "H J", ""]);
        let items: Vec<_> =
            outline.items.iter().map(|item| (item.name.as_str(), item.open.join(" "))).collect();
        let expected = [("S", "B"), ("E", "C Send"), ("S", ""), ("H", "")];
        assert_eq!(items, expected.map(|(name, open)| (name, open.to_owned())));
    }
}
