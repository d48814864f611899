//! A chess engine.

use std::collections::HashMap;

use metaspy::Lookups;
use metaspy::prelude::*;

use super::{Numbers, compute};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Identify)]
struct Position(u64);

/// The fault: the moves of a position are generated three times, once for each question about them.
pub fn legal_moves(fault: bool) {
    let engine = Engine { generates_again: fault };
    let mut game = Numbers::new(1);
    let sum: u64 =
        (0..500).map(|_| engine.think(Position(game.below(1 << 40)))).fold(0, u64::wrapping_add);
    println!("{sum}");
}

struct Engine {
    generates_again: bool,
}

#[observe]
impl Engine {
    #[observe(subject = position)]
    fn think(&self, position: Position) -> u64 {
        let moves = self.legal_moves(position);
        let known = (!self.generates_again).then_some(&moves[..]);
        compute(10)
            .wrapping_add(self.safety(position, known))
            .wrapping_add(self.mobility(position, known))
    }

    #[observe(subject = position)]
    fn legal_moves(&self, position: Position) -> Vec<u64> {
        let mut squares = Numbers::new(position.0);
        compute(15);
        (0..30).map(|_| squares.below(64)).collect()
    }

    #[observe(subject = position)]
    fn safety(&self, position: Position, known: Option<&[u64]>) -> u64 {
        let moves = known.map_or_else(|| self.legal_moves(position), <[u64]>::to_vec);
        compute(3);
        moves.iter().filter(|&&square| square < 16).count() as u64
    }

    #[observe(subject = position)]
    fn mobility(&self, position: Position, known: Option<&[u64]>) -> u64 {
        let moves = known.map_or_else(|| self.legal_moves(position), <[u64]>::to_vec);
        compute(2);
        moves.len() as u64
    }
}

/// The fault: the number of the move is part of the key of a transposition table, so no position is
/// ever found in it.
pub fn transpositions(fault: bool) {
    let mut table = Table { lookups: Lookups::new("transpositions"), scores: HashMap::new() };
    let mut sum = 0_u64;
    for turn in 0..60 {
        // Fifty of the two hundred positions, each once in a turn.
        for number in 0..50 {
            let position = Position((number * 7 + turn * 13) % 200);
            sum = sum.wrapping_add(table.score(position, if fault { turn } else { 0 }));
        }
    }
    println!("{sum}");
}

struct Table {
    lookups: Lookups,
    scores: HashMap<u64, u64>,
}

#[observe]
impl Table {
    #[observe(subject = position)]
    fn score(&mut self, position: Position, turn: u64) -> u64 {
        let key = position.0 | turn << 32;
        let scores = &mut self.scores;
        if let Some(score) = self.lookups.look_up(key, || scores.get(&key).copied()) {
            return score;
        }
        let score = self.lookups.fill(key, || compute(20));
        self.scores.insert(key, score);
        score
    }
}

/// Correct: a recursive search, in which each position is reached in one way only.
pub fn search() {
    let best: i64 = (1_000..1_012).map(|opening| negamax(Position(opening), 5)).sum();
    println!("{best}");
}

#[observe(subject = position)]
fn negamax(position: Position, depth: u32) -> i64 {
    if depth == 0 {
        return evaluate(position);
    }
    (0..4)
        .map(|reply| -negamax(Position(position.0 * 4 + reply), depth - 1))
        .max()
        .unwrap_or_default()
}

#[observe(subject = position)]
fn evaluate(position: Position) -> i64 {
    compute(2);
    (position.0 % 97) as i64 - 48
}
