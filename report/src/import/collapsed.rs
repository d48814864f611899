//! Collapsed stacks: a line for each stack, `root;…;leaf samples`.

use super::samples::Samples;
use super::{Content, Format, Imported, Result, error, lines};

/// Longest line. A file without lines is of no such tool.
const LINE_MAX: usize = 1 << 20;

pub fn read(bytes: &[u8], period_ns: Option<u64>) -> Result<Imported> {
    let mut samples = Samples::new(period_ns.unwrap_or(0), bytes);
    for line in lines(bytes) {
        let (number, line) = line?;
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = || {
            error(format!(
                "line {number} is no collapsed stack, `main;parse;read 17`: metaspy imports collapsed stacks, the \
                 text of `perf script`, pprof, the Firefox Profiler's JSON and callgrind's output"
            ))
        };
        let (stack, count) = line
            .trim_end()
            .rsplit_once([' ', '\t'])
            .filter(|_| line.len() <= LINE_MAX)
            .ok_or_else(wrong)?;
        let count: u64 = count.parse().map_err(|_| wrong())?;
        let mut frame = None;
        for name in stack.trim_end().split(';').filter(|name| !name.is_empty()) {
            let function = samples.function(name, "", "")?;
            frame = Some(samples.frame(frame, function, 0)?);
        }
        samples.add(frame, count)?;
    }
    if period_ns.is_none() {
        return Err(error(
            "collapsed stacks do not state what their numbers are: --period 1ms for samples at 1,000 Hz, \
             --period 1ns for nanoseconds",
        ));
    }
    Ok(Imported {
        format: Format::Collapsed,
        program: String::new(),
        content: Content::Samples(samples),
        notes: Vec::new(),
    })
}
