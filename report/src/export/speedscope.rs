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

/// The document, for stacks that are serialized as `S`.
#[derive(Serialize)]
pub struct Document<'a, S> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: &'a str,
    exporter: &'static str,
    #[serde(rename = "activeProfileIndex", skip_serializing_if = "Option::is_none")]
    active: Option<usize>,
    shared: Shared<'a>,
    profiles: Vec<Profile<S>>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Frame<'a>>,
}

/// A frame, which stacks name by its place in the document.
#[derive(Serialize)]
pub struct Frame<'a> {
    /// The name of the function or the site.
    pub name: &'a str,
    /// The file of its source, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'a str>,
    /// The line in the file, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// Stacks with their weights.
#[derive(Serialize)]
pub struct Profile<S> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    unit: &'static str,
    #[serde(rename = "startValue")]
    start: u64,
    #[serde(rename = "endValue")]
    end: u64,
    samples: S,
    weights: Vec<u64>,
}

impl<'a, S: Serialize> Document<'a, S> {
    /// A document about a program.
    pub fn new(name: &'a str, frames: Vec<Frame<'a>>, profiles: Vec<Profile<S>>) -> Self {
        Document {
            schema: "https://www.speedscope.app/file-format-schema.json",
            name,
            exporter: concat!("metaspy ", env!("CARGO_PKG_VERSION")),
            active: None,
            shared: Shared { frames },
            profiles,
        }
    }

    /// Writes the document.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }
}

impl<S> Profile<S> {
    /// The stacks of `samples`, one for each weight.
    pub fn new(name: impl Into<String>, unit: &'static str, samples: S, weights: Vec<u64>) -> Self {
        let end = weights.iter().sum();
        Profile { kind: "sampled", name: name.into(), unit, start: 0, end, samples, weights }
    }
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
            let frames: Vec<usize> =
                self.chains.frames(at).iter().map(|frame| self.numbers[frame]).collect();
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
        let profile = |name: &str, unit, weight: &dyn Fn(&Chain) -> u64| {
            let weights: Vec<u64> = chains.chains.iter().map(weight).collect();
            let wanted: Vec<usize> = (0..weights.len()).filter(|at| weights[*at] > 0).collect();
            let weights = wanted.iter().map(|at| weights[*at]).collect();
            Profile::new(
                name,
                unit,
                Samples { chains: &chains, numbers: &numbers, wanted },
                weights,
            )
        };
        let mut profiles = vec![profile("calls by chain of causes", "none", &|chain| chain.count)];
        if chains.timed {
            profiles.push(profile("self time by chain of causes", "nanoseconds", &|chain| {
                store.span_ns(chain.self_ticks)
            }));
        }
        let active = Some(profiles.len() - 1);
        Document { active, ..Document::new(&store.program().name, frames, profiles) }.write(out)?;
        Ok(Written {
            events: chains.chains.iter().map(|chain| chain.count).sum(),
            notes: stacks::notes(&chains),
        })
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
