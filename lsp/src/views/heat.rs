//! Heat of each function of a document, for gutters and rulers, which the protocol does not have.

use lsp_types::Range;
use serde::Serialize;

use super::summary;
use crate::heat::{Heat, Metric};
use crate::views::View;

/// Heat of a document.
#[derive(Debug, Serialize)]
pub struct DocumentHeat {
    /// Metric that the heat shows.
    pub metric: Metric,
    /// Names of the shown runs.
    pub title: String,
    /// Recorded functions, without tests, in the order of the text.
    pub functions: Vec<FunctionHeat>,
}

/// Heat of a function.
#[derive(Debug, Serialize)]
pub struct FunctionHeat {
    /// Path of the function in its module.
    pub name: String,
    /// Range of the function's identifier.
    pub range: Range,
    /// Class and level of the function.
    #[serde(flatten)]
    pub heat: Heat,
    /// Bar character for the level.
    pub bar: char,
    /// Value of the metric; `None` if it was not recorded.
    pub value: Option<f64>,
    /// Summary of the numbers in a single line.
    pub text: String,
    /// True if the function was edited after the run.
    pub stale: bool,
}

/// Computes the heat of a document.
pub fn of(view: &View<'_>) -> DocumentHeat {
    let metric = view.settings.metric;
    let scale = view.settings.scale;
    let classes = view.model.classes(metric, scale);
    let functions = view.functions().filter(|(_, numbers, _)| !numbers.is_test);
    let functions = functions.filter_map(|(function, numbers, stale)| {
        let text = summary::line(view.model, classes, metric, &numbers, stale)?;
        let value = metric.of(&numbers);
        let heat = value.map_or(Heat::default(), |value| classes.heat(value));
        let name = function.name.clone();
        let range = view.range(&function.ident);
        Some(FunctionHeat { name, range, heat, bar: heat.bar(), value, text, stale })
    });
    DocumentHeat { metric, title: view.model.title(), functions: functions.collect() }
}
