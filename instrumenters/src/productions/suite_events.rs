//! Events of the activations in a suite.

use metaspy_core::site::{entry, register_dynamic};
use metaspy_core::{Kind, Owner, Site, SiteDef, SiteKind, Subject, label, relate};

use super::production::{ParseObserver, Production};
use super::{ActivationEnd, ActivationStack};

/// Kind of productions as subjects, with the numbers of their sites, so that a recording can have
/// relations between them. Number 0 is the grammar, which refers to its start rule.
static PRODUCTION: Kind = Kind::new("Production");

/// Relation from a production to the productions that it refers to.
const REFERS_TO: &str = "refers to";

/// Kind of subjects whose label explains why a production never matched. Their number is that of
/// the production's site.
static SHADOW: Kind = Kind::new("Shadow");

/// Kind of subjects whose label states which alternatives of a production come too late, because an
/// earlier one takes less. Their number is that of the production's site.
static CUT: Kind = Kind::new("Cut");

/// Records which alternatives of a production are cut short.
pub(crate) fn record_cuts(site: &'static Site, sentences: String) {
    label(Subject::new(CUT.id(), entry(site).id.0.into()), sentences);
}

/// Records why a production never matched.
pub(crate) fn record_shadow(site: &'static Site, sentence: String) {
    label(Subject::new(SHADOW.id(), entry(site).id.0.into()), sentence);
}

/// Registers the sites of a grammar's productions, in their order. Each grammar has separate sites,
/// for the rest of the process.
pub(crate) fn sites(
    productions: &[Production],
    start: usize,
    file: impl Fn(usize) -> String,
) -> Vec<&'static Site> {
    let mut files: Vec<&'static str> = Vec::new();
    let site = |production: &Production| {
        while files.len() <= production.file {
            files.push(file(files.len()).leak());
        }
        let file = files[production.file];
        let name = production.name.clone().leak();
        register_dynamic(SiteDef {
            kind: SiteKind::Production,
            module: stem(file),
            name,
            file,
            lines: production.lines,
            skipped: production.role.reason(),
        })
    };
    let sites: Vec<&'static Site> = productions.iter().map(site).collect();
    let subject = |production: usize| {
        let number = sites.get(production).map_or(0, |site| entry(site).id.0);
        Subject::new(PRODUCTION.id(), number.into())
    };
    relate(REFERS_TO, Subject::new(PRODUCTION.id(), 0), subject(start));
    for (from, production) in productions.iter().enumerate() {
        production.refers_to.iter().for_each(|&to| relate(REFERS_TO, subject(from), subject(to)));
    }
    sites
}

/// Returns the name of a grammar file: `toml` for `grammars/toml.pest`.
fn stem(file: &'static str) -> &'static str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// Inputs of a suite, as subjects.
#[derive(Debug)]
pub(crate) struct Inputs(Owner);

impl Inputs {
    pub fn new() -> Self {
        Inputs(Owner::new("Input"))
    }

    /// Returns the observer that makes events about an input, by its number. The label of the input
    /// is its name.
    pub fn events<'s, W>(
        &self,
        number: usize,
        name: &str,
        sites: &'s [&'static Site],
        inner: &'s mut W,
    ) -> Events<'s, W> {
        let subject = self.0.subject(number as u64);
        label(subject, name);
        Events { open: ActivationStack::about(subject), sites, inner }
    }
}

/// Observer that makes an event of each armed activation, and calls another observer.
pub(crate) struct Events<'s, W> {
    sites: &'s [&'static Site],
    open: ActivationStack,
    inner: &'s mut W,
}

impl<W: ParseObserver> ParseObserver for Events<'_, W> {
    fn enter(&mut self, production: usize, at: usize) {
        self.inner.enter(production, at);
        self.open.begin(self.sites[production], at);
    }

    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool) {
        self.open.end(
            self.sites[production],
            if matched { ActivationEnd::Matched } else { ActivationEnd::Backtracked },
            end,
        );
        self.inner.exit(production, at, end, matched);
    }

    fn alternative(&mut self, alternative: usize, matched: bool) {
        self.inner.alternative(alternative, matched);
    }
}
