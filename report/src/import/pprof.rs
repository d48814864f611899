//! pprof: <https://github.com/google/pprof/blob/main/proto/profile.proto>.
//!
//! An empty message is two bytes of a file and hundreds in memory. So samples are decoded one by
//! one, and tables have a most number of rows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use prost::Message;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::samples::Samples;
use super::{Content, FRAMES_MAX, Format, Imported, MIB, Result, error};
use crate::export::pprof::{Function, Location, Mapping, Sample, ValueType};
use crate::text::shorten;

/// Most bytes of a message within a profile.
const MESSAGE_MAX: usize = 16 * MIB as usize;
/// Most values of a sample.
const TYPES_MAX: usize = 64;
/// Most rows of all tables: texts, functions, files, locations and their lines.
const ROWS_MAX: usize = 4 * FRAMES_MAX;

/// The tables of a profile.
#[derive(Default)]
struct Tables<'b> {
    texts: Vec<&'b str>,
    types: Vec<ValueType>,
    functions: HashMap<u64, Function>,
    modules: HashMap<u64, i64>,
    locations: HashMap<u64, Location>,
    /// Name of the first file, which is the program.
    program: i64,
    period_type: Option<ValueType>,
    period: u64,
}

impl<'b> Tables<'b> {
    /// Reads all fields except samples.
    fn read(bytes: &'b [u8]) -> Result<Tables<'b>> {
        let mut tables = Tables::default();
        let mut rows = 0;
        for field in fields(bytes) {
            let (tag, value) = field?;
            match (tag, value) {
                (1, Value::Message(_)) if tables.types.len() >= TYPES_MAX => {
                    return Err(damaged("a sample has too many values"));
                }
                (1, Value::Message(of)) => tables.types.push(decoded(of)?),
                (3, Value::Message(of)) => {
                    let of: Mapping = decoded(of)?;
                    if tables.modules.is_empty() {
                        tables.program = of.filename;
                    }
                    tables.modules.insert(of.id, of.filename);
                }
                (4, Value::Message(of)) => {
                    let of: Location = decoded(of)?;
                    rows += of.line.len();
                    tables.locations.insert(of.id, of);
                }
                (5, Value::Message(of)) => {
                    let of: Function = decoded(of)?;
                    tables.functions.insert(of.id, of);
                }
                (6, Value::Message(text)) => {
                    tables.texts.push(std::str::from_utf8(text).map_err(damaged)?)
                }
                (11, Value::Message(of)) => tables.period_type = Some(decoded(of)?),
                (12, Value::Number(period)) => tables.period = period,
                _ => continue,
            }
            rows += 1;
            if rows > ROWS_MAX {
                return Err(error(format!(
                    "its tables have more than {ROWS_MAX} rows: import a part of it"
                )));
            }
        }
        Ok(tables)
    }

    fn text(&self, at: i64) -> &'b str {
        usize::try_from(at).ok().and_then(|at| self.texts.get(at)).copied().unwrap_or_default()
    }
}

/// Value of a field of a profile.
enum Value<'b> {
    Number(u64),
    Message(&'b [u8]),
    Other,
}

/// Fields of a message with their tags.
fn fields(mut left: &[u8]) -> impl Iterator<Item = Result<(u32, Value<'_>)>> {
    std::iter::from_fn(move || {
        if left.is_empty() {
            return None;
        }
        let field = field(&mut left);
        if field.is_err() {
            left = &[];
        }
        Some(field)
    })
}

fn field<'b>(left: &mut &'b [u8]) -> Result<(u32, Value<'b>)> {
    let (tag, wire) = decode_key(left).map_err(damaged)?;
    let value = match wire {
        WireType::Varint => Value::Number(decode_varint(left).map_err(damaged)?),
        WireType::LengthDelimited => {
            let length = decode_varint(left).map_err(damaged)?;
            let length = usize::try_from(length).ok().filter(|&length| length <= left.len());
            let (message, after) =
                left.split_at(length.ok_or_else(|| damaged("a message ends behind it"))?);
            *left = after;
            Value::Message(message)
        }
        _ => {
            skip_field(wire, tag, left, DecodeContext::default()).map_err(damaged)?;
            Value::Other
        }
    };
    Ok((tag, value))
}

fn decoded<M: Message + Default>(message: &[u8]) -> Result<M> {
    if message.len() > MESSAGE_MAX {
        return Err(damaged("a message has more than 16 MiB"));
    }
    M::decode(message).map_err(damaged)
}

fn damaged(why: impl std::fmt::Display) -> super::ImportError {
    error(format!("it is cut, damaged, or in no known format: as pprof, {why}"))
}

pub fn read(bytes: &[u8]) -> Result<Imported> {
    let tables = Tables::read(bytes)?;
    let text = |at: i64| tables.text(at);
    let types: Vec<(&str, &str)> =
        tables.types.iter().map(|of| (text(of.kind), text(of.unit))).collect();
    if types.is_empty() || tables.texts.is_empty() {
        return Err(error("it is no profile of pprof, and in no other known format"));
    }
    let measure = Measure::of(&tables, &types)?;
    let mut samples = Samples::new(measure.period_ns, bytes);
    let mut functions = HashMap::new();
    let mut dropped = 0;
    let mut has_labels = false;
    for field in fields(bytes) {
        let (2, Value::Message(sample)) = field? else { continue };
        let sample: Sample = decoded(sample)?;
        has_labels |= !sample.label.is_empty();
        let mut frame = None;
        for id in sample.location_id.iter().rev() {
            let location = tables.locations.get(id).ok_or_else(|| {
                error(format!("it is damaged: a stack has location {id}, which it lacks"))
            })?;
            let module = tables.modules.get(&location.mapping_id).map_or("", |&name| text(name));
            for line in location.line.iter().rev() {
                let of = tables.functions.get(&line.function_id).ok_or_else(|| {
                    error(format!(
                        "it is damaged: a location has function {}, which it lacks",
                        line.function_id
                    ))
                })?;
                let at = match functions.entry((line.function_id, location.mapping_id)) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(new) => {
                        *new.insert(samples.function(text(of.name), text(of.filename), module)?)
                    }
                };
                frame = Some(samples.frame(frame, at, u32::try_from(line.line).unwrap_or(0))?);
            }
            if location.line.is_empty() {
                let at = samples.function(&format!("0x{:x}", location.address), "", module)?;
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
    if has_labels {
        notes.push("labels of samples, such as threads, are left out".to_owned());
    }
    if types.len() > 1 {
        notes.push(format!("of its values, {} is imported", measure.name));
    }
    let program = text(tables.program).rsplit('/').next().unwrap_or_default().to_owned();
    Ok(Imported { format: Format::Pprof, program, content: Content::Samples(samples), notes })
}

/// The value of a sample that is read.
struct Measure {
    at: usize,
    name: String,
    period_ns: u64,
    /// The divisor that makes a value a number of samples.
    divisor: u64,
}

impl Measure {
    fn of(tables: &Tables<'_>, types: &[(&str, &str)]) -> Result<Measure> {
        let name =
            |(kind, unit): &(&str, &str)| format!("{} in {}", shorten(kind, 40), shorten(unit, 40));
        let names = types.iter().map(name).collect::<Vec<_>>().join(", ");
        let counts = types.iter().position(|&(kind, unit)| kind == "samples" && unit == "count");
        let times = types.iter().position(|(_, unit)| in_ns(unit).is_some());
        let refused = || {
            error(format!(
                "its values are {names}: metaspy imports samples with their time, so take a profile of processor or wall time"
            ))
        };
        let period = tables.period_type.as_ref().and_then(|of| in_ns(tables.text(of.unit)));
        // A negative number is an integer with its highest bit.
        let period_ns = period
            .filter(|_| tables.period <= i64::MAX as u64)
            .map(|ns| ns.saturating_mul(tables.period));
        let period_ns = period_ns.filter(|&ns| ns > 0);
        match (counts, times, period_ns) {
            (Some(at), _, Some(period_ns)) => {
                Ok(Measure { at, name: "samples".into(), period_ns, divisor: 1 })
            }
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
