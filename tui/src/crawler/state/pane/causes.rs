//! Tab with the tree of reasons: the cause, its own cause and so on, and the links of each of them.

use metaspy_reader::{Event, Origin, Remote, Store};

use metaspy_report::text::counted;

use super::row::{Content, PaneRow, indent};
use crate::crawler::effects::Effect;
use crate::crawler::marks::{Marks, title};
use crate::crawler::reasons::{Connection, Path, Reasons};

/// Maximum number of causes that are shown.
const SHOWN: usize = 200;
/// Maximum number of levels that are indented.
const DEPTH: usize = 8;

/// Builds the rows of the tab: the path from a mark, if it was requested, and the tree of reasons.
pub fn rows(
    store: &Store,
    event: &Event,
    reasons: Option<&Reasons>,
    path: Option<&Path>,
    marks: &Marks,
) -> Vec<PaneRow> {
    let mut rows = path.map_or(Vec::new(), |path| path_rows(path, marks));
    rows.push(PaneRow::plain(Content::Current(*event)));
    if let Some(gone) = super::row::evicted_note(store, event) {
        rows.push(gone);
        return rows;
    }
    let chain = || store.causes(event.id).take(SHOWN).enumerate();
    let tree: Vec<Effect> = match reasons {
        Some(reasons) => reasons.tree.clone(),
        // Until the links are read, the tree has causes only.
        None => chain()
            .map(|(depth, event)| Effect { depth, event, is_link: false, further: 0 })
            .collect(),
    };
    for (at, reason) in tree.iter().enumerate() {
        let following = tree[at + 1..].iter().map(|reason| reason.depth + 1);
        let mut indent = match reason.depth {
            0..DEPTH => indent(reason.depth + 1, following),
            _ => format!("{}└ ", "  ".repeat(DEPTH)),
        };
        if reason.is_link {
            indent.push_str("link ");
        }
        rows.push(PaneRow { indent, content: Content::Event(reason.event) });
    }
    let end = if tree.len() >= SHOWN || reasons.is_some_and(|reasons| reasons.cut) {
        Some("… and more causes".into())
    } else {
        origin(store.causes(event.id).origin(), tree.is_empty())
    };
    rows.extend(end.map(|text| PaneRow::plain(Content::Note(text))));
    rows
}

/// Builds the rows of the path between a mark and the event, from top to bottom.
fn path_rows(path: &Path, marks: &Marks) -> Vec<PaneRow> {
    let mark = title(path.from, marks.name(path.from).unwrap_or_default());
    let steps = counted(path.steps.len().saturating_sub(1) as u64, "step");
    let text = match path.connection {
        Some(Connection::Down) => format!("{mark} leads here in {steps}"),
        Some(Connection::Up) => format!("this leads to {mark} in {steps}"),
        Some(Connection::Common) => format!("in common with {mark}: {steps}"),
        None if path.cut => format!("no path to {mark} was found; the search was given up"),
        None => format!("no path to {mark}: they have no reason in common"),
    };
    let mut rows = vec![PaneRow::plain(Content::Title(text))];
    for (at, step) in path.steps.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| path.steps[at]);
        let link = if before.is_some_and(|before| before.goes_up && before.is_link)
            || step.is_link && !step.goes_up
        {
            "link "
        } else {
            ""
        };
        let sign = match before {
            None => "  ",
            Some(before) if before.goes_up => "↑ ",
            Some(_) => "↓ ",
        };
        let content = if step.event.id == path.to {
            Content::Current(step.event)
        } else {
            Content::Event(step.event)
        };
        rows.push(PaneRow { indent: format!("{sign}{link}"), content });
    }
    rows.push(PaneRow::plain(Content::Blank));
    rows
}

/// Explains why the chain of causes ends here.
pub(super) fn origin(origin: Origin, at_once: bool) -> Option<String> {
    match origin {
        Origin::Root if at_once => Some("a root: it has no recorded cause".into()),
        Origin::Root => None,
        Origin::Evicted(id) => Some(format!("cause {id} left the window")),
        Origin::Remote(remote) => Some(other_process(remote)),
        Origin::Loop(id) => Some(format!("damaged: the causes lead back to {id}")),
    }
}

/// Returns the message for a cause in another process that no open recording contains.
pub(crate) fn other_process(remote: Remote) -> String {
    format!("caused by span {:016x} of another process, which no open recording holds", remote.span)
}
