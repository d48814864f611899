//! Merged stacks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::{Before, FunctionValues, MEASURES};

/// Numbers of a frame, one for each measure.
pub type Values = [u64; MEASURES];

/// Place of the root, which is no function.
pub const ROOT: usize = usize::MAX;

/// Tree of stacks. The first frame is the root, and each frame follows its caller.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Frames.
    pub frames: Vec<Frame>,
    places: HashMap<(usize, usize), usize>,
}

/// Function on a path of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Index of the function.
    pub function: usize,
    /// Index of the caller's frame.
    pub caller: usize,
    /// Numbers without callees.
    pub own: Values,
    /// Numbers with callees.
    pub total: Values,
    /// The same in the earlier of two recordings.
    pub before: Before,
    /// True if the function is called in other places as well, and its callees are not known by
    /// place.
    pub is_part: bool,
}

/// Call of a function in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InTree {
    /// Index of the caller; `None` for the root.
    pub from: Option<usize>,
    /// Index of the function.
    pub to: usize,
    /// Numbers with callees.
    pub total: Values,
    /// True if no other frame of the function is above.
    pub is_outermost: bool,
}

impl Default for Tree {
    fn default() -> Self {
        Tree { frames: vec![Frame { function: ROOT, ..Frame::default() }], places: HashMap::new() }
    }
}

impl Tree {
    /// Returns the frame of a function below a caller's frame, which is added if it is new.
    pub fn child(&mut self, caller: usize, function: usize) -> usize {
        *self.places.entry((caller, function)).or_insert_with(|| {
            self.frames.push(Frame { function, caller, ..Frame::default() });
            self.frames.len() - 1
        })
    }

    /// Adds numbers to the innermost frame of a stack, outermost function first, and to those
    /// around it.
    pub fn add(&mut self, stack: impl IntoIterator<Item = usize>, own: Values) {
        let mut at = 0;
        self.frames[0].total = sum(self.frames[0].total, own);
        for function in stack {
            at = self.child(at, function);
            self.frames[at].total = sum(self.frames[at].total, own);
        }
        self.frames[at].own = sum(self.frames[at].own, own);
    }

    /// Makes totals of own numbers. Each frame follows its caller.
    pub fn add_up(&mut self) {
        self.frames.iter_mut().for_each(|frame| frame.total = frame.own);
        for at in (1..self.frames.len()).rev() {
            let Frame { caller, total, .. } = self.frames[at];
            self.frames[caller].total = sum(self.frames[caller].total, total);
        }
    }

    /// The frames below each frame, as the first places in the second list.
    pub(super) fn children(&self) -> (Vec<usize>, Vec<usize>) {
        let mut first = vec![0; self.frames.len() + 1];
        self.frames.iter().skip(1).for_each(|frame| first[frame.caller + 1] += 1);
        (1..first.len()).for_each(|at| first[at] += first[at - 1]);
        let mut next = first.clone();
        let mut all = vec![0; self.frames.len().saturating_sub(1)];
        for (at, frame) in self.frames.iter().enumerate().skip(1) {
            all[next[frame.caller]] = at;
            next[frame.caller] += 1;
        }
        (first, all)
    }

    /// The frames with their depth, each before those that it called, the heaviest first.
    pub(super) fn walk(&self) -> Vec<(usize, usize)> {
        let (first, mut all) = self.children();
        for caller in 0..self.frames.len() {
            all[first[caller]..first[caller + 1]]
                .sort_by_key(|&at| (Reverse(self.frames[at].total), self.frames[at].function));
        }
        let mut order = Vec::with_capacity(self.frames.len());
        let mut next = vec![(0, 0)];
        while let Some((at, depth)) = next.pop() {
            order.push((at, depth));
            next.extend(
                all[first[at]..first[at + 1]].iter().rev().map(|&child| (child, depth + 1)),
            );
        }
        order
    }

    /// The frames as calls, each with its caller's function and whether it is below another frame
    /// of its function.
    pub fn calls(&self) -> Vec<InTree> {
        let mut calls = Vec::with_capacity(self.frames.len());
        self.visit(|frame, is_outermost| {
            let caller = self.frames[frame.caller].function;
            let from = Some(caller).filter(|&caller| caller != ROOT);
            calls.push(InTree { from, to: frame.function, total: frame.total, is_outermost });
        });
        calls
    }

    /// Adds the numbers of each function. Frames below another one of their function are within its
    /// total.
    pub(super) fn add_rows(&self, rows: &mut BTreeMap<usize, FunctionValues>) {
        self.visit(|frame, is_outermost| {
            let row = rows.entry(frame.function).or_default();
            row.own = sum(row.own, frame.own);
            row.before.own = sum(row.before.own, frame.before.own);
            if is_outermost {
                row.total = sum(row.total, frame.total);
                row.before.total = sum(row.before.total, frame.before.total);
            }
        });
    }

    /// Visits the frames but the root, each with whether it is below no other frame of its
    /// function.
    fn visit(&self, mut visit: impl FnMut(&Frame, bool)) {
        let mut around: Vec<usize> = Vec::new();
        let mut open: HashMap<usize, usize> = HashMap::new();
        for (at, depth) in self.walk() {
            while around.len() > depth {
                let left = around.pop().expect("it is not empty");
                *open.get_mut(&left).expect("it was entered") -= 1;
            }
            let frame = &self.frames[at];
            let entered = open.entry(frame.function).or_default();
            if frame.function != ROOT {
                visit(frame, *entered == 0);
            }
            *entered += 1;
            around.push(frame.function);
        }
    }
}

/// The sums of two lists of numbers. Those of a damaged recording may be anything.
pub(super) fn sum(one: Values, other: Values) -> Values {
    std::array::from_fn(|at| one[at].saturating_add(other[at]))
}
