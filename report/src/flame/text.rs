//! The first stacks as text: one line for each frame, indented below its caller.

use super::tree::ROOT;
use super::{FlamePage, Stacks, Unit};
use crate::text::{clean, counted, grouped, percent, shorten_path, time, width};

/// Cells of a bar.
const BAR: usize = 16;
/// Levels that are indented. Deeper ones have their number.
const INDENTED: usize = 30;

impl FlamePage {
    /// The frames with at least this share of the whole, at most `rows`, in lines of at most
    /// `columns`.
    pub fn text(&self, threshold: f64, rows: usize, columns: usize) -> Vec<String> {
        let Some(stacks) = self.stacks.first() else {
            return self.absent.iter().map(super::Absent::sentence).collect();
        };
        let measure = &stacks.measures[0];
        let whole = stacks.whole()[0];
        let sign = if measure.is_least { "≥" } else { "" };
        let mut lines = vec![format!(
            "{}, by {}: {sign}{}",
            stacks.about,
            measure.name,
            measure.unit.text(whole)
        )];
        let mut hidden = 0;
        for lane in &stacks.lanes {
            if stacks.lanes.len() > 1 {
                lines.push(format!("thread {}", clean(&lane.name)));
            }
            for (at, depth) in lane.tree.walk() {
                let frame = &lane.tree.frames[at];
                if frame.function == ROOT {
                    continue;
                }
                if (frame.total[0] as f64) < whole as f64 * threshold || lines.len() > rows {
                    hidden += 1;
                    continue;
                }
                let filled =
                    (BAR as f64 * frame.total[0] as f64 / whole.max(1) as f64).round() as usize;
                let bar =
                    format!("{}{}", "█".repeat(filled.min(BAR)), " ".repeat(BAR - filled.min(BAR)));
                let [total, own] = [frame.total[0], frame.own[0]]
                    .map(|value| format!("{sign}{}", measure.unit.text(value)));
                let own = if frame.is_part { "not recorded".to_owned() } else { own };
                let share = percent(frame.total[0], whole);
                let indent = match depth - 1 {
                    depth @ ..=INDENTED => " ".repeat(depth),
                    depth => format!("{}({depth}) ", " ".repeat(INDENTED)),
                };
                let name = clean(&self.functions[frame.function].name).into_owned();
                let head = format!("{share:>7} {bar} {total:>9} {own:>12}  {indent}");
                let room = columns.saturating_sub(width(&head)).max(12);
                lines.push(format!("{head}{}", shorten_path(&name, room)));
            }
        }
        lines.insert(1, format!("{:>7} {:BAR$} {:>9} {:>12}  frame", "share", "", "total", "self"));
        if hidden > 0 {
            lines.push(format!(
                "{} more: --top all --threshold 0 shows all",
                counted(hidden, "frame")
            ));
        }
        lines.extend(stacks.notes.iter().cloned());
        let others =
            self.stacks.iter().skip(1).map(|stacks| stacks.name.as_str()).collect::<Vec<_>>();
        if !others.is_empty() {
            lines.push(format!("the page (--html FILE) also has: {}", others.join(", ")));
        }
        lines.extend(self.absent.iter().map(super::Absent::sentence));
        lines
    }
}

impl Unit {
    /// Writes a value with its unit.
    pub fn text(self, value: u64) -> String {
        match self {
            Unit::Count | Unit::Samples(0) => grouped(value),
            Unit::Bytes => format!("{} B", grouped(value)),
            Unit::Ns => time(value),
            Unit::Samples(ns) => time(value.saturating_mul(ns)),
        }
    }
}

impl Stacks {
    /// True if nothing costs anything.
    pub fn is_empty(&self) -> bool {
        self.whole() == [0; super::MEASURES]
    }
}
