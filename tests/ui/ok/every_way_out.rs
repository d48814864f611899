#![deny(warnings)]

use std::ops::ControlFlow;

use metaspy::observe;

pub type QueryResult = Vec<u32>;
pub type ParseResult<T> = Result<T, std::num::ParseIntError>;

pub struct Parser;

#[observe]
impl Parser {
    pub fn question_mark(&self, text: &str) -> ParseResult<u32> {
        let first: u32 = text.parse()?;
        Ok(first + text.trim().parse::<u32>()?)
    }
    pub fn early(&self, text: &str) -> Option<char> {
        for c in text.chars() {
            if c == 'x' {
                return None;
            }
            if c == 'y' {
                return Some(c);
            }
        }
        let closure = |c: char| {
            if c == 'z' {
                return Some(());
            }
            None
        };
        closure('z')?;
        text.chars().next()
    }
    pub fn rows(&self) -> QueryResult {
        if self.early("x").is_some() {
            return vec![1];
        }
        vec![]
    }
    pub fn nothing(&self, stop: bool) {
        if stop {
            return;
        }
        let _ = loop {
            break 3;
        };
    }
    pub fn unit_tail(&self) {
        self.nothing(true)
    }
    pub fn never(&self) -> ! {
        panic!("never")
    }
    pub fn not_yet(&self) -> u32 {
        todo!()
    }
    pub fn panics(&self, deep: u32) -> Result<u32, String> {
        if deep == 0 {
            panic!("deep")
        }
        self.panics(deep - 1)
    }
    pub fn flows(&self) -> ControlFlow<u32> {
        ControlFlow::Break(1)?;
        ControlFlow::Continue(())
    }
    pub fn converted(&self) -> Result<u32, Box<dyn std::error::Error>> {
        let n: u32 = "x".parse()?;
        Err(format!("{n}"))?
    }
    pub fn collected(&self) -> Result<Vec<u32>, std::num::ParseIntError> {
        let all: Vec<u32> = ["1", "2"].iter().map(|it| it.parse()).collect::<Result<_, _>>()?;
        Ok(all)
    }
    pub fn matched(&self, it: Option<u32>) -> Option<u32> {
        match it {
            Some(it) if it > 3 => Some(it),
            Some(_) | None => None,
        }
    }
    pub fn nested(&self, it: Option<Option<u32>>) -> Option<u32> {
        fn inner(it: Option<u32>) -> Option<u32> {
            return it;
        }
        let Some(it) = it else { return None };
        return inner(Some(it?));
    }
}

#[observe]
pub fn recursive(n: u64) -> u64 {
    if n < 2 { n } else { recursive(n - 1) + recursive(n - 2) }
}

fn main() {
    assert_eq!(Parser.question_mark("1"), Ok(2));
    assert!(Parser.question_mark("x").is_err());
    assert_eq!(Parser.early("ay"), Some('y'));
    assert_eq!(Parser.early("ax"), None);
    assert_eq!(Parser.early("a"), Some('a'));
    assert!(Parser.rows().is_empty());
    Parser.nothing(false);
    Parser.unit_tail();
    assert_eq!(Parser.flows(), ControlFlow::Break(1));
    assert!(Parser.converted().is_err());
    assert_eq!(Parser.collected(), Ok(vec![1, 2]));
    assert_eq!(Parser.matched(Some(4)), Some(4));
    assert_eq!(Parser.nested(Some(Some(1))), Some(1));
    assert_eq!(recursive(10), 55);
    for panics in [
        || Parser.never(),
        || {
            let _ = Parser.not_yet();
        },
        || {
            let _ = Parser.panics(2);
        },
    ] {
        std::panic::set_hook(Box::new(|_| ()));
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
