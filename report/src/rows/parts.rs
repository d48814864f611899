//! The rows of types and packages.

use metaspy_probe::SiteId;
use metaspy_reader::{Filter, Store};

use super::profiles::Profiles;
use super::{By, Key, Part, ReportRow, Values};
use crate::program::{self, Element, Of, Program};

/// Reads them, but for those that cannot run as all of their methods are skipped; and whether every
/// count is exact.
pub fn read(store: &Store, by: By, filter: &Filter) -> (Vec<ReportRow>, bool) {
    let program = Program::read(store, filter);
    let wanted = program.elements.iter().filter(|element| match element.of {
        Of::Package => by == By::Package,
        Of::Type { .. } | Of::Functions => by == By::Type,
        Of::Method(_) => false,
    });
    let wanted = wanted.filter(|element| element.measure.count > 0 || element.never_ran());
    let profiles = Profiles::read(store);
    let mut rows: Vec<ReportRow> =
        wanted.clone().map(|element| row(store, element, filter.is_all())).collect();
    for (row, element) in rows.iter_mut().zip(wanted) {
        row.profiles = profiles.of_sites(sites(&program, element));
    }
    (rows, program.exact)
}

/// The sites of the methods in an element.
fn sites<'p>(program: &'p Program, element: &'p Element) -> impl Iterator<Item = SiteId> + 'p {
    let is_within = move |method: &&Element| {
        let mut around =
            std::iter::successors(Some(*method), |it| it.under.map(|at| &program.elements[at]));
        around.any(|it| it.key == element.key)
    };
    program.methods().filter(is_within).filter_map(Element::site)
}

fn row(store: &Store, element: &Element, is_all: bool) -> ReportRow {
    let path = element.path(store).to_owned();
    let label = match element.key {
        program::Key::Functions(_) => format!("{path}::{}", element.name),
        _ => path.clone(),
    };
    let part = Part {
        is_module: element.of == Of::Package && element.under.is_some(),
        ratio: element.ratio(),
        is_whole: is_all,
        receivers: element.receivers,
        lines: element.lines,
        complexity: element.complexity,
    };
    let kind = Some(element.sort().to_owned());
    ReportRow {
        failure: "failed",
        key: Key::Site(path),
        site: None,
        site_id: None,
        label: Some(label),
        kind,
        measure: element.measure,
        part: Some(part),
        profiles: Values::new(),
    }
}
