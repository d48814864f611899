//! Samples by stack.

use std::collections::HashMap;

use super::{FRAMES_MAX, Result, error};
use crate::functions::tables::hash_of;

/// Most nanoseconds of all samples together: half of what a clock of a recording counts.
const NS_MAX: u64 = u64::MAX / 4;

/// Samples of a program, as a tree of stacks.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Functions.
    pub functions: Vec<Function>,
    /// Frames, each after its caller.
    pub frames: Vec<Frame>,
    /// Time of a sample, in nanoseconds.
    pub period_ns: u64,
    /// Samples without a stack.
    pub without_stack: u64,
    pub(super) numbers: HashMap<Function, usize>,
    pub(super) places: HashMap<(Option<usize>, usize, u32), usize>,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Function {
    /// Path.
    pub name: String,
    /// File of the source; empty if it is not known.
    pub file: String,
    /// Whose code it is: its library, or its package.
    pub owner: String,
    /// File with the code; empty if it is not known.
    pub module: String,
}

/// A function on a path of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Index of the caller's frame.
    pub caller: Option<usize>,
    /// Index of the function.
    pub function: usize,
    /// Line in the function; 0 if it is not known.
    pub line: u32,
    /// Samples in its own code.
    pub own: u64,
}

impl Samples {
    /// Returns the index of a function, which is added if it is new.
    pub fn function(&mut self, name: &str, file: &str, module: &str) -> usize {
        let name = if name.is_empty() { "(no name)" } else { name };
        let library = module.rsplit(['/', '\\']).next().unwrap_or_default();
        let package =
            name.trim_start_matches(['<', '&']).split("::").next().filter(|package| package.len() < name.len());
        let owner = if library.is_empty() { package.unwrap_or_default() } else { library };
        let function = Function { name: name.into(), file: file.into(), owner: owner.into(), module: module.into() };
        let next = self.functions.len();
        *self.numbers.entry(function).or_insert_with_key(|function| {
            self.functions.push(function.clone());
            next
        })
    }

    /// Returns the frame of a function below a caller's, which is added if it is new.
    pub fn frame(&mut self, caller: Option<usize>, function: usize, line: u32) -> Result<usize> {
        if let Some(&known) = self.places.get(&(caller, function, line)) {
            return Ok(known);
        }
        if self.frames.len() >= FRAMES_MAX {
            return Err(error(format!("it has more than {FRAMES_MAX} different frames: import a part of it")));
        }
        self.frames.push(Frame { caller, function, line, own: 0 });
        self.places.insert((caller, function, line), self.frames.len() - 1);
        Ok(self.frames.len() - 1)
    }

    /// Adds samples to a frame, or to those without a stack.
    pub fn add(&mut self, frame: Option<usize>, samples: u64) -> Result<()> {
        let count = frame.map_or(&mut self.without_stack, |at| &mut self.frames[at].own);
        *count = count.checked_add(samples).ok_or_else(|| error("its numbers are too large to be added up"))?;
        Ok(())
    }

    /// All samples.
    pub fn all(&self) -> Result<u64> {
        let sum = self.frames.iter().try_fold(self.without_stack, |sum, frame| sum.checked_add(frame.own));
        let is_countable = |sum: &u64| sum.checked_mul(self.period_ns.max(1)).is_some_and(|ns| ns <= NS_MAX);
        sum.filter(is_countable).ok_or_else(|| error("its numbers are too large to be added up"))
    }

    /// Own and total samples of each function. A sample counts once for each function on its stack.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        let mut counts = vec![(0, 0); self.functions.len()];
        let mut seen = Vec::new();
        for (at, frame) in self.frames.iter().enumerate().filter(|(_, frame)| frame.own > 0) {
            counts[frame.function].0 += frame.own;
            seen.clear();
            let mut next = Some(at);
            while let Some(at) = next {
                seen.push(self.frames[at].function);
                next = self.frames[at].caller;
            }
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|&function| counts[function].1 += frame.own);
        }
        counts
    }

    /// Numbers of the frames that are the same in every recording, by their path.
    pub(super) fn numbers(&self) -> (Vec<u64>, Vec<u64>) {
        let functions: Vec<u64> = self.functions.iter().map(hash_of).collect();
        let mut frames: Vec<u64> = Vec::with_capacity(self.frames.len());
        for frame in &self.frames {
            let caller = frame.caller.map_or(0, |caller| frames[caller]);
            frames.push(hash_of(&(caller, functions[frame.function], frame.line)));
        }
        (functions, frames)
    }
}
