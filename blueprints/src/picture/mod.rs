//! Pictures: each maps numbers of methods to the height, width and fill of boxes.
//!
//! The encodings come from the papers, and differ where trials on Rust crates showed a need:
//! containment instead of a tree of classes, a bar of own time, "(program)" above all entries,
//! folded chains. `docs/blueprints.md` explains them.

mod behavioural;
mod boxes;
mod caching;
mod call_tree;
mod calls;
mod coverage;
mod domain;
mod evolution;
mod grammar;
mod named;
mod stated;
mod strip;
mod structural;
mod viewed;

use std::fmt;

use metaspy_report::findings::Findings;
use metaspy_report::text::{counted, time};

pub use domain::draw as draw_domain;
pub use evolution::{draw as draw_evolution, findings};
pub use grammar::draw as draw_grammar;
pub use strip::draw as draw_strip;
pub use viewed::draw as draw_viewed;

use crate::graph::Graph;
use crate::scene::{Fill, Kind, Scene, Sign};

/// Minimum share of the time for a box to have a label that can be read when a page shows the whole
/// picture.
const LABELLED: f64 = 0.02;

/// Settings that all pictures share.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the recording, shown in the title.
    pub title: String,
    /// Minimum share of the root's time. A behavioural blueprint leaves out methods with less.
    pub threshold: f64,
    /// Findings of the recording, which the picture states and marks; `None` if nobody looked for
    /// any.
    pub findings: Option<Findings>,
}

/// Reason why a picture cannot be drawn. Its message states which data are missing, and how to
/// record them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PictureError {
    /// The recording has no method.
    NoMethods,
    /// No method ran.
    NothingRan,
    /// No stored event passes the filter. This number of calls may pass it, but they left no event.
    NotStored(u64),
    /// No call was timed.
    NoTimes,
    /// No callers were recorded.
    NoCallers,
    /// There is only one version.
    OneVersion,
    /// The recording has no production.
    NoGrammar,
    /// There is no view.
    NoView,
    /// A view places methods, and the kind of picture has its own places.
    NoPlaces,
    /// A view is given for a kind of picture that has none.
    NoViewOfKind,
    /// Objects on the heap were not counted in both versions.
    NoObjects,
    /// Instructions were not counted in both versions.
    NoInstructions,
    /// The versions have no method in common.
    Strangers,
}

impl Default for Options {
    fn default() -> Self {
        Options { title: "a run".into(), threshold: 0.01, findings: None }
    }
}

impl fmt::Display for PictureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PictureError::NoMethods => f.write_str(
                "the recording has no methods: record a program with #[observe], or one that `cargo metaspy` built",
            ),
            PictureError::NothingRan => f.write_str("nothing ran that has a hook: check what was selected"),
            PictureError::NotStored(calls) => write!(
                f,
                "no stored event passes the filter, and {} have no event: of these only site, subject, outcome and number are known; \
                 record events, or filter by site: and subject:",
                counted(*calls, "call")
            ),
            PictureError::NoTimes => f.write_str(
                "no call was timed, and the height of a box is time: record with `--timed`, or with METASPY_PROFILE=calls; \
                 with a --filter for more than sites, it is the time of stored events, so record without METASPY_MODE=tally",
            ),
            PictureError::NoCallers => f.write_str(
                "no callers were recorded: record with `--timed`, or with METASPY_PROFILE=calls",
            ),
            PictureError::OneVersion => f.write_str(
                "an evolution needs two versions: name two recordings, or two directories with a recording of each run",
            ),
            PictureError::NoGrammar => f.write_str(
                "the recording has no productions: `metaspy grammar G.pest --rule R INPUTS --record run.spy` makes one, and \
                 so does a parser with productions that runs with METASPY_RECORD",
            ),
            PictureError::NoView => f.write_str(
                "a picture of a program's own objects needs a view: --view FILE.toml maps its subjects to width, height and fill",
            ),
            PictureError::NoPlaces => f.write_str(
                "the place of a box is below its caller: remove `x` and `y`, or draw the structural picture",
            ),
            PictureError::NoViewOfKind => {
                f.write_str("--view is for pictures of the program's own objects (domain), structural and behavioural")
            }
            PictureError::NoObjects => f.write_str(
                "objects on the heap were not counted in both versions: record each with `cargo metaspy run --allocations --profile calls`",
            ),
            PictureError::NoInstructions => f.write_str(
                "instructions were not counted in both versions: `metaspy history run --instructions`, or \
                 `metaspy instructions RECORDING -- COMMAND` for each recording",
            ),
            PictureError::Strangers => f.write_str(
                "the recordings have no method that ran in both: record two versions of one program, with the same selection",
            ),
        }
    }
}

impl std::error::Error for PictureError {}

/// Draws a picture of a run.
///
/// # Errors
///
/// If the recording lacks the data of the picture.
pub fn draw(kind: Kind, graph: &Graph, options: &Options) -> Result<Scene, PictureError> {
    if graph.measured.is_some() && !matches!(kind, Kind::Structural | Kind::Behavioural) {
        return Err(PictureError::NoMethods);
    }
    let is_drawn = kind == Kind::Coverage || graph.ran().next().is_some();
    match (graph.methods.is_empty(), is_drawn) {
        (true, _) if kind == Kind::Coverage => return Err(PictureError::NoMethods),
        (_, false) if graph.undecided > 0 => return Err(PictureError::NotStored(graph.undecided)),
        (_, false) => return Err(PictureError::NothingRan),
        _ => {}
    }
    let mut scene = match kind {
        Kind::Structural => structural::draw(graph, options)?,
        Kind::Behavioural => behavioural::draw(graph, options)?,
        Kind::Coverage => coverage::draw(graph, options),
        Kind::Calls => calls::draw(graph, options)?,
        Kind::Evolution => return Err(PictureError::OneVersion),
        Kind::Grammar => return Err(PictureError::NoGrammar),
        Kind::Domain => return Err(PictureError::NoView),
    };
    scene.title.clone_from(&options.title);
    if graph.callers_are_causes && matches!(kind, Kind::Behavioural | Kind::Calls) {
        scene
            .notes
            .push("callers are the causes of stored events; METASPY_PROFILE=calls counts the calls of all".into());
    }
    scene.notes.extend(graph.notes.iter().cloned());
    if !graph.exact {
        scene
            .notes
            .push("some counts are lower bounds: `metaspy verify` lists what was lost".into());
    }
    Ok(scene)
}

/// Returns the words for the height of boxes.
fn height_word(graph: &Graph) -> String {
    match &graph.measured {
        Some(measured) => format!("total {}", measured.amount),
        None => "total time, wall clock".into(),
    }
}

/// States how the cost of hooks is treated in the times of a picture. Samples have none.
fn hooks_note(graph: &Graph) -> Option<String> {
    if graph.measured.is_some() {
        return None;
    }
    let Some(cost) = graph.hooks else {
        return Some("times include the cost of the hooks of all calls within".into());
    };
    let most = graph.methods.iter().map(|method| method.hooks_ns).max().unwrap_or(0);
    let is_seen =
        cost.returned_ns > 0.0 && graph.methods.iter().any(|method| method.shows_returned);
    let seen = if is_seen {
        format!(", {:.0} ns more where the returned value is seen", cost.returned_ns)
    } else {
        String::new()
    };
    Some(format!(
        "the cost of hooks is subtracted from times: at least {:.0} ns within each call, {:.0} ns in all{seen}, {} at most for a method",
        cost.within_ns,
        cost.whole_ns,
        time(most)
    ))
}

/// Computes a width: `least + each · log(1 + n)`.
fn width(least: f64, each: f64, n: u64) -> f64 {
    least + each * (n as f64 + 1.0).log2()
}

/// Maps `n` of at most `most` to a grey from 0 to 9, on a logarithmic scale.
fn grey(n: u64, most: u64) -> u8 {
    let share = (n as f64).ln_1p() / (most.max(1) as f64).ln_1p();
    (9.0 * share).round().clamp(0.0, 9.0) as u8
}

/// Returns the numbers of a legend of greys: the least, one between them by the logarithm, and the
/// largest, each once.
fn steps(least: u64, most: u64) -> Vec<u64> {
    let mut steps = vec![least, most.isqrt().max(least), most];
    steps.retain(|&step| least <= step && step <= most);
    steps.dedup();
    steps
}

/// Maps own time to a grey from 0 to 9, on a linear scale.
fn own_grey(graph: &Graph, method: usize) -> Fill {
    let own = graph.methods[method].self_ns.unwrap_or(0) as f64;
    Fill::Grey((9.0 * own / most_own(graph).max(1) as f64).round() as u8)
}

/// Builds the legend entries of own time as grey.
fn own_greys(graph: &Graph) -> impl Iterator<Item = Sign> {
    let amount = |grey: u8| graph.amount(most_own(graph) / 9 * u64::from(grey));
    let words = Sign::words(format!("grey and orange bar: own {}", graph.amount_word()));
    std::iter::once(words).chain([0, 4, 9].map(|grey| Sign::fill(Fill::Grey(grey), &amount(grey))))
}

fn most_own(graph: &Graph) -> u64 {
    graph.methods.iter().filter_map(|method| method.self_ns).max().unwrap_or(0)
}

/// Builds the legend entries of widths.
fn widths(least: f64, each: f64) -> impl Iterator<Item = Sign> {
    [1, 1_000, 1_000_000]
        .into_iter()
        .map(move |n| Sign::sized((width(least, each, n), 10.0), metaspy_report::text::short(n)))
}
