//! The findings as text, the most surprising first.

use std::collections::BTreeMap;
use std::fmt::Write;

use metaspy::store::EffectsIndex;
use metaspy::{Event, EventId, Store};

use crate::findings::{Announced, Findings, short};
use crate::options::Options;

/// Lines of the tree at most.
const TREE_MAX: usize = 60;
/// Roots of one place that are listed.
const EACH_MAX: usize = 12;

pub fn of(findings: &Findings, options: &Options, receivers: u64) -> String {
    let mut text = String::new();
    summary(&mut text, findings, options, receivers).expect("a text takes everything");
    announcements(&mut text, findings).expect("a text takes everything");
    effects(&mut text, findings).expect("a text takes everything");
    missing(&mut text, findings).expect("a text takes everything");
    text
}

fn summary(
    text: &mut String,
    findings: &Findings,
    options: &Options,
    receivers: u64,
) -> std::fmt::Result {
    let Findings { sent, received, missed, roots, .. } = findings;
    let publishes = roots.iter().filter(|root| root.is_publish).count();
    writeln!(
        text,
        "{sent} announcements published to {} subscriptions of an unedited mini-redis\n",
        options.subscribers
    )?;
    writeln!(
        text,
        "received   {received} and missed {missed}; the server answered with {receivers} receivers"
    )?;
    writeln!(
        text,
        "caused by  a PUBLISH: {publishes} of the {} receipts that are still there",
        roots.len()
    )?;
    for repeated in &findings.repeated {
        let (view, times) = (&repeated.view, repeated.subscribed.len());
        let (receipts, too_often) = (repeated.receipts, repeated.too_often);
        writeln!(
            text,
            "TOO OFTEN  {view} heard {receipts} times of {} announcements: {too_often} too many,",
            receipts - too_often
        )?;
        writeln!(
            text,
            "           as it subscribed {times} times: in {}",
            repeated.subscribed.join(", in ")
        )?;
    }
    Ok(())
}

fn announcements(text: &mut String, findings: &Findings) -> std::fmt::Result {
    writeln!(
        text,
        "\n{:<28}{:>10}{:>10}{:>10}  by",
        "announcement", "published", "received", "too often"
    )?;
    let mut channels = BTreeMap::<&str, Announced>::new();
    for (path, announced) in &findings.announcements {
        row(text, path, announced)?;
        let channel = channels.entry(path.split("::").next().unwrap_or(path)).or_default();
        channel.published += announced.published;
        channel.received += announced.received;
        channel.too_often += announced.too_often;
        for (publisher, times) in &announced.publishers {
            *channel.publishers.entry(publisher.clone()).or_default() += times;
        }
    }
    writeln!(
        text,
        "\n{:<28}{:>10}{:>10}{:>10}  by",
        "channel", "published", "received", "too often"
    )?;
    channels.iter().try_for_each(|(channel, announced)| row(text, channel, announced))
}

fn row(text: &mut String, name: &str, announced: &Announced) -> std::fmt::Result {
    let Announced { published, received, too_often, publishers } = announced;
    let by: Vec<String> = publishers.iter().map(|(who, times)| format!("{who} {times}")).collect();
    writeln!(text, "{name:<28}{published:>10}{received:>10}{too_often:>10}  {}", by.join(", "))
}

/// What one PUBLISH set off.
fn effects(text: &mut String, findings: &Findings) -> std::fmt::Result {
    let store = &findings.store;
    let Some(publish) = findings.example.and_then(|id| store.event(id)) else {
        return writeln!(text, "\nno PUBLISH is left to look at");
    };
    let Some(index) = EffectsIndex::build(store, |_, _| true) else { return Ok(()) };
    writeln!(text, "\nwhat one PUBLISH set off, and how long after it began")?;
    let mut tree = Tree { store, index, publish, lines: 0 };
    tree.line(text, "", &publish)?;
    tree.branch(text, "  ", publish.id)
}

struct Tree<'a> {
    store: &'a Store,
    index: EffectsIndex,
    publish: Event,
    lines: usize,
}

impl Tree<'_> {
    fn branch(&mut self, text: &mut String, indent: &str, cause: EventId) -> std::fmt::Result {
        let mut effects: Vec<Event> =
            self.index.effects(cause).into_iter().filter_map(|id| self.store.event(id)).collect();
        effects.sort_by_key(|effect| (effect.start, effect.id));
        let further = format!("{indent}  ");
        for (place, effect) in effects.iter().enumerate() {
            if self.lines >= TREE_MAX {
                return writeln!(text, "{indent}… {} more", effects.len() - place);
            }
            self.line(text, indent, effect)?;
            self.branch(text, &further, effect.id)?;
        }
        Ok(())
    }

    fn line(&mut self, text: &mut String, indent: &str, event: &Event) -> std::fmt::Result {
        self.lines += 1;
        let store = self.store;
        let about = event
            .subject
            .map_or(String::new(), |subject| format!(" {}", store.subject_text(subject)));
        let after = store.span_ns(event.start.saturating_sub(self.publish.start)) / 1_000;
        let what = format!("{indent}{}{about}", store.site_path(event.site));
        writeln!(text, "  {what:<56}{after:>8} µs  {}", event.outcome.name())
    }
}

/// The spans of mini-redis itself, and those without a cause.
fn missing(text: &mut String, findings: &Findings) -> std::fmt::Result {
    writeln!(
        text,
        "\n{:<34}{:>8}{:>8}{:>15}  others begin with",
        "what mini-redis tells itself", "events", "roots", "under PUBLISH"
    )?;
    for site in &findings.spans {
        let begin: Vec<String> =
            site.begin_with.iter().map(|(path, n)| format!("{} {n}", short(path))).collect();
        writeln!(
            text,
            "{:<34}{:>8}{:>8}{:>15}  {}",
            site.path,
            site.events,
            site.roots,
            site.under_publish,
            begin.join(", ")
        )?;
    }
    let cut_off: Vec<_> = findings.spans.iter().filter(|site| site.is_cut_off()).collect();
    if cut_off.is_empty() {
        return Ok(());
    }
    writeln!(
        text,
        "\nMISSING EDGES: these have no cause, so no PUBLISH is known to have led to them"
    )?;
    for site in cut_off {
        let under = |other: &crate::findings::SpanSite| {
            Some(format!("{} {}", other.begin_with.get(&site.path)?, short(&other.path)))
        };
        let under: Vec<String> = findings.spans.iter().filter_map(under).collect();
        let mut each: Vec<String> =
            site.under_each.iter().take(EACH_MAX).map(u64::to_string).collect();
        each.extend((site.under_each.len() > EACH_MAX).then(|| "…".to_owned()));
        let under = if under.is_empty() {
            String::new()
        } else {
            format!("; under them {}, under each {}", under.join(", "), each.join(" "))
        };
        writeln!(text, "  {:<34}{} of {}{under}", site.path, site.roots, site.events)?;
    }
    for (module, events) in findings.modules_cut_off() {
        writeln!(
            text,
            "None of the {events} events of {module} has one of the {} PUBLISHes as its cause.",
            findings.sent
        )?;
    }
    writeln!(text, "Bytes from the socket name no event, and no cause is guessed from times.")
}
