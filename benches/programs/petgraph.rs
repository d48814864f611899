//! petgraph: components, shortest paths and a spanning tree of a graph.

use ::petgraph::algo::{dijkstra, kosaraju_scc, min_spanning_tree};
use ::petgraph::graph::{Graph, NodeIndex};

pub fn main() {
    let mut graph = Graph::<u32, u32>::new();
    let nodes: Vec<NodeIndex> = (0..300).map(|at| graph.add_node(at)).collect();
    for at in 0..1_200_usize {
        graph.add_edge(nodes[at * 7 % 300], nodes[(at * at + 13) % 300], (at % 17) as u32 + 1);
    }
    crate::measure::measure(|at| {
        let near = dijkstra(&graph, nodes[at as usize % 300], None, |edge| *edge.weight());
        let tree = min_spanning_tree(&graph).count();
        (near.len() + kosaraju_scc(&graph).len() + tree) as u64
    });
}
