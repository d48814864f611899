//! The benchmarks in bytecode. The interpreter publishes its instruction with two stores.

use std::collections::HashMap;

use metaspy_sampler::code_map::{Bytecode, CodeMap, Kind};

/// The variable 0 is the argument.
const FIB: &str = "
    load 0  push 2  less  unless rest
    push 1  return
rest:
    load 0  push 1  sub  call
    load 0  push 2  sub  call
    add  push 1  add  return";

/// Rounds 0, count 1, i 2, prime 3, k 4.
const SIEVE: &str = "
round:
    push 0  load 0  less  unless done
    load 0  push 1  sub  store 0
    fill 8190  push 0  store 1  push 0  store 2
scan:
    load 2  push 8190  less  unless round
    load 2  at  unless next
    load 2  load 2  add  push 3  add  store 3
    load 2  load 3  add  store 4
strike:
    load 4  push 8190  less  unless counted
    load 4  clear
    load 4  load 3  add  store 4  jump strike
counted:
    load 1  push 1  add  store 1
next:
    load 2  push 1  add  store 2  jump scan
done:
    load 1  return";

/// An instruction of a stack machine.
#[derive(Clone, Copy)]
enum Op {
    Push(i64),
    Load(usize),
    Store(usize),
    Add,
    Subtract,
    Less,
    /// Fills this much memory with ones.
    Fill(usize),
    At,
    Clear,
    Jump(usize),
    Unless(usize),
    /// Calls the same function.
    Call,
    Return,
}

/// Reads a program, and registers its instructions by their numbers from 1 on, as in the paper.
fn assemble(name: &str, text: &str) -> Vec<Op> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let has_operand =
        |word: &str| ["push", "load", "store", "fill", "jump", "unless"].contains(&word);
    let mut labels = HashMap::new();
    let mut at = 0;
    let mut number = 0;
    while at < words.len() {
        match words[at].strip_suffix(':') {
            Some(label) => _ = labels.insert(label, number),
            None => number += 1,
        }
        at += 1 + usize::from(has_operand(words[at]));
    }
    let mut code = Vec::with_capacity(number);
    let mut words = words.into_iter().filter(|word| !word.ends_with(':'));
    while let Some(word) = words.next() {
        let operand =
            if has_operand(word) { words.next().expect("the program is whole") } else { "" };
        let number = || operand.parse::<usize>().expect("the program has numbers");
        code.push(match word {
            "push" => Op::Push(number() as i64),
            "load" => Op::Load(number()),
            "store" => Op::Store(number()),
            "fill" => Op::Fill(number()),
            "jump" => Op::Jump(labels[operand]),
            "unless" => Op::Unless(labels[operand]),
            "add" => Op::Add,
            "sub" => Op::Subtract,
            "less" => Op::Less,
            "at" => Op::At,
            "clear" => Op::Clear,
            "call" => Op::Call,
            "return" => Op::Return,
            other => panic!("{other} is no instruction"),
        });
    }
    let range = code.as_ptr_range();
    let positions: Vec<(u64, u64)> = code
        .iter()
        .zip(1..)
        .map(|(op, position)| (std::ptr::from_ref(op) as u64, position))
        .collect();
    CodeMap::register(name, Kind::Bytecode, range.start as u64..range.end as u64, &positions);
    code
}

/// A machine with the code of one function.
struct Machine {
    code: Vec<Op>,
    memory: Vec<i64>,
}

impl Machine {
    /// Runs the function: a call of it is a call of this one.
    #[inline(never)]
    fn run(&mut self, argument: i64) -> i64 {
        let current = Bytecode::new();
        let (mut variables, mut stack, mut next) =
            ([argument, 0, 0, 0, 0], Vec::with_capacity(8), 0);
        loop {
            let op = &self.code[next];
            current.at(op);
            next += 1;
            let mut pop = || stack.pop().expect("the program pushes before it pops");
            match *op {
                Op::Push(value) => stack.push(value),
                Op::Load(at) => stack.push(variables[at]),
                Op::Store(at) => variables[at] = pop(),
                Op::Add => {
                    let sum = pop() + pop();
                    stack.push(sum)
                }
                Op::Subtract => {
                    let right = pop();
                    let left = pop();
                    stack.push(left - right)
                }
                Op::Less => {
                    let right = pop();
                    let left = pop();
                    stack.push(i64::from(left < right))
                }
                Op::Fill(size) => {
                    self.memory.clear();
                    self.memory.resize(size, 1)
                }
                Op::At => {
                    let at = pop();
                    stack.push(self.memory[at as usize])
                }
                Op::Clear => {
                    let at = pop();
                    self.memory[at as usize] = 0
                }
                Op::Jump(to) => next = to,
                Op::Unless(to) => {
                    if pop() == 0 {
                        next = to
                    }
                }
                Op::Call => {
                    let argument = pop();
                    let value = self.run(argument);
                    stack.push(value)
                }
                Op::Return => return pop(),
            }
        }
    }
}

/// Passes both benchmarks, which are registered meanwhile.
pub fn run(then: impl FnOnce(&mut dyn FnMut(i64) -> i64, &mut dyn FnMut(i64) -> i64)) {
    let machine = |name, text| Machine { code: assemble(name, text), memory: Vec::new() };
    let (mut fib, mut sieve) =
        (machine("Integer>>benchFib", FIB), machine("Integer>>benchmark", SIEVE));
    then(&mut |n| fib.run(n), &mut |rounds| sieve.run(rounds));
    for machine in [fib, sieve] {
        let range = machine.code.as_ptr_range();
        CodeMap::unregister(range.start as u64..range.end as u64);
    }
}
