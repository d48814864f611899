//! Callgrind's output: <https://valgrind.org/docs/manual/cl-format.html>.
//!
//! It has the cost of each function's own code, and of its calls by caller, with their callees.
//! Within a recursion it adds up the cost of each level, so calls within one have no instructions
//! here.

use std::collections::HashMap;

use super::{Content, Effort, FRAMES_MAX, Format, ImportError, Imported, Result, error, lines};
use crate::text::counted;

/// Calls and instructions of a program.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    /// Functions.
    pub functions: Vec<Called>,
    /// Calls by caller and callee.
    pub edges: HashMap<(usize, usize), Cost>,
    numbers: HashMap<String, usize>,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    /// Path.
    pub name: String,
    /// File of the source; empty if it is not known.
    pub file: String,
    /// First line with a cost; 0 if it is not known.
    pub line: u32,
    /// Instructions in its own code.
    pub own: u64,
}

/// Calls from one function to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Calls.
    pub calls: u64,
    /// Instructions of the calls, with their callees.
    pub instructions: u64,
}

/// The state of reading the lines: the position that they refer to, and the calls so far.
struct Reader {
    calls: Calls,
    effort: Effort,
    /// Why a line of a known form cannot be read.
    failure: Option<ImportError>,
    /// Names by their number in the file, by sort of name.
    names: HashMap<(char, u64), String>,
    file: String,
    function: Option<usize>,
    callee_file: Option<String>,
    callee: Option<String>,
    /// Count of the call whose cost is in the next line.
    call: Option<u64>,
    /// Columns of a line before its costs, and the last values of these.
    positions: usize,
    last: Vec<u64>,
    /// Column of the line in the source.
    line: Option<usize>,
    event: String,
}

pub fn read(bytes: &[u8]) -> Result<Imported> {
    let mut reader = Reader {
        calls: Calls::default(),
        effort: Effort::of(bytes),
        failure: None,
        names: HashMap::new(),
        file: String::new(),
        function: None,
        callee_file: None,
        callee: None,
        call: None,
        positions: 1,
        last: vec![0],
        line: Some(0),
        event: String::new(),
    };
    let mut program = String::new();
    let mut has_summary = false;
    for line in lines(bytes) {
        let (number, line) = line?;
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(command) = line.strip_prefix("cmd:") {
            let path = command.trim().split(' ').next().unwrap_or_default();
            program = path.rsplit('/').next().unwrap_or_default().to_owned();
        }
        has_summary |= line.starts_with("summary:") || line.starts_with("totals:");
        let unknown =
            || error(format!("line {number} is none of callgrind's output: {}", shortened(line)));
        reader.line(line).ok_or_else(|| reader.failure.take().unwrap_or_else(unknown))?;
        if reader.calls.functions.len() > FRAMES_MAX / 2 {
            return Err(error(format!("it has more than {} functions", FRAMES_MAX / 2)));
        }
    }
    if reader.event.is_empty() || reader.calls.functions.is_empty() {
        return Err(error("it is cut: it has no events, or no function"));
    }
    if reader.event != "Ir" {
        let event = &reader.event;
        return Err(error(format!(
            "its first event is {event}, and metaspy imports instructions (Ir): `callgrind`, or `cachegrind` with calls"
        )));
    }
    if !has_summary {
        return Err(error("it is cut: it ends without `totals:`"));
    }
    let mut calls = reader.calls;
    let recursive = calls.leave_out_recursion();
    let mut notes = Vec::new();
    if recursive > 0 {
        let pairs = counted(recursive, "pair");
        notes.push(format!(
            "the instructions of {pairs} of caller and callee in recursions are left out: callgrind adds up each level"
        ));
    }
    Ok(Imported { format: Format::Callgrind, program, content: Content::Calls(calls), notes })
}

fn shortened(line: &str) -> String {
    crate::text::shorten(&crate::text::clean(line), 60)
}

impl Reader {
    /// Reads a line. `None` if it has no known form.
    fn line(&mut self, line: &str) -> Option<()> {
        if line
            .starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '*'))
        {
            return self.cost(line);
        }
        if let Some((key, value)) = line.split_once('=') {
            match key {
                "fl" | "fi" | "fe" => self.file = self.name('f', value)?,
                "fn" => {
                    let name = self.name('n', value)?;
                    let file = self.file.clone();
                    self.function = Some(self.function(&name, &file)?);
                }
                "cfi" | "cfl" => self.callee_file = Some(self.name('f', value)?),
                "cfn" => self.callee = Some(self.name('n', value)?),
                "ob" | "cob" => _ = self.name('o', value)?,
                "calls" => self.call = Some(value.split_whitespace().next()?.parse().ok()?),
                "jump" | "jcnd" | "jfi" | "jfn" => {}
                _ => return None,
            }
            return Some(());
        }
        let (key, value) = line.split_once(':')?;
        match key {
            "events" => self.event = value.split_whitespace().next()?.to_owned(),
            "positions" => {
                let columns: Vec<&str> = value.split_whitespace().collect();
                (self.positions, self.line) =
                    (columns.len(), columns.iter().position(|column| *column == "line"));
                self.last = vec![0; self.positions];
            }
            _ => {}
        }
        Some(())
    }

    /// A name: `(3) name` gives a number, which `(3)` stands for.
    fn name(&mut self, sort: char, value: &str) -> Option<String> {
        let Some(rest) = value.strip_prefix('(') else { return Some(value.to_owned()) };
        let (number, name) = rest.split_once(')')?;
        // A name may begin with a parenthesis.
        let Ok(number) = number.parse() else { return Some(value.to_owned()) };
        match name.trim() {
            "" => {
                let known = self.names.get(&(sort, number))?;
                self.effort.look_up(known.len()).map_err(|why| self.failure = Some(why)).ok()?;
                Some(known.clone())
            }
            name => {
                self.names.insert((sort, number), name.to_owned());
                Some(name.to_owned())
            }
        }
    }

    fn function(&mut self, name: &str, file: &str) -> Option<usize> {
        let bytes = name.len() + file.len();
        let before = self.calls.functions.len();
        let at = self.calls.function(name, file);
        let looked_up = self.effort.look_up(bytes);
        let kept = if at < before { Ok(()) } else { self.effort.keep(bytes) };
        looked_up.and(kept).map_err(|why| self.failure = Some(why)).ok()?;
        Some(at)
    }

    /// Positions, relative to the line before or not, and the first cost.
    fn cost(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_whitespace();
        for at in 0..self.positions {
            let word = words.next()?;
            let number = |word: &str| match word.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok(),
                None => word.parse().ok(),
            };
            self.last[at] = match word.as_bytes()[0] {
                b'*' => self.last[at],
                b'+' => self.last[at].checked_add(number(&word[1..])?)?,
                b'-' => self.last[at].checked_sub(number(&word[1..])?)?,
                _ => number(word)?,
            };
        }
        let cost: u64 = words.next().map_or(Some(0), |word| word.parse().ok())?;
        let function = self.function?;
        match self.call.take() {
            Some(calls) => {
                let file = self.callee_file.take().unwrap_or_else(|| self.file.clone());
                let callee = self.callee.take()?;
                let callee = self.function(&callee, &file)?;
                let edge = self.calls.edges.entry((function, callee)).or_default();
                edge.calls = edge.calls.checked_add(calls)?;
                edge.instructions = edge.instructions.checked_add(cost)?;
            }
            None => {
                let of = &mut self.calls.functions[function];
                of.own = of.own.checked_add(cost)?;
                let line = self.line.map_or(0, |at| u32::try_from(self.last[at]).unwrap_or(0));
                if line > 0 && (of.line == 0 || line < of.line) {
                    of.line = line;
                }
            }
        }
        Some(())
    }
}

impl Calls {
    fn function(&mut self, name: &str, file: &str) -> usize {
        let file = if file == "???" { "" } else { file };
        // Code that is inlined into a function stands in other files, so a function is known by its
        // name.
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        self.functions.push(Called {
            name: name.to_owned(),
            file: file.to_owned(),
            line: 0,
            own: 0,
        });
        self.numbers.insert(name.to_owned(), self.functions.len() - 1);
        self.functions.len() - 1
    }

    /// Forgets the instructions of calls within recursions. Returns the number of pairs.
    fn leave_out_recursion(&mut self) -> u64 {
        let groups = groups(self.functions.len(), self.edges.keys().copied());
        let within = self.edges.iter_mut().filter(|((from, to), _)| groups[*from] == groups[*to]);
        within.map(|(_, cost)| cost.instructions = 0).count() as u64
    }
}

/// The number of each function's group: functions that lead to each other are in one (Kosaraju).
fn groups(functions: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> Vec<usize> {
    let mut callees = vec![Vec::new(); functions];
    let mut callers = vec![Vec::new(); functions];
    for (from, to) in edges {
        callees[from].push(to);
        callers[to].push(from);
    }
    let mut seen = vec![false; functions];
    let mut order = Vec::new();
    for start in 0..functions {
        let mut open = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((at, next)) = open.last_mut() {
            match callees[*at].get(*next) {
                Some(&callee) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[callee], true) {
                        open.push((callee, 0));
                    }
                }
                None => {
                    order.push(*at);
                    open.pop();
                }
            }
        }
    }
    let mut group = vec![usize::MAX; functions];
    for start in order.into_iter().rev() {
        let mut next = vec![start];
        while let Some(at) = next.pop() {
            if group[at] == usize::MAX {
                group[at] = start;
                next.extend(&callers[at]);
            }
        }
    }
    group
}
