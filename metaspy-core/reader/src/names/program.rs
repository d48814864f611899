//! Views and the program's identity: what travels as JSON inside a recording.

use serde::{Deserialize, Serialize};

use crate::names::sanitise::sanitised;
use metaspy_format::View;

/// A profiler's view, as it stands in a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedView {
    /// The epoch in which the profiler was installed; it is the view's number.
    pub epoch: u32,
    /// How the profiler wants to be shown.
    pub view: View,
}

impl RecordedView {
    /// A view from its JSON; fields of a later version are passed over, missing ones are empty.
    pub(crate) fn parse(epoch: u32, json: &str) -> Option<Self> {
        let mut view: View = serde_json::from_str(json).ok()?;
        // JSON has escapes of its own, so the door needs a second lock.
        let texts = [&mut view.name, &mut view.group_by].into_iter();
        let lists = [&mut view.sites, &mut view.columns, &mut view.relations].into_iter().flatten();
        texts.chain(lists).for_each(|text| *text = sanitised(text));
        Some(RecordedView { epoch, view })
    }
}

/// The program that was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// Its file.
    pub path: String,
    /// What it was called with.
    pub arguments: Vec<String>,
    /// What tells this build from another.
    pub build_id: String,
    /// The recording's name.
    pub name: String,
    /// What tells the run of its machine from others; empty where that is not known.
    pub boot: String,
    /// When it started, in ns since 1970.
    pub started_ns: u64,
}

impl Program {
    pub(crate) fn parse(json: &str) -> Option<Self> {
        let mut program: Program = serde_json::from_str(json).ok()?;
        let texts = [&mut program.path, &mut program.build_id, &mut program.name, &mut program.boot];
        texts.into_iter().chain(&mut program.arguments).for_each(|text| *text = sanitised(text));
        Some(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_inside_json_do_not_get_through() {
        let view = RecordedView::parse(3, r#"{"name":"a\u001b[2J","columns":["\u0007"],"later":1}"#);
        let view = view.expect("it is JSON");
        assert_eq!((view.epoch, view.view.name.as_str()), (3, "a\u{FFFD}[2J"));
        assert_eq!(view.view.columns, ["\u{FFFD}"]);
        assert_eq!(RecordedView::parse(0, "[1,"), None);
    }
}
