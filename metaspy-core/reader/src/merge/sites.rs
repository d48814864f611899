//! The sites of several recordings, united.
//!
//! Sites with the same path, type arguments, kind, file and first line are one site. So is the one
//! site of a path whose line another build of the same program has moved: an edit above a function
//! makes no other function of it. Where a build has several sites of a path, as macros make them,
//! the line distinguishes them.

use std::collections::HashMap;

use metaspy_probe::SiteKind;

use crate::Program;
use crate::merge::remap::Input;
use crate::names::RecordedSite;

/// The properties that sites must share to be the same site.
type Name = (String, SiteKind, String);

/// A site of the merged recording.
struct United {
    number: u32,
    places: Vec<SiteOccurrence>,
}

/// Occurrence of the site in a recording.
struct SiteOccurrence {
    /// The recording, as its place among the inputs.
    input: usize,
    line: u32,
}

/// Returns the sites of all recordings, and stores their numbers in these.
pub(super) fn unite(inputs: &mut [Input]) -> Vec<RecordedSite> {
    let programs: Vec<Program> = inputs.iter().map(|input| input.store.program().clone()).collect();
    let mut known: HashMap<Name, Vec<United>> = HashMap::new();
    let mut all: Vec<RecordedSite> = Vec::new();
    for (at, input) in inputs.iter_mut().enumerate() {
        let mut own: HashMap<Name, Vec<RecordedSite>> = HashMap::new();
        for site in input.store.sites() {
            own.entry((site.path.clone(), site.kind, site.file.clone()))
                .or_default()
                .push(site.clone());
        }
        for site in input.store.sites().to_vec() {
            let name = (site.path.clone(), site.kind, site.file.clone());
            let is_only = own[&name].iter().filter(|other| is_one(other, &site)).count() == 1;
            let candidates = known.entry(name).or_default();
            let place = SiteOccurrence { input: at, line: site.lines.0 };
            let number = match find(candidates, &all, &site, is_only.then_some(at), &programs) {
                Some(united) => {
                    united.places.push(place);
                    add(&mut all[united.number as usize - 1], &site);
                    united.number
                }
                None => {
                    all.push(site.clone());
                    let number = all.len() as u32;
                    candidates.push(United { number, places: vec![place] });
                    number
                }
            };
            let own = site.id.0 as usize;
            input.sites.resize(input.sites.len().max(own + 1), 0);
            input.sites[own] = number;
        }
    }
    all
}

/// Finds the site that this one is: at its line, or, of the only site in the recording `moved`, at
/// another line of other builds.
fn find<'k>(
    known: &'k mut [United],
    all: &[RecordedSite],
    site: &RecordedSite,
    moved: Option<usize>,
    programs: &[Program],
) -> Option<&'k mut United> {
    let alike: Vec<usize> =
        (0..known.len()).filter(|&at| is_one(&all[known[at].number as usize - 1], site)).collect();
    let is_here = |at: &&usize| known[**at].places.iter().any(|place| place.line == site.lines.0);
    let is_of_other_builds = |at: &&usize| {
        let mut places = known[**at].places.iter();
        moved.is_some_and(|moved| {
            places.all(|place| is_other_build(&programs[place.input], &programs[moved]))
        })
    };
    let found = match &alike[..] {
        [only] => Some(only).filter(|at| is_here(at) || is_of_other_builds(at)),
        several => several.iter().find(is_here),
    };
    found.copied().map(|at| &mut known[at])
}

/// Returns true if these are two builds of one program.
fn is_other_build(one: &Program, other: &Program) -> bool {
    let are_known = !one.build_id.is_empty() && !other.build_id.is_empty();
    are_known && one.name == other.name && one.build_id != other.build_id
}

/// Adds the facts that another recording has about a site.
fn add(known: &mut RecordedSite, site: &RecordedSite) {
    known.skipped = known.skipped.take().filter(|_| site.skipped.is_some());
    // A process may have been built without a weaver.
    if known.facts.is_empty() {
        known.module = site.module;
        known.facts.clone_from(&site.facts);
    }
}

/// Returns true if two sites of one path and place have the same type arguments, as those that a
/// macro makes may not, or if those of one are not known.
fn is_one(known: &RecordedSite, site: &RecordedSite) -> bool {
    known.facts == site.facts
        || known.facts.is_empty()
        || site.facts.is_empty()
        || known.path_with_arguments() == site.path_with_arguments()
}
