//! Views and the identity of the program, both stored as JSON inside a recording.

use serde::{Deserialize, Serialize};

use crate::names::sanitise::sanitised;
use metaspy_format::View;

/// View of a profiler in a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedView {
    /// Epoch in which the profiler was installed. It is the number of the view.
    pub epoch: u32,
    /// View with name, sites, grouping and relations.
    pub view: View,
}

impl RecordedView {
    /// Parses a view. Unknown fields are ignored, missing fields are empty.
    pub(crate) fn parse(epoch: u32, json: &str) -> Option<Self> {
        let mut view: View = serde_json::from_str(json).ok()?;
        // JSON can escape control characters, so the parsed texts are sanitised again.
        let texts = [&mut view.name, &mut view.group_by].into_iter();
        let lists = [&mut view.sites, &mut view.relations, &mut view.columns].into_iter().flatten();
        texts.chain(lists).for_each(|text| *text = sanitised(text));
        Some(RecordedView { epoch, view })
    }
}

/// Program that was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// Path of the executable.
    pub path: String,
    /// Arguments of the command line.
    pub arguments: Vec<String>,
    /// Identity of the build.
    pub build_id: String,
    /// Name of the recording.
    pub name: String,
    /// Identity of the machine's boot; empty if unknown.
    pub boot: String,
    /// Start of the program, in ns since 1970.
    pub started_ns: u64,
}

impl Program {
    pub(crate) fn parse(json: &str) -> Option<Self> {
        let mut program: Program = serde_json::from_str(json).ok()?;
        let texts =
            [&mut program.path, &mut program.build_id, &mut program.name, &mut program.boot];
        texts.into_iter().chain(&mut program.arguments).for_each(|text| *text = sanitised(text));
        Some(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_inside_json_do_not_get_through() {
        let view =
            RecordedView::parse(3, r#"{"name":"a\u001b[2J","relations":["\u0007"],"later":1}"#);
        let view = view.expect("it is JSON");
        assert_eq!((view.epoch, view.view.name.as_str()), (3, "a\u{FFFD}[2J"));
        assert_eq!(view.view.relations, ["\u{FFFD}"]);
        assert_eq!(RecordedView::parse(0, "[1,"), None);
    }
}
