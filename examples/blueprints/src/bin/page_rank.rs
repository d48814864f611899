//! Ranks of 400 pages with 2,000 links: petgraph's `page_rank`, and one that goes once over the
//! links in each round.

use petgraph::Graph;
use petgraph::algo::page_rank;
use petgraph::visit::EdgeRef;

/// The share of links in a rank.
const DAMPING: f64 = 0.85;
/// Rounds.
const ROUNDS: usize = 5;

fn main() {
    let pages = pages(400, 2_000);
    let slow = page_rank(&pages, DAMPING, ROUNDS);
    let fast = page_rank_by_links(&pages, DAMPING, ROUNDS);
    let apart = slow.iter().zip(&fast).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-12, "the ranks differ by {apart}");
    println!("ranks of {} pages; the two ways differ by at most {apart:.0e}", slow.len());
}

/// A graph with links that always are the same.
fn pages(count: usize, links: usize) -> Graph<(), ()> {
    let mut graph = Graph::new();
    let nodes: Vec<_> = (0..count).map(|_| graph.add_node(())).collect();
    let mut dice = 1_u64;
    let mut roll = || {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as usize % count
    };
    while graph.edge_count() < links {
        graph.update_edge(nodes[roll()], nodes[roll()], ());
    }
    graph
}

/// The same ranks. The rank that a page gets from all others is computed once in a round, and then
/// corrected at each link.
pub fn page_rank_by_links(graph: &Graph<(), ()>, damping: f64, rounds: usize) -> Vec<f64> {
    let count = graph.node_count();
    let pages = count as f64;
    let links: Vec<Vec<usize>> =
        graph.node_indices().map(|page| graph.edges(page).map(|link| link.target().index()).collect()).collect();
    let mut ranks = vec![1.0 / pages; count];
    for _ in 0..rounds {
        let jump = |page: usize| if links[page].is_empty() { damping } else { 1.0 - damping } * ranks[page] / pages;
        let mut next = vec![(0..count).map(jump).sum::<f64>(); count];
        for (page, targets) in links.iter().enumerate() {
            let gain = damping * ranks[page] / targets.len() as f64 - jump(page);
            targets.iter().for_each(|&target| next[target] += gain);
        }
        let sum: f64 = next.iter().sum();
        ranks = next.iter().map(|rank| rank / sum).collect();
    }
    ranks
}
