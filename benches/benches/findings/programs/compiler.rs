//! A compiler and an interpreter of a small language.

use std::collections::HashMap;

use metaspy::prelude::*;

use super::compute;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Identify)]
struct Expr(u32);

/// The fault: the type of an expression is inferred anew for each question about it, in each
/// expression around it.
pub fn inference(fault: bool) {
    let mut sum = 0;
    for function in 0..60 {
        let mut checker = Checker { known: (!fault).then(HashMap::new) };
        sum += checker.check(Expr(function * 100));
    }
    println!("{sum}");
}

struct Checker {
    known: Option<HashMap<Expr, u64>>,
}

#[observe]
impl Checker {
    #[observe(subject = body)]
    fn check(&mut self, body: Expr) -> u64 {
        self.infer(body, 7)
    }

    /// The type of a nested expression is asked for twice: is it a number, and of which width?
    #[observe(subject = expr)]
    fn infer(&mut self, expr: Expr, depth: u32) -> u64 {
        if let Some(known) = self.known.as_ref().and_then(|known| known.get(&expr)) {
            return *known;
        }
        compute(2);
        let inner = Expr(expr.0 + 1);
        let width = if depth > 0 && self.infer(inner, depth - 1) > 0 {
            self.infer(inner, depth - 1) + 1
        } else {
            1
        };
        if let Some(known) = &mut self.known {
            known.insert(expr, width);
        }
        width
    }
}

/// The fault: blocks are never closed, so a name is looked for in the scopes of all blocks before
/// it.
pub fn scopes(fault: bool) {
    let mut resolver = Resolver { open: vec![Scope(0)], next: 1, forgets: fault };
    (0..600).for_each(|block| resolver.block(block));
    println!("{}", resolver.open.len());
}

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Scope(u32);

struct Resolver {
    open: Vec<Scope>,
    next: u32,
    forgets: bool,
}

#[observe]
impl Resolver {
    fn block(&mut self, name: u32) {
        self.open.push(Scope(self.next));
        self.next += 1;
        self.resolve(name);
        if !self.forgets {
            self.open.pop();
        }
    }

    /// The name is global: it is in the first scope.
    fn resolve(&self, name: u32) -> Option<Scope> {
        self.open.iter().rev().copied().find(|&scope| self.declares(scope, name))
    }

    #[observe(subject = scope)]
    fn declares(&self, scope: Scope, name: u32) -> bool {
        compute(1);
        scope.0 == 0 && name < u32::MAX
    }
}

/// Correct: a parser with alternatives, which goes back to the same place and tries the next one.
pub fn backtracking() {
    let text: String = (0..500).map(|n| ["a = b ; ", "f ( a ) ; ", "return c ; "][n % 3]).collect();
    let parser = Parser { words: text.split_whitespace().collect() };
    let mut at = 0;
    let mut statements = 0;
    while let Some(next) = parser.statement(at) {
        (at, statements) = (next, statements + 1);
    }
    println!("{statements}");
}

struct Parser<'a> {
    words: Vec<&'a str>,
}

#[observe]
impl Parser<'_> {
    #[observe(subject = Expr(at as u32))]
    fn statement(&self, at: usize) -> Option<usize> {
        self.assignment(at)
            .or_else(|| self.call(at))
            .or_else(|| self.jump(at))
            .and_then(|end| self.word(end, ";"))
    }

    #[observe(subject = Expr(at as u32))]
    fn assignment(&self, at: usize) -> Option<usize> {
        self.name(at).and_then(|end| self.word(end, "=")).and_then(|end| self.name(end))
    }

    #[observe(subject = Expr(at as u32))]
    fn call(&self, at: usize) -> Option<usize> {
        let open = self.name(at).and_then(|end| self.word(end, "("))?;
        self.name(open).and_then(|end| self.word(end, ")"))
    }

    #[observe(subject = Expr(at as u32))]
    fn jump(&self, at: usize) -> Option<usize> {
        self.word(at, "return").and_then(|end| self.name(end))
    }

    #[observe(subject = Expr(at as u32))]
    fn name(&self, at: usize) -> Option<usize> {
        compute(1);
        self.words
            .get(at)
            .filter(|word| word.len() == 1 && word.as_bytes()[0].is_ascii_lowercase())
            .map(|_| at + 1)
    }

    #[observe(subject = Expr(at as u32))]
    fn word(&self, at: usize, expected: &str) -> Option<usize> {
        compute(1);
        self.words.get(at).filter(|word| **word == expected).map(|_| at + 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Instruction(u32);

/// Correct: an interpreter runs the instructions of a loop again and again, and the others once.
pub fn interpreter() {
    let mut machine = Machine { registers: vec![1; 4] };
    (0..40).for_each(|address| machine.step(Instruction(address)));
    for _ in 0..1_500 {
        (40..43).for_each(|address| machine.step(Instruction(address)));
    }
    (43..60).for_each(|address| machine.step(Instruction(address)));
    println!("{:?}", machine.registers);
}

struct Machine {
    registers: Vec<u64>,
}

#[observe]
impl Machine {
    #[observe(subject = instruction)]
    fn step(&mut self, instruction: Instruction) {
        let register = instruction.0 as usize % self.registers.len();
        self.registers[register] = self.registers[register].wrapping_add(compute(2));
    }
}

/// Correct: an interface that passes each call on to what it stands for.
pub fn facade() {
    let backend = Backend { target: "wasm" };
    let size = (0..2_000).map(|expr| backend.emit(Expr(expr))).fold(0, u64::wrapping_add);
    println!("{size}");
}

struct Backend {
    target: &'static str,
}

#[observe]
impl Backend {
    #[observe(subject = expr)]
    fn emit(&self, expr: Expr) -> u64 {
        self.emit_for_target(expr)
    }

    #[observe(subject = expr)]
    fn emit_for_target(&self, expr: Expr) -> u64 {
        compute(4) % (self.target.len() as u64 + u64::from(expr.0))
    }
}

/// Correct: two functions that call each other on the way through a tree.
pub fn printing() {
    let length: usize = (0..40).map(|function| block_text(Expr(function << 16 | 1), 5).len()).sum();
    println!("{length}");
}

#[observe(subject = block)]
fn block_text(block: Expr, depth: u32) -> String {
    (0..3)
        .map(|child| statement_text(Expr(block.0 * 3 + child), depth))
        .collect::<Vec<_>>()
        .join("; ")
}

#[observe(subject = statement)]
fn statement_text(statement: Expr, depth: u32) -> String {
    compute(1);
    if depth == 0 {
        format!("x{}", statement.0)
    } else {
        format!("{{ {} }}", block_text(statement, depth - 1))
    }
}

/// Correct: a constant is computed by a recursive function, as the program that is compiled says.
pub fn constants() {
    let sum: u64 = (0..12).map(fibonacci).sum();
    println!("{sum} {}", fibonacci(19));
}

#[observe]
fn fibonacci(n: u64) -> u64 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}
