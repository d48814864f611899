//! Heat: the class of a function among all functions of the program.
//!
//! Three classes colour a ruler, and a scale of 1 to 6 fills a bar (*Augmenting Static Source Views
//! in IDEs with Dynamic Metrics*, section 3.3). Zero is a separate class.

mod kmeans;
mod metric;

use serde::{Deserialize, Serialize};

pub use metric::Metric;

/// Number of levels of the fine scale.
pub const LEVELS: usize = 6;
/// Number of classes of the coarse scale.
const CLASSES: usize = 3;
/// Bars for the levels.
const BARS: [char; LEVELS] = ['▁', '▂', '▃', '▄', '▅', '▆'];

/// Scale on which values are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Logarithmic scale. Counts have long tails, and a single hot function would otherwise fill
    /// two of three classes.
    #[default]
    Log,
    /// Linear scale.
    Linear,
}

impl Scale {
    /// All scales, in the order of the settings.
    pub const ALL: [Scale; 2] = [Scale::Log, Scale::Linear];
}

/// Heat of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Heat {
    /// Coarse class, from 1 (few) to 3 (many); 0 for a value of zero.
    pub class: u8,
    /// Fine level, from 1 to 6; 0 for a value of zero.
    pub level: u8,
}

impl Heat {
    /// Returns the bar of the level, or a dot for zero.
    pub fn bar(self) -> char {
        (self.level as usize).checked_sub(1).and_then(|at| BARS.get(at)).copied().unwrap_or('·')
    }
}

/// Boundaries between the classes of a program.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    scale: Scale,
    classes: Vec<f64>,
    levels: Vec<f64>,
}

impl Classes {
    /// Computes the classes of these values.
    pub fn new(values: &[f64], scale: Scale) -> Classes {
        let scaled =
            || values.iter().filter(|value| **value > 0.0).map(|value| scaled(*value, scale));
        Classes {
            scale,
            classes: kmeans::breaks(scaled(), CLASSES),
            levels: kmeans::breaks(scaled(), LEVELS),
        }
    }

    /// Returns the heat of a value.
    pub fn heat(&self, value: f64) -> Heat {
        if value == 0.0 {
            return Heat::default();
        }
        let value = scaled(value, self.scale);
        Heat {
            class: place(&self.classes, value, CLASSES),
            level: place(&self.levels, value, LEVELS),
        }
    }
}

/// Returns the number of a value's cluster, from 1 on. If there are fewer clusters, the numbers are
/// spread, and the hottest cluster has the last number.
fn place(breaks: &[f64], value: f64, clusters: usize) -> u8 {
    let at = breaks.partition_point(|least| *least <= value);
    (1 + at * (clusters - 1) / breaks.len().max(1)) as u8
}

fn scaled(value: f64, scale: Scale) -> f64 {
    match scale {
        Scale::Log => value.ln_1p(),
        Scale::Linear => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[u64], scale: Scale, classes: &[u8], bars: &str) {
        let values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
        let all = Classes::new(&values, scale);
        let heats: Vec<Heat> = values.iter().map(|value| all.heat(*value)).collect();
        assert_eq!(heats.iter().map(|heat| heat.class).collect::<Vec<_>>(), classes, "{values:?}");
        assert_eq!(heats.iter().map(|heat| heat.bar()).collect::<String>(), bars, "{values:?}");
    }

    #[test]
    fn zero_is_a_class_of_its_own_and_tails_do_not_hide_the_rest() {
        check(&[0, 1, 1, 10, 100, 1_000, 1_000_000], Scale::Log, &[0, 1, 1, 1, 2, 2, 3], "·▁▁▂▃▄▆");
        check(
            &[0, 1, 1, 10, 100, 1_000, 1_000_000],
            Scale::Linear,
            &[0, 1, 1, 1, 1, 2, 3],
            "·▁▁▂▃▄▆",
        );
    }

    #[test]
    fn few_distinct_values_have_few_classes() {
        check(&[7, 7, 0], Scale::Log, &[1, 1, 0], "▁▁·");
        check(&[7, 9], Scale::Log, &[1, 3], "▁▆");
        check(&[], Scale::Log, &[], "");
        check(&[u64::MAX, 1], Scale::Linear, &[3, 1], "▆▁");
    }
}
