//! Flame graph as a page for a browser: each frame is as wide as its samples, and callers are above
//! callees.
//!
//! If a sampled process records, a second graph begins with the subjects: the object that the time
//! was for, then the code. A strip in each frame divides it by the lines of its function.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use metaspy_report::export::{Exporter, Written};
use metaspy_report::source_line::SourceFiles;
use metaspy_report::text::{clean, json_in_page, shorten};
use serde::Serialize;
use serde::ser::{SerializeTuple, Serializer};

use crate::profile::Profile;
use crate::samples::UNKNOWN;
use crate::symbols::Category;

/// Template of the page, with a marker in place of the data.
const PAGE: &str = include_str!("flame.html");
/// Marker that the data replace in [`PAGE`].
const MARK: &str = "/*DATA*/";
/// Smallest share of all samples that a node needs, as a divisor. Smaller nodes would be invisible.
const LEAST: u64 = 10_000;
/// Maximum number of source lines for a function.
const LINES: usize = 12;
/// Maximum columns of a source line.
const COLUMNS: usize = 100;

#[derive(Serialize)]
struct Data<'a> {
    title: String,
    total: u64,
    period_ns: u64,
    /// Names of the kinds of frames: owners of code, then recorded events.
    kinds: Vec<&'static str>,
    /// Name, file and kind index of each function.
    names: Vec<(&'a str, &'a str, usize)>,
    /// Source lines by index of the function: line number, samples, text.
    lines: BTreeMap<usize, Vec<(u32, u64, String)>>,
    code: &'a Node,
    #[serde(skip_serializing_if = "Option::is_none")]
    subjects: Option<&'a Node>,
}

/// Frame with its samples and its callees.
#[derive(Default)]
struct Node {
    name: usize,
    samples: u64,
    children: Vec<Node>,
    /// Index of each child, by its name's index.
    places: HashMap<usize, usize>,
}

/// The form is `[name, samples, children]`.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(3)?;
        tuple.serialize_element(&self.name)?;
        tuple.serialize_element(&self.samples)?;
        tuple.serialize_element(&self.children)?;
        tuple.end()
    }
}

impl Node {
    /// Adds samples to the frames of a stack, outermost first.
    fn add(&mut self, frames: impl Iterator<Item = usize>, samples: u64) {
        let mut node = self;
        node.samples += samples;
        for name in frames {
            let Node { children, places, .. } = node;
            let at = *places.entry(name).or_insert_with(|| {
                children.push(Node { name, ..Node::default() });
                children.len() - 1
            });
            node = &mut children[at];
            node.samples += samples;
        }
    }

    /// Removes small frames, and sorts the rest by size, the largest first.
    fn finish(&mut self, least: u64) {
        self.children.retain(|child| child.samples >= least);
        self.children.sort_by_key(|child| (std::cmp::Reverse(child.samples), child.name));
        self.children.iter_mut().for_each(|child| child.finish(least));
    }
}

/// Exporter of a flame graph as an HTML page.
#[derive(Clone, Copy, Debug)]
pub struct Flame;

impl Exporter<Profile> for Flame {
    fn export(&self, profile: &Profile, out: &mut dyn Write) -> io::Result<Written> {
        let samples = &profile.run.samples;
        let kind = |category: Category| Category::ALL.iter().position(|&it| it == category).unwrap_or(0);
        let event_kind = Category::ALL.len();
        let functions = &profile.symbols.functions;
        let labels: Vec<String> =
            samples.events.iter().map(|event| event_label(&event.site, event.subject.as_deref())).collect();
        let whole = functions.len() + labels.len();
        let mut names: Vec<(&str, &str, usize)> = Vec::with_capacity(whole + 3);
        names
            .extend(functions.iter().map(|of| (of.name.as_str(), of.file.as_deref().unwrap_or(""), kind(of.category))));
        names.extend(labels.iter().map(|label| (label.as_str(), "", event_kind)));
        names.push(("all", "", kind(Category::Unknown)));
        names.push(("in no recorded event", "", kind(Category::Unknown)));
        names.push(("in events that left the window", "", kind(Category::Unknown)));

        let mut counts: HashMap<(u32, u32), u64> = HashMap::new();
        samples.samples.iter().for_each(|sample| *counts.entry((sample.events, sample.stack)).or_default() += 1);
        let root = || Node { name: whole, ..Node::default() };
        let (mut code, mut subjects) = (root(), root());
        for ((events, stack), count) in counts {
            let mut frames: Vec<usize> = profile.methods_of(stack).map(|function| function as usize).collect();
            frames.reverse();
            code.add(frames.iter().copied(), count);
            let around: Vec<usize> = match samples.lists.get(events as usize).filter(|list| !list.is_empty()) {
                Some(list) => list.iter().map(|&event| functions.len() + event as usize).collect(),
                None => vec![whole + if events == UNKNOWN { 2 } else { 1 }],
            };
            subjects.add(around.into_iter().chain(frames), count);
        }
        let least = (profile.total() / LEAST).max(1);
        code.finish(least);
        subjects.finish(least);
        let data = Data {
            title: format!("{}: {} samples", profile.run.target.join(" "), profile.total()),
            total: profile.total(),
            period_ns: profile.sample_ns,
            kinds: Category::ALL.iter().map(|category| category.name()).chain(["recorded events"]).collect(),
            names,
            lines: lines(profile, least),
            code: &code,
            subjects: (!samples.events.is_empty()).then_some(&subjects),
        };
        let json = json_in_page(&serde_json::to_string(&data)?);
        let (before, behind) = PAGE.split_once(MARK).unwrap_or((PAGE, ""));
        [before, &json, behind].iter().try_for_each(|part| out.write_all(part.as_bytes()))?;
        Ok(Written { events: profile.total(), notes: Vec::new() })
    }
}

/// Collects the lines with the most samples for each function that is not too small, in source
/// order.
fn lines(profile: &Profile, least: u64) -> BTreeMap<usize, Vec<(u32, u64, String)>> {
    let mut sources = SourceFiles::default();
    let of_function = |(function, lines): (u32, BTreeMap<u32, u64>)| {
        let mut lines: Vec<(u32, u64)> = lines.into_iter().filter(|&(_, samples)| samples >= least).collect();
        lines.sort_by_key(|&(line, samples)| (std::cmp::Reverse(samples), line));
        lines.truncate(LINES);
        lines.sort_unstable();
        let file = profile.symbols.functions[function as usize].file.as_deref().unwrap_or("");
        let text = |(line, samples)| {
            let source = sources.line(file, line).unwrap_or("").trim();
            (line, samples, shorten(&clean(source), COLUMNS))
        };
        (function as usize, lines.into_iter().map(text).collect::<Vec<_>>())
    };
    profile.lines().into_iter().map(of_function).filter(|(_, lines)| !lines.is_empty()).collect()
}

/// Formats the label of an event: `Scene::layout #412 <p>`.
fn event_label(site: &str, subject: Option<&str>) -> String {
    let site = metaspy_report::text::short_path(site);
    subject.map_or_else(|| site.to_owned(), |subject| format!("{site} {subject}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Sampled, profile};

    #[test]
    fn the_page_has_a_tree_whose_frames_add_up() {
        let profile = profile(&[
            Sampled { count: 3, stack: "main:1 > </script>:10 [inner:99]" },
            Sampled { count: 2, stack: "main:2 > </script>:11" },
            Sampled { count: 1, stack: "main:7" },
        ]);
        let mut page = Vec::new();
        Flame.export(&profile, &mut page).expect("memory has room");
        let page = String::from_utf8(page).expect("a page is text");
        let (_, rest) = page.split_once("application/json\">").expect("the page has data");
        let (json, _) = rest.split_once("</script>").expect("the data ends");
        let data: serde_json::Value = serde_json::from_str(json).expect("the data is JSON");
        let name = |node: &serde_json::Value| data["names"][node[0].as_u64().expect("a number") as usize][0].clone();
        let main = &data["code"][2][0];
        let outer = &main[2][0];
        assert_eq!((name(&data["code"]), name(main), name(outer)), ("all".into(), "main".into(), "</script>".into()));
        assert_eq!([&data["code"][1], &main[1], &outer[1], &outer[2][0][1]], [6, 6, 5, 3]);
        let lines = &data["lines"][outer[0].to_string()];
        assert_eq!(lines, &serde_json::json!([[10, 3, ""], [11, 2, ""]]));
        assert!(data.get("subjects").is_none() && data["total"] == 6);
    }
}
