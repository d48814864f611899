//! Programs for tests.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Measure, RecordedSite};

use super::{Builder, Program};

/// A site of an observed method.
pub fn site(id: u32, path: &str) -> RecordedSite {
    let kind = SiteKind::Method;
    let file = String::new();
    let facts = String::new();
    RecordedSite {
        id: SiteId(id),
        kind,
        path: path.into(),
        file,
        lines: (1, 1),
        skipped: None,
        module: 0,
        facts,
    }
}

/// A woven function of a module. A type without an owner is defined in the module.
pub fn woven(module: &str, name: &str, facts: &str) -> RecordedSite {
    let path = format!("{module}::{name}");
    let ty = facts.split(' ').find_map(|word| word.strip_prefix("type="));
    let owner = ty.filter(|_| !facts.contains("owner=") && !facts.contains("unresolved"));
    let facts = owner.map_or(facts.to_owned(), |ty| format!("{facts} owner=self::{ty}"));
    RecordedSite { module: module.len() as u32, facts, file: "src/lib.rs".into(), ..site(1, &path) }
}

/// A program of woven functions, each with its number of calls.
pub fn program(methods: &[(RecordedSite, u64)]) -> Program {
    builder(methods).build()
}

/// The same, still to be built.
pub fn builder(methods: &[(RecordedSite, u64)]) -> Builder {
    let mut builder = Builder::new();
    for (number, (site, count)) in (1..).zip(methods) {
        let measure = Measure { count: *count, ..Measure::default() };
        builder.add_site(&RecordedSite { id: SiteId(number), ..site.clone() }, &measure);
    }
    builder
}
