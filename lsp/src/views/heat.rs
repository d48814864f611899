//! The heat of each function of a document, for gutters and rulers, which the protocol does not have.

use lsp_types::Range;
use serde::Serialize;

use super::summary;
use crate::document::View;
use crate::heat::{Heat, Metric};

/// The heat of a document.
#[derive(Debug, Serialize)]
pub struct DocumentHeat {
    /// The metric.
    pub metric: Metric,
    /// The runs.
    pub title: String,
    /// The recorded functions, without tests, in the order of the text.
    pub functions: Vec<FunctionHeat>,
}

/// The heat of a function.
#[derive(Debug, Serialize)]
pub struct FunctionHeat {
    /// Its path in its module.
    pub name: String,
    /// The range of its identifier.
    pub range: Range,
    /// Its class and its level.
    #[serde(flatten)]
    pub heat: Heat,
    /// The bar of the level.
    pub bar: char,
    /// The value of the metric; `None` if it was not recorded.
    pub value: Option<u64>,
    /// Its numbers in one line.
    pub text: String,
    /// True if it was edited after the run.
    pub stale: bool,
}

/// The heat of a document.
pub fn of(view: &View<'_>) -> DocumentHeat {
    let (metric, scale) = (view.settings.metric, view.settings.scale);
    let classes = view.model.classes(metric, scale);
    let functions = view.functions().filter(|(_, numbers, _)| !numbers.is_test);
    let functions = functions.filter_map(|(function, numbers, stale)| {
        let text = summary::line(view.model, classes, metric, &numbers, stale)?;
        let value = metric.of(&numbers);
        let heat = value.map_or(Heat::default(), |value| classes.heat(value));
        let (name, range) = (function.name.clone(), view.range(&function.ident));
        Some(FunctionHeat { name, range, heat, bar: heat.bar(), value, text, stale })
    });
    DocumentHeat { metric, title: view.model.title(), functions: functions.collect() }
}
