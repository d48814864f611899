//! Export for pprof (<https://github.com/google/pprof/blob/main/proto/profile.proto>): samples and
//! their time by stack, with lines, inlined functions, and labels for the thread and the recorded
//! event.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use metaspy_report::export::pprof::{Document, Function, Label, Line, Location, Sample, ValueType};
use metaspy_report::export::{Exporter, Written};
use prost::Message;

use crate::export::thread_name;
use crate::options::Clock;
use crate::profile::Profile;

/// Exporter for `go tool pprof` and for services that keep profiles. The output is not compressed.
#[derive(Clone, Copy, Debug)]
pub struct Pprof;

/// Table of distinct texts, whose first entry is empty, as the format requires.
struct Texts {
    all: Vec<String>,
    numbers: HashMap<String, i64>,
}

impl Texts {
    fn new() -> Texts {
        Texts { all: vec![String::new()], numbers: HashMap::from([(String::new(), 0)]) }
    }

    fn number(&mut self, text: &str) -> i64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }
}

impl Exporter<Profile> for Pprof {
    fn export(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<Written> {
        let run = &profile.run;
        let symbols = &profile.symbols;
        let mut texts = Texts::new();
        let mut kind = |name: &str, unit: &str| ValueType {
            kind: texts.number(name),
            unit: texts.number(unit),
        };
        let time = if run.options.clock == Clock::Wall { "wall" } else { "cpu" };
        let samples = kind("samples", "count");
        let time = kind(time, "nanoseconds");
        // The format numbers functions and locations from 1.
        let function = |(at, of): (usize, &crate::symbols::Function)| {
            let name = texts.number(&of.name);
            let filename = texts.number(of.file.as_deref().unwrap_or(""));
            Function { id: at as u64 + 1, name, system_name: name, filename }
        };
        let functions = symbols.functions.iter().enumerate().map(function).collect();
        let location = |(at, of): (usize, &crate::symbols::Resolved)| Location {
            id: at as u64 + 1,
            line: of
                .frames
                .iter()
                .map(|of| Line { function_id: u64::from(of.function) + 1, line: of.line.into() })
                .collect(),
            ..Location::default()
        };
        let mut counts: BTreeMap<(u32, u32, u32), i64> = BTreeMap::new();
        for sample in &run.samples.samples {
            *counts.entry((sample.stack, sample.thread, sample.events)).or_default() += 1;
        }
        let sample = |((stack, thread, events), count): ((u32, u32, u32), i64)| {
            let mut label =
                |key: &str, text: &str| Label { key: texts.number(key), text: texts.number(text) };
            let mut labels = vec![label("thread", &thread_name(profile, thread))];
            let innermost = run.samples.lists.get(events as usize).and_then(|list| list.last());
            if let Some(event) = innermost.map(|&at| &run.samples.events[at as usize]) {
                labels.push(label("site", &event.site));
                labels.extend(event.subject.as_ref().map(|subject| label("subject", subject)));
            }
            let frames = run.samples.stacks[stack as usize].frames.iter();
            Sample {
                location_id: frames.map(|&at| u64::from(at) + 1).collect(),
                value: vec![count, profile.ns(count as u64) as i64],
                label: labels,
            }
        };
        let sampled = counts.into_iter().map(sample).collect();
        let since = run.started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let document = Document {
            sample_type: vec![samples, time.clone()],
            sample: sampled,
            location: symbols.addresses.iter().enumerate().map(location).collect(),
            function: functions,
            string_table: texts.all,
            time_nanos: since.as_nanos() as i64,
            duration_nanos: run.elapsed.as_nanos() as i64,
            period_type: Some(time),
            period: profile.sample_ns as i64,
            ..Document::default()
        };
        out.write_all(&document.encode_to_vec())?;
        Ok(Written { events: profile.total(), notes: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sampled, profile};

    #[test]
    fn a_sample_has_its_stack_innermost_first_with_inlined_functions_as_lines() {
        let profile = profile(&[Sampled { count: 2, stack: "main:1 > outer:10 [inner:99]" }]);
        let mut bytes = Vec::new();
        Pprof.export(&profile, &mut bytes).expect("memory has room");
        let document = Document::decode(&*bytes).expect("it is a document");
        let [sample] = &document.sample[..] else { panic!("{:?}", document.sample) };
        let name = |line: &Line| {
            let function = &document.function[line.function_id as usize - 1];
            (document.string_table[function.name as usize].as_str(), line.line)
        };
        let lines = |id: &u64| {
            document.location[*id as usize - 1].line.iter().map(name).collect::<Vec<_>>()
        };
        let stack: Vec<_> = sample.location_id.iter().map(lines).collect();
        assert_eq!(stack, [vec![("inner", 99), ("outer", 10)], vec![("main", 1)]]);
        assert_eq!(
            (&sample.value[..], document.string_table[0].as_str()),
            (&[2, 2_000_000][..], "")
        );
    }
}
