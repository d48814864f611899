//! Detection of code that a function may run without a call in its text: closures, iterators and
//! futures that it receives, and the bodies of macros.

use std::collections::{BTreeSet, HashMap};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::call::KEYWORDS;

/// Types and traits whose values run foreign code: closures, iterators, futures, function pointers,
/// and lazy values.
const RUNNING: [&str; 17] = [
    "fn",
    "Fn",
    "FnMut",
    "FnOnce",
    "AsyncFn",
    "AsyncFnMut",
    "AsyncFnOnce",
    "Iterator",
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "IntoIterator",
    "Future",
    "IntoFuture",
    "Stream",
    "LazyCell",
    "LazyLock",
    "Lazy",
];

/// Macros that only call the code in their arguments, and formatting.
const PLAIN_MACROS: [&str; 22] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "print",
    "println",
    "eprint",
    "eprintln",
    "dbg",
    "format",
    "format_args",
    "write",
    "writeln",
    "vec",
    "matches",
    "panic",
    "todo",
    "unimplemented",
    "unreachable",
    "concat",
];

/// Returns all words of some tokens. The word `fn` stands for a function pointer.
pub fn words(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    add_words(tokens, &mut found);
    found
}

fn add_words(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word)
                if word == "fn" && !matches!(tokens.peek(), Some(TokenTree::Group(_))) => {}
            TokenTree::Ident(word) => drop(found.insert(word.to_string())),
            TokenTree::Group(group) => add_words(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Returns the words of a signature's return type and of its `where` clause.
pub fn returned(signature: TokenStream) -> BTreeSet<String> {
    let mut before = ' ';
    let mut is_arrow = |token: &TokenTree| match token {
        TokenTree::Punct(sign) => {
            std::mem::replace(&mut before, sign.as_char()) == '-' && sign.as_char() == '>'
        }
        _ => false,
    };
    let mut tokens = signature.into_iter();
    if tokens.by_ref().any(|token| is_arrow(&token)) {
        words(tokens.collect())
    } else {
        BTreeSet::new()
    }
}

/// Returns true if a type or a bound with these words may run foreign code, or contains any of
/// these names.
pub fn is_running(words: &BTreeSet<String>, names: &BTreeSet<String>) -> bool {
    words.iter().any(|word| RUNNING.contains(&word.as_str()) || names.contains(word))
}

/// Returns the names among these definitions whose values run foreign code.
pub fn running(definitions: &[(String, BTreeSet<String>)]) -> BTreeSet<String> {
    let mut users: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, words) in definitions {
        words.iter().for_each(|word| users.entry(word).or_default().push(name));
    }
    let mut names = BTreeSet::new();
    let mut reached: Vec<&str> = RUNNING.to_vec();
    while let Some(word) = reached.pop() {
        for user in users.remove(word).unwrap_or_default() {
            names.insert(user.to_owned());
            reached.push(user);
        }
    }
    names
}

/// Returns true if a function with these tokens awaits a future, calls a value, or uses a macro
/// whose body may call anything.
pub(crate) fn runs_unnamed(tokens: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_unnamed =
        |(at, token): (usize, &TokenTree)| match (token, tokens.get(at + 1), tokens.get(at + 2)) {
            (TokenTree::Ident(word), Some(TokenTree::Punct(mark)), Some(TokenTree::Group(_)))
                if mark.as_char() == '!' =>
            {
                // A negation such as `if !(a)` is not a macro.
                !PLAIN_MACROS.iter().chain(&KEYWORDS).any(|plain| word == plain)
            }
            (TokenTree::Ident(word), ..) => word == "await",
            (TokenTree::Group(callee), Some(TokenTree::Group(arguments)), _) => {
                callee.delimiter() != Delimiter::Brace
                    && arguments.delimiter() == Delimiter::Parenthesis
            }
            _ => false,
        };
    let is_within = |token: &TokenTree| matches!(token, TokenTree::Group(group) if runs_unnamed(group.stream()));
    tokens.iter().enumerate().any(is_unnamed) || tokens.iter().any(is_within)
}

/// Adds the names of functions that a macro may generate: the names behind `fn` in its rules, and
/// all words of a call.
pub(crate) fn add_generated(is_rules: bool, tokens: TokenStream, found: &mut BTreeSet<String>) {
    if !is_rules {
        return add_words(tokens, found);
    }
    let mut is_name = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(name) if is_name => drop(found.insert(name.to_string())),
            TokenTree::Group(group) => add_generated(true, group.stream(), found),
            _ => {}
        }
        is_name = matches!(&token, TokenTree::Ident(word) if word == "fn");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> TokenStream {
        text.parse().expect("it has tokens")
    }

    #[test]
    fn closures_iterators_and_names_of_them_run_code_of_others() {
        let check = |text: &str| is_running(&words(tokens(text)), &["Hook".to_owned()].into());
        for text in [
            "f: &dyn Fn() -> f64",
            "<I: x::Iterator>",
            "f: fn(u8)",
            "hooks: &[Hook]",
            "-> Box<dyn Future>",
        ] {
            assert!(check(text), "{text}");
        }
        assert!(!check("fn f<T: Shape>(shape: &T, fns: &[Box<dyn Shape>]) -> f64"));
    }

    #[test]
    fn what_a_function_returns_is_behind_its_arrow() {
        let check = |text: &str| returned(tokens(text)).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(check("fn f(a: impl Fn() -> u8) -> Box<dyn Iterator>"), "Box Iterator dyn");
        assert_eq!(check("fn f(a: impl Fn() -> u8)"), "");
    }

    #[test]
    fn a_name_of_a_name_runs_code_of_others() {
        let definitions = ["A { b: Vec<B> }", "B = Box<dyn Fn()>", "C : D", "E(A)"];
        let definition = |text: &&str| (text[..1].to_owned(), words(tokens(&text[1..])));
        let found = running(&definitions.iter().map(definition).collect::<Vec<_>>());
        assert_eq!(found.into_iter().collect::<String>(), "ABE");
    }

    #[test]
    fn calls_without_a_name_are_found() {
        for text in [
            "total!(s)",
            "(self.hook)(1)",
            "a[0](1)",
            "f(a.b().await)",
            "{ log::info!(\"{}\", a) }",
        ] {
            assert!(runs_unnamed(tokens(text)), "{text}");
        }
        for text in ["std::println!(\"{}\", a.b())", "if !(a) { b }", "a != (b)", "f(a)"] {
            assert!(!runs_unnamed(tokens(text)), "{text}");
        }
    }

    #[test]
    fn a_macro_generates_the_functions_that_it_names() {
        let mut found = BTreeSet::new();
        add_generated(
            true,
            tokens("($n:ident) => { fn $n() {} pub fn two() { three() } }"),
            &mut found,
        );
        add_generated(false, tokens("one, Circle"), &mut found);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["Circle", "one", "two"]);
    }
}
