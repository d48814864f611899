//! Table of methods: self and total time with percentages and the sampling error, and the callers
//! and callees.

use std::io::{self, Write};

use metaspy_report::table::Column;
use metaspy_report::text::{clean, shorten_path, time};

use crate::options::Clock;
use crate::profile::{Edge, Method, Profile};
use crate::text::{time_columns, write_table};

/// Width of a name, in columns.
const NAME: usize = 60;
/// Maximum number of callers, and of callees, of a method.
const EDGES: usize = 5;

/// Row of the table: a name with its self and total samples. A caller or callee has a single
/// number.
struct Line {
    name: String,
    own: Option<u64>,
    total: u64,
    /// Processor time, in ns.
    own_cpu: Option<u64>,
}

/// Writes the methods with the most self time.
pub fn write(out: &mut dyn Write, profile: &Profile, top: usize, callers: bool) -> io::Result<()> {
    let mut methods = if callers { profile.methods_and_calls() } else { profile.methods() };
    if !callers {
        methods.retain(|method| method.self_samples > 0);
    }
    methods.sort_by_key(|method| {
        (std::cmp::Reverse(method.self_samples), std::cmp::Reverse(method.total_samples))
    });
    let count = methods.len();
    methods.truncate(top);
    let lines: Vec<Line> =
        methods.iter().flat_map(|method| lines(profile, method, callers)).collect();
    let mut columns = time_columns(profile, lines.iter().map(|line| (line.own, line.total)));
    // Samples of the wall clock include waits.
    if profile.run.options.clock == Clock::Wall {
        let cpu = lines.iter().map(|line| line.own_cpu.map_or(String::new(), time));
        columns.insert(3, Column::numbers("self cpu", cpu).at_least(9));
    }
    columns.push(Column::words("method", lines.iter().map(|line| line.name.clone())));
    writeln!(out, "\nMethods, inlined or not; ± is the error of sampling with 95 % probability")?;
    write_table(out, columns, count - methods.len())
}

fn lines(profile: &Profile, method: &Method, callers: bool) -> Vec<Line> {
    let name = |function: u32| {
        shorten_path(&clean(&profile.symbols.functions[function as usize].name), NAME)
    };
    let mut lines = Vec::new();
    let edge = |word: &'static str| {
        move |edge: &Edge| Line {
            name: format!("  {word} {}", name(edge.function)),
            own: None,
            total: edge.samples,
            own_cpu: None,
        }
    };
    lines.push(Line {
        name: name(method.function),
        own: Some(method.self_samples),
        total: method.total_samples,
        own_cpu: Some(method.self_cpu_ns),
    });
    if callers {
        lines.extend(method.callers.iter().take(EDGES).map(edge("from")));
        lines.extend(method.callees.iter().take(EDGES).map(edge("calls")));
    }
    lines
}
