//! `never-arrived`, `wide-parameter` and `megamorphic`: findings from the types of arguments and
//! receivers.

use metaspy_probe::unqualified;
use metaspy_reader::Store;

use super::of_recording::OfRecording;
use super::{Certainty, Context, Evidence, Finding, FoundSite};
use crate::text::{counted, grouped, last_segment};
use crate::types::{Shape, Unseen, Wide};

/// Maximum number of types that a title or a sentence names.
const NAMED: usize = 5;

pub(super) const NEVER_ARRIVED: OfRecording = OfRecording {
    kind: "never-arrived",
    missing,
    find: |context| context.types().unseen().iter().map(unseen).collect(),
};

pub(super) const WIDE_PARAMETER: OfRecording = OfRecording {
    kind: "wide-parameter",
    missing,
    find: |context| context.types().wide().iter().map(|one| wide(one, context)).collect(),
};

pub(super) const MEGAMORPHIC: OfRecording = OfRecording {
    kind: "megamorphic",
    missing,
    find: |context| {
        let shapes = context.types().call_sites();
        let many = shapes.iter().filter(|shape| shape.class() == "megamorphic");
        many.map(|shape| megamorphic(shape, context)).collect()
    },
};

fn missing(context: &Context<'_>) -> Option<String> {
    (!context.types().is_recorded)
        .then(|| "it has no types: record with `cargo metaspy run --types`".to_owned())
}

fn unseen(one: &Unseen) -> Finding {
    let what = if one.is_enum { "variants" } else { "implementations" };
    let never = one.never.len();
    let all = one.all;
    let title = format!("{never} of {all} {what} of {} never arrive", last_segment(&one.of));
    let mut finding = Finding::new(NEVER_ARRIVED.kind, title, vec![FoundSite::of_path(&one.of)]);
    finding.evidence.text = format!(
        "No recorded value is one of {}, while others of {} arrive.",
        names(&one.never),
        one.of
    );
    finding.evidence.numbers = vec![("never", never as u64), ("all", all as u64)];
    finding.certainty = Certainty::Estimated("another run may have such values".to_owned());
    finding.advice = format!("test the {what} that never arrive, or remove them");
    finding
}

fn wide(one: &Wide, context: &Context<'_>) -> Finding {
    let Wide { path, parameter, declared, count, .. } = one;
    let only = match &one.common {
        Some(common) => format!("all {} types that arrive are {common}", one.arrived.len()),
        None => format!("only {} arrives", names(&one.arrived)),
    };
    let title = format!("{} declares `{parameter}` as {declared}, and {only}", last_segment(path));
    let mut finding = Finding::new(WIDE_PARAMETER.kind, title, vec![site(context.store, path)]);
    finding.evidence = Evidence {
        text: format!(
            "{} arrived at `{parameter}` of {path}: {}.",
            counted(*count, "value"),
            names(&one.arrived)
        ),
        numbers: vec![("values", *count), ("types", one.arrived.len() as u64)],
        filter: format!("site:{}", unqualified(path)),
        ..Evidence::default()
    };
    finding.certainty = Certainty::Estimated("another run may pass other types".to_owned());
    finding.advice =
        "name the type, which compiles and runs faster and says what is meant; or keep it open for others".to_owned();
    finding
}

fn megamorphic(shape: &Shape, context: &Context<'_>) -> Finding {
    let targets = shape.targets.len() as u64;
    let caller = shape.caller.as_deref().unwrap_or("code without hooks");
    let title = format!("{} calls `{}` of {targets} receivers", last_segment(caller), shape.name);
    let mut finding = Finding::new(MEGAMORPHIC.kind, title, vec![site(context.store, caller)]);
    let receivers: Vec<String> =
        shape.targets.iter().map(|target| target.receiver.clone()).collect();
    finding.evidence = Evidence {
        text: format!("{} calls in {caller} reach {}.", grouped(shape.count()), names(&receivers)),
        numbers: vec![("calls", shape.count()), ("targets", targets)],
        filter: format!("site:*::{} cause.site:{}", shape.name, unqualified(caller)),
        ..Evidence::default()
    };
    finding.advice =
        "look whether the common receivers deserve a case of their own, such as an enum in place of a trait object"
            .to_owned();
    finding
}

/// Returns a method as it is named in a finding.
fn site(store: &Store, path: &str) -> FoundSite {
    let known = store.sites().iter().find(|site| site.path == path);
    known.map_or_else(|| FoundSite::of_path(path), FoundSite::of_site)
}

fn names(all: &[String]) -> String {
    let mut text =
        all.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        text.push_str(&format!(" and {} more", all.len() - NAMED));
    }
    text
}
