//! Page with a picture of a graph, and with the other pictures that its recording permits.

use crate::emit::{Pictures, html};
use crate::graph::Graph;
use crate::picture::{Options, PictureError, draw};
use crate::scene::{Kind, Scene};

/// Builds the page of a graph: the given picture, and the others behind tabs, also those of its
/// samples. Below a root, the others are pictures of calls.
///
/// # Errors
///
/// If the recording lacks the data of this picture. Other pictures that cannot be drawn are left
/// out.
pub fn page(kind: Kind, graph: &Graph, options: &Options) -> Result<String, PictureError> {
    let mut scenes: Vec<Scene> = vec![draw(kind, graph, options)?];
    let others = Kind::OF_A_RUN
        .into_iter()
        .filter(|&other| graph.root.is_none() || matches!(other, Kind::Behavioural | Kind::Calls))
        .filter(|&other| other != kind);
    scenes.extend(others.filter_map(|other| draw(other, graph, options).ok()));
    let profiles: Vec<(&Graph, Vec<Scene>)> = graph
        .profiles
        .iter()
        .filter(|_| graph.root.is_none())
        .map(|profile| {
            (
                profile,
                Kind::OF_A_RUN
                    .into_iter()
                    .filter_map(|kind| draw(kind, profile, options).ok())
                    .collect(),
            )
        })
        .collect();
    let all = std::iter::once((graph, &scenes))
        .chain(profiles.iter().map(|(graph, scenes)| (*graph, scenes)));
    let pictures = all.map(|(graph, scenes)| {
        let of = graph
            .measured
            .as_ref()
            .map_or_else(String::new, |measured| format!(": {}", measured.amount));
        let scenes =
            scenes.iter().map(|scene| (format!("{}{of}", scene.kind.word()), scene)).collect();
        Pictures { graph, scenes }
    });
    Ok(html(&pictures.collect::<Vec<_>>()))
}
