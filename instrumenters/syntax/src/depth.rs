//! Limit on the depth of a syntax tree, from its tokens. Parsers are recursive, so text with
//! unbounded nesting would end a process.

use std::mem;

use proc_macro2::{Delimiter, TokenStream, TokenTree, token_stream};

/// Returns true if the syntax tree of these tokens has no more than this number of levels.
///
/// A group is a level, and so are type arguments and each token of a chain such as `a.b.c`, `--a`
/// and `1 + 1`: the tree may have fewer. A chain ends at a comma, at a semicolon, or at the braces
/// that end a statement or an item. Attributes are not part of chains.
pub fn is_at_most(tokens: TokenStream, most: usize) -> bool {
    let mut open = vec![Level::new(tokens, 0)];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.next() else {
            open.pop();
            continue;
        };
        let depth = level.outside + level.chain;
        if depth > most {
            return false;
        }
        if let TokenTree::Group(group) = token {
            open.push(Level::new(group.stream(), depth));
        }
    }
    true
}

/// Remaining tokens of a group, with the length of the present chain.
struct Level {
    tokens: token_stream::IntoIter,
    /// Number of levels around the group.
    outside: usize,
    /// Number of tokens in the chain so far.
    chain: usize,
    /// Length of the chain behind a comma, which is its length before the innermost open `<`.
    least: usize,
    /// Values of `least` outside of each open `<`.
    arguments: Vec<usize>,
    /// Length of the chain before a `#` or `#!` that was read.
    before_attribute: Option<usize>,
    is_behind_braces: bool,
    sign: char,
}

impl Level {
    fn new(tokens: TokenStream, outside: usize) -> Level {
        Level {
            tokens: tokens.into_iter(),
            outside,
            chain: 0,
            least: 0,
            arguments: Vec::new(),
            before_attribute: None,
            is_behind_braces: false,
            sign: ' ',
        }
    }

    /// Reads the next token, and counts it.
    fn next(&mut self) -> Option<TokenTree> {
        let token = self.tokens.next()?;
        let before_attribute = self.before_attribute.take();
        let is_behind_braces = mem::replace(&mut self.is_behind_braces, false);
        let sign = mem::replace(&mut self.sign, ' ');
        self.chain += 1;
        match &token {
            TokenTree::Ident(word) if is_behind_braces && word != "else" && word != "as" => {
                self.end_statement()
            }
            TokenTree::Punct(punct) => {
                self.sign = punct.as_char();
                match self.sign {
                    ';' => self.end_statement(),
                    ',' => self.chain = self.least,
                    '<' => self.arguments.push(mem::replace(&mut self.least, self.chain)),
                    // A comparison has this sign, too, so the chain may go on.
                    '>' if sign != '-' && sign != '=' => {
                        self.least = self.arguments.pop().unwrap_or(0)
                    }
                    '#' => {
                        self.before_attribute =
                            Some(if is_behind_braces { 0 } else { self.chain - 1 })
                    }
                    '!' => self.before_attribute = before_attribute,
                    _ => {}
                }
            }
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Brace => self.is_behind_braces = true,
                Delimiter::Bracket => self.chain = before_attribute.unwrap_or(self.chain),
                Delimiter::Parenthesis | Delimiter::None => {}
            },
            _ => {}
        }
        Some(token)
    }

    fn end_statement(&mut self) {
        self.chain = 0;
        self.least = 0;
        self.arguments.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the number of levels.
    fn check(text: &str, expected: usize) {
        let tokens: TokenStream = text.parse().expect("it has tokens");
        let depth = (0..).find(|most| is_at_most(tokens.clone(), *most));
        assert_eq!(depth, Some(expected), "{text}");
    }

    #[test]
    fn groups_arguments_and_chains_are_levels() {
        check("", 0);
        check("{ { { } } }", 3);
        check("- - - a", 4);
        check("a.b(c.d)", 7);
        check("A<B, C, D>", 4);
        check("A<B<C<D>>>", 10);
        check("if a {} else if b {} else if c {}", 11);
        check("a < b || c > d || e < f", 13);
    }

    #[test]
    fn chains_end_at_commas_semicolons_and_braces() {
        check("a.b, a.b, a.b", 3);
        check("a.b; a.b; a.b", 3);
        check("a < b; c < d", 3);
        check("if a {} if b {} #[c] fn d() {} mod e {}", 4);
        check("const A: &[i8] = &[-1, -2, -3, -4, -5, -6, -7, -8, -9];", 10);
    }

    #[test]
    fn attributes_are_in_no_chain() {
        check("#![a] #![a] #![a] #[b = c] #[b] #[b] mod d {}", 3);
        check("#[a(- - - - -b)] c", 8);
    }
}
