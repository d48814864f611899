//! A kind of findings of one's own, among the built-in ones: frames that lay out after they have
//! painted.
//!
//! `cargo run -p metaspy-report --example late_layout -- run.spy`

use std::collections::HashSet;
use std::error::Error;
use std::io;

use metaspy_reader::{ResolvedEvent, Store, UnitOfWork};
use metaspy_report::findings::text::{self, Shown};
use metaspy_report::findings::{
    self, Config, Context, Cost, Detector, Evidence, Finding, Findings,
};

/// Layouts in frames that have painted before.
#[derive(Default)]
struct LateLayout {
    painted: HashSet<UnitOfWork>,
    late: Vec<ResolvedEvent>,
}

impl Detector for LateLayout {
    fn kind(&self) -> &str {
        "late-layout"
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &it in events {
            let Some(frame) = it.unit else { continue };
            match context.name(it.event.site) {
                "Scene::paint" => _ = self.painted.insert(frame),
                "Scene::layout" if self.painted.contains(&frame) => self.late.push(it.clone()),
                _ => {}
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let Some(site) = self.late.first().map(|it| it.event.site) else { return Vec::new() };
        let ticks = self.late.iter().filter_map(|it| it.self_ticks).sum();
        let text =
            format!("{} layouts begin after the first paint of their frame.", self.late.len());
        let mut finding = Finding::new(
            "late-layout",
            "frames lay out after they have painted",
            vec![context.site(site)],
        );
        finding.cost = Cost::of_work(context.ns(ticks), self.late.len() as u64);
        finding.evidence = Evidence::new(text, context.filter(site));
        finding.evidence.events = self.late.iter().map(|it| it.event.id).collect();
        finding.certainty = context.counted("counts exact");
        vec![finding]
    }
}

/// Looks for the built-in kinds and for this one.
pub fn find(store: &Store, config: &Config) -> Findings {
    let mut detectors = findings::detectors();
    detectors.push(Box::new(LateLayout::default()));
    findings::find_by(store, config, detectors)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("name a recording, such as run.spy")?;
    let store = Store::open(file.as_ref())?;
    // The settings of the project: what is accepted, and the kinds that are off.
    let config = findings::settings_of_project(&std::env::current_dir()?)?;
    text::write(&mut io::stdout(), &find(&store, &config), Shown::Listed, &[file])?;
    Ok(())
}
