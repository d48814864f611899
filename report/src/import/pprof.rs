//! pprof: <https://github.com/google/pprof/blob/main/proto/profile.proto>.

use std::collections::HashMap;

use prost::Message;

use super::samples::Samples;
use super::{Content, Format, Imported, Result, error};
use crate::export::pprof::{Document, Function, Location};

pub fn read(bytes: &[u8]) -> Result<Imported> {
    let document = Document::decode(bytes)
        .map_err(|why| error(format!("it is cut, damaged, or in no known format: as pprof, {why}")))?;
    let text =
        |at: i64| usize::try_from(at).ok().and_then(|at| document.string_table.get(at)).map_or("", String::as_str);
    let types: Vec<(&str, &str)> = document.sample_type.iter().map(|of| (text(of.kind), text(of.unit))).collect();
    if types.is_empty() || document.string_table.is_empty() {
        return Err(error("it is no profile of pprof, and in no other known format"));
    }
    let measure = Measure::of(&document, &types, text)?;
    let functions: HashMap<u64, &Function> = document.function.iter().map(|of| (of.id, of)).collect();
    let modules: HashMap<u64, &str> = document.mapping.iter().map(|of| (of.id, text(of.filename))).collect();
    let locations: HashMap<u64, &Location> = document.location.iter().map(|of| (of.id, of)).collect();
    let mut samples = Samples { period_ns: measure.period_ns, ..Samples::default() };
    let mut dropped = 0;
    for sample in &document.sample {
        let mut frame = None;
        for id in sample.location_id.iter().rev() {
            let location = locations
                .get(id)
                .ok_or_else(|| error(format!("it is damaged: a stack has location {id}, which it lacks")))?;
            let module = modules.get(&location.mapping_id).copied().unwrap_or_default();
            for line in location.line.iter().rev() {
                let of = functions.get(&line.function_id).ok_or_else(|| {
                    error(format!("it is damaged: a location has function {}, which it lacks", line.function_id))
                })?;
                let at = samples.function(text(of.name), text(of.filename), module);
                frame = Some(samples.frame(frame, at, u32::try_from(line.line).unwrap_or(0))?);
            }
            if location.line.is_empty() {
                let at = samples.function(&format!("0x{:x}", location.address), "", module);
                frame = Some(samples.frame(frame, at, 0)?);
            }
        }
        let value = sample.value.get(measure.at).copied().unwrap_or(0);
        match u64::try_from(value) {
            Ok(value) => samples.add(frame, value / measure.divisor)?,
            Err(_) => dropped += 1,
        }
    }
    let mut notes = Vec::new();
    if dropped > 0 {
        return Err(error(format!(
            "{dropped} of its samples are negative: it is a difference of two profiles; import each of them"
        )));
    }
    if document.sample.iter().any(|sample| !sample.label.is_empty()) {
        notes.push("labels of samples, such as threads, are left out".to_owned());
    }
    if types.len() > 1 {
        notes.push(format!("of its values, {} is imported", measure.name));
    }
    let program = document.mapping.first().map(|of| text(of.filename)).unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default().to_owned();
    Ok(Imported { format: Format::Pprof, program, content: Content::Samples(samples), notes })
}

/// The value of a sample that is read.
struct Measure {
    at: usize,
    name: String,
    period_ns: u64,
    /// What a value is divided by to be a number of samples.
    divisor: u64,
}

impl Measure {
    fn of<'d>(document: &'d Document, types: &[(&str, &str)], text: impl Fn(i64) -> &'d str) -> Result<Measure> {
        let names = types.iter().map(|(kind, unit)| format!("{kind} in {unit}")).collect::<Vec<_>>().join(", ");
        let counts = types.iter().position(|&(kind, unit)| kind == "samples" && unit == "count");
        let times = types.iter().position(|(_, unit)| in_ns(unit).is_some());
        let refused = || {
            error(format!(
                "its values are {names}: metaspy imports samples with their time, so take a profile of processor or wall time"
            ))
        };
        let period = document.period_type.as_ref().and_then(|of| in_ns(text(of.unit)));
        let period_ns = period.zip(u64::try_from(document.period).ok()).map(|(ns, period)| ns.saturating_mul(period));
        let period_ns = period_ns.filter(|&ns| ns > 0);
        match (counts, times, period_ns) {
            (Some(at), _, Some(period_ns)) => Ok(Measure { at, name: "samples".into(), period_ns, divisor: 1 }),
            (None, Some(at), Some(period_ns)) => {
                let unit = in_ns(types[at].1).unwrap_or(1);
                let divisor = (period_ns / unit).max(1);
                Ok(Measure { at, name: types[at].0.into(), period_ns, divisor })
            }
            (Some(_), Some(_), None) | (None, Some(_), None) => Err(error(
                "it does not state its period, the time of a sample: convert it with `go tool pprof -raw`, or import collapsed stacks",
            )),
            _ => Err(refused()),
        }
    }
}

/// Nanoseconds of a unit of time.
fn in_ns(unit: &str) -> Option<u64> {
    match unit {
        "nanoseconds" | "ns" => Some(1),
        "microseconds" | "us" => Some(1_000),
        "milliseconds" | "ms" => Some(1_000_000),
        "seconds" | "s" => Some(1_000_000_000),
        _ => None,
    }
}
