//! Rust source, read as braces and what stands before them. Comments and literals are passed over.

/// A walk over the source up to some place.
pub struct Scan<'a> {
    rest: &'a str,
    /// The texts before the braces that are still open.
    open: Vec<String>,
    /// The text since the last brace or semicolon.
    text: String,
    /// How many parentheses and brackets are open: a semicolon in them ends nothing.
    nested: usize,
}

impl<'a> Scan<'a> {
    pub fn new(source: &'a str) -> Self {
        Scan { rest: source, open: Vec::new(), text: String::new(), nested: 0 }
    }

    /// The text before the innermost brace that is open at the end.
    pub fn innermost(mut self) -> Option<String> {
        while let Some(next) = self.rest.chars().next() {
            let passed = self.pass(next);
            self.rest = self.rest.get(passed.max(next.len_utf8())..).unwrap_or_default();
        }
        self.open.pop()
    }

    /// Notes what begins here, and says how long it is.
    fn pass(&mut self, next: char) -> usize {
        let rest = self.rest;
        match next {
            '/' if rest.starts_with("//") => return rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => return block_comment(rest),
            '"' => return self.literal(1 + text_literal(&rest[1..])),
            'r' if !self.is_in_word() => {
                if let Some(length) = raw_literal(rest) {
                    return self.literal(length);
                }
                self.text.push(next);
            }
            '\'' => match char_literal(rest) {
                Some(length) => return self.literal(length),
                None => self.text.push(next),
            },
            '{' => self.open.push(std::mem::take(&mut self.text)),
            '}' => {
                self.open.pop();
                self.text.clear();
            }
            ';' if self.nested == 0 => self.text.clear(),
            _ => {
                match next {
                    '(' | '[' => self.nested += 1,
                    ')' | ']' => self.nested = self.nested.saturating_sub(1),
                    _ => {}
                }
                self.text.push(next);
            }
        }
        next.len_utf8()
    }

    fn literal(&mut self, length: usize) -> usize {
        self.text.push_str("\"\"");
        length
    }

    /// Whether the `r` that comes next is part of a name; `br` and `cr` begin literals.
    fn is_in_word(&self) -> bool {
        let mut before = self.text.chars().rev();
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        match before.next() {
            Some('b' | 'c') => before.next().is_some_and(is_name),
            Some(c) => is_name(c),
            None => false,
        }
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0usize;
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of a text literal after its first quote.
fn text_literal(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of `r"…"`, `r#"…"#`; `None` for a raw name.
fn raw_literal(rest: &str) -> Option<usize> {
    let hashes = rest[1..].len() - rest[1..].trim_start_matches('#').len();
    let inside = rest[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(1 + hashes + 1 + length)
}

/// The length of a character; `None` for a lifetime.
fn char_literal(rest: &str) -> Option<usize> {
    let mut chars = rest[1..].char_indices();
    match chars.next()?.1 {
        '\\' => {
            let escape = 2 + chars.next()?.1.len_utf8();
            Some(escape + rest.get(escape..)?.find('\'')? + 1)
        }
        _ => match chars.next()? {
            (at, '\'') => Some(1 + at + 1),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Scan;

    #[test]
    fn the_innermost_brace_is_found_past_comments_and_literals() {
        let source = r###"mod m; /* { /* { */ { */ // {
            #[doc = "{"] impl<'a> Scene<'a> { fn f() { let _ = ('{', '\'', b'{', "\"{", r#"{"{"#, br"{"); let r#type = [0; 4]; }
            "###;
        let found = Scan::new(source).innermost().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref(), Some("#[doc = \"\"] impl<'a> Scene<'a>"));
    }

    #[test]
    fn a_semicolon_in_brackets_ends_nothing() {
        assert_eq!(Scan::new("use a; impl T for [u8; 4] {").innermost().as_deref(), Some(" impl T for [u8; 4] "));
    }

    #[test]
    fn outside_of_all_braces_there_is_none() {
        assert_eq!(Scan::new("fn f() { {} } ").innermost(), None);
    }
}
