//! Nine algorithms on one graph of 300 nodes and 1,500 edges.

use petgraph::{algo, graph::DiGraph, unionfind::UnionFind, visit::Dfs};

fn main() {
    let mut g = DiGraph::<u32, u32>::new();
    let v: Vec<_> = (0..300).map(|i| g.add_node(i)).collect();
    let mut x = 7u32;
    for _ in 0..1500 {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        let a = v[(x >> 8) as usize % 300];
        let b = v[(x >> 18) as usize % 300];
        g.add_edge(a, b, x % 50 + 1);
    }
    println!("{}", algo::dijkstra(&g, v[0], None, |e| *e.weight()).len());
    println!("{}", algo::astar(&g, v[0], |n| n == v[299], |e| *e.weight(), |_| 0).map(|it| it.0).unwrap_or(0));
    println!("{}", algo::tarjan_scc(&g).len());
    println!("{:?}", algo::toposort(&g, None).is_ok());
    println!("{}", algo::is_cyclic_directed(&g));
    let mut d = Dfs::new(&g, v[0]);
    let mut c = 0;
    while d.next(&g).is_some() {
        c += 1
    }
    println!("{c}");
    let mut u = UnionFind::<usize>::new(300);
    for e in g.edge_indices() {
        let (a, b) = g.edge_endpoints(e).unwrap();
        u.union(a.index(), b.index());
    }
    println!("{}", u.find(5));
    println!("{}", algo::min_spanning_tree(&g).count());
    println!("{}", algo::dominators::simple_fast(&g, v[0]).dominators(v[9]).map(|d| d.count()).unwrap_or(0));
}
