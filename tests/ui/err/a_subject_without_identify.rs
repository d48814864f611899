use metaspy::observe;

struct NodeId(u32);

#[observe(subject = node)]
fn measure(node: NodeId) -> u32 {
    node.0
}

fn main() {
    measure(NodeId(1));
}
