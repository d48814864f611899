//! speedscope's file: the chains of causes with their calls, and with their self time.

use std::collections::HashMap;
use std::io::{self, Write};

use metaspy_reader::{Chain, ChainFrame, Chains, Store};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::{Exporter, Selection, Written, stacks};

/// The format of <https://www.speedscope.app>. The stack of a call is its chain of causes.
#[derive(Clone, Copy, Debug)]
pub struct Speedscope;

/// The schema that the document follows.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

#[derive(Serialize)]
struct Document<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    exporter: &'static str,
    #[serde(rename = "activeProfileIndex")]
    active: usize,
    shared: Shared<'a>,
    profiles: Vec<Profile<'a>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
struct Profile<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start: u64,
    #[serde(rename = "endValue")]
    end: u64,
    samples: Samples<'a>,
    weights: Vec<u64>,
}

/// The stacks, written one after the other.
struct Samples<'a> {
    chains: &'a Chains,
    numbers: &'a HashMap<ChainFrame, usize>,
    wanted: Vec<usize>,
}

impl Serialize for Samples<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.wanted.len()))?;
        for &at in &self.wanted {
            let frames: Vec<usize> = self.chains.frames(at).iter().map(|frame| self.numbers[frame]).collect();
            seq.serialize_element(&frames)?;
        }
        seq.end()
    }
}

impl Exporter<Selection<'_>> for Speedscope {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let Selection { store, .. } = *selection;
        let chains = stacks::read(selection)?;
        let mut numbers: HashMap<ChainFrame, usize> = HashMap::new();
        let mut frames = Vec::new();
        for Chain { frame, .. } in &chains.chains {
            numbers.entry(*frame).or_insert_with(|| {
                frames.push(self::frame(store, *frame));
                frames.len() - 1
            });
        }
        let profile = |name, unit, weight: &dyn Fn(&Chain) -> u64| {
            let weights: Vec<u64> = chains.chains.iter().map(weight).collect();
            let wanted: Vec<usize> = (0..weights.len()).filter(|at| weights[*at] > 0).collect();
            let end = weights.iter().sum();
            let weights = wanted.iter().map(|at| weights[*at]).collect();
            let samples = Samples { chains: &chains, numbers: &numbers, wanted };
            Profile { kind: "sampled", name, unit, start: 0, end, samples, weights }
        };
        let mut profiles = vec![profile("calls by chain of causes", "none", &|chain| chain.count)];
        if chains.timed {
            profiles
                .push(profile("self time by chain of causes", "nanoseconds", &|chain| store.span_ns(chain.self_ticks)));
        }
        let name = &store.program().name;
        let document = Document {
            schema: SCHEMA,
            name,
            exporter: concat!("metaspy ", env!("CARGO_PKG_VERSION")),
            active: profiles.len() - 1,
            shared: Shared { frames },
            profiles,
        };
        serde_json::to_writer(&mut *out, &document)?;
        writeln!(out)?;
        Ok(Written { events: chains.chains.iter().map(|chain| chain.count).sum(), notes: stacks::notes(&chains) })
    }
}

fn frame(store: &Store, frame: ChainFrame) -> Frame<'_> {
    let site = match frame {
        ChainFrame::Site(site) => store.site(site),
        _ => None,
    };
    let file = site.map(|site| site.file.as_str()).filter(|file| !file.is_empty());
    let line = file.and(site).map(|site| site.lines.0).filter(|line| *line > 0);
    Frame { name: stacks::name(store, frame), file, line }
}
