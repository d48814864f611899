//! Samples by stack.

use std::collections::HashMap;

use super::{Effort, FRAMES_MAX, Result, error};
use crate::functions::DEPTH_MAX;
use crate::functions::tables::hash_of;

/// Most nanoseconds of all samples together: half of the range of a recording's clock.
const NS_MAX: u64 = u64::MAX / 4;

/// Samples of a program, as a tree of stacks.
#[derive(Clone, Debug)]
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
    effort: Effort,
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
    /// Number of its callers.
    pub depth: usize,
}

impl Samples {
    /// No samples yet, from a profile of some bytes.
    pub(super) fn new(period_ns: u64, bytes: &[u8]) -> Samples {
        Samples {
            functions: Vec::new(),
            frames: Vec::new(),
            period_ns,
            without_stack: 0,
            numbers: HashMap::new(),
            places: HashMap::new(),
            effort: Effort::of(bytes),
        }
    }

    /// Returns the index of a function, which is added if it is new.
    pub fn function(&mut self, name: &str, file: &str, module: &str) -> Result<usize> {
        let bytes = name.len() + file.len() + module.len();
        self.effort.look_up(bytes)?;
        let name = if name.is_empty() { "(no name)" } else { name };
        let library = module.rsplit(['/', '\\']).next().unwrap_or_default();
        let package = name
            .trim_start_matches(['<', '&'])
            .split("::")
            .next()
            .filter(|package| package.len() < name.len());
        let owner = if library.is_empty() { package.unwrap_or_default() } else { library };
        let function = Function {
            name: name.into(),
            file: file.into(),
            owner: owner.into(),
            module: module.into(),
        };
        if let Some(&known) = self.numbers.get(&function) {
            return Ok(known);
        }
        self.effort.keep(bytes)?;
        self.functions.push(function.clone());
        self.numbers.insert(function, self.functions.len() - 1);
        Ok(self.functions.len() - 1)
    }

    /// Returns the frame of a function below a caller's, which is added if it is new.
    pub fn frame(&mut self, caller: Option<usize>, function: usize, line: u32) -> Result<usize> {
        self.effort.look_up(0)?;
        if let Some(&known) = self.places.get(&(caller, function, line)) {
            return Ok(known);
        }
        let depth = caller.map_or(0, |caller| self.frames[caller].depth + 1);
        if depth >= DEPTH_MAX {
            return Err(error(format!(
                "it has a stack of more than {DEPTH_MAX} frames: limit the depth where it is taken"
            )));
        }
        if self.frames.len() >= FRAMES_MAX {
            return Err(error(format!(
                "it has more than {FRAMES_MAX} different frames: import a part of it"
            )));
        }
        self.frames.push(Frame { caller, function, line, own: 0, depth });
        self.places.insert((caller, function, line), self.frames.len() - 1);
        Ok(self.frames.len() - 1)
    }

    /// Adds samples to a frame, or to those without a stack.
    pub fn add(&mut self, frame: Option<usize>, samples: u64) -> Result<()> {
        let count = frame.map_or(&mut self.without_stack, |at| &mut self.frames[at].own);
        *count = count
            .checked_add(samples)
            .ok_or_else(|| error("its numbers are too large to be added up"))?;
        Ok(())
    }

    /// All samples.
    pub fn all(&self) -> Result<u64> {
        let sum = self
            .frames
            .iter()
            .try_fold(self.without_stack, |sum, frame| sum.checked_add(frame.own));
        sum.filter(|sum| sum.checked_mul(self.period_ns.max(1)).is_some_and(|ns| ns <= NS_MAX))
            .ok_or_else(|| error("its numbers are too large to be added up"))
    }

    /// Own and total samples of each function. A sample counts once for each function on its stack.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        let mut counts = vec![(0, 0); self.functions.len()];
        let mut totals: Vec<u64> = self.frames.iter().map(|frame| frame.own).collect();
        let mut callees = vec![Vec::new(); self.frames.len()];
        for (at, frame) in self.frames.iter().enumerate().rev() {
            counts[frame.function].0 += frame.own;
            if let Some(caller) = frame.caller {
                totals[caller] += totals[at];
                callees[caller].push(at);
            }
        }
        // Only the outermost frame of a function counts: how often each one is on the path to the
        // current frame.
        let mut open = vec![0_u32; self.functions.len()];
        let roots = (0..self.frames.len()).filter(|&at| self.frames[at].caller.is_none());
        let mut next: Vec<(usize, bool)> = roots.map(|root| (root, true)).collect();
        while let Some((at, is_entered)) = next.pop() {
            let function = self.frames[at].function;
            if !is_entered {
                open[function] -= 1;
                continue;
            }
            if open[function] == 0 {
                counts[function].1 += totals[at];
            }
            open[function] += 1;
            next.push((at, false));
            next.extend(callees[at].iter().map(|&callee| (callee, true)));
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
