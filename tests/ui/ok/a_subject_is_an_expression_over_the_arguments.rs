#![deny(warnings)]

use metaspy::{Identify, ObjectId, Owner, observe};

#[derive(Clone, Copy, Identify)]
pub struct NodeId(u32);

#[derive(Identify)]
pub struct Wide {
    #[identify(key)]
    pub id: u64,
    pub name: String,
}

#[derive(Identify)]
pub struct Kept<T> {
    #[identify(same)]
    pub id: ObjectId,
    pub it: T,
}

pub struct Tree {
    owner: Owner,
    root: NodeId,
}

#[observe(subject = self.owner_of(self.root))]
impl Tree {
    #[observe(subject = (&self.owner, node.0))]
    pub fn measure(&mut self, node: NodeId, wide: f32) -> f32 {
        self.root = node;
        wide
    }
    #[observe(subject = node)]
    pub fn layout(&mut self, node: &NodeId) -> u32 {
        node.0
    }
    #[observe(subject = nodes[0])]
    pub fn many(&self, nodes: &[NodeId]) -> usize {
        nodes.len()
    }
    pub fn by_the_block(&self) {}
    #[observe(skip)]
    fn owner_of(&self, node: NodeId) -> (&Owner, u32) {
        (&self.owner, node.0)
    }
    pub fn new() -> Self {
        Tree { owner: Owner::new("tree"), root: NodeId(0) }
    }
}

#[observe]
impl Wide {
    pub fn len(&self) -> usize {
        self.name.len()
    }
    pub fn is_empty(self) -> bool {
        self.name.is_empty()
    }
}

#[observe]
impl<T: Copy> Kept<T> {
    pub fn it(&self) -> T {
        self.it
    }
}

#[observe(subject = id)]
pub fn touch(id: NodeId) -> u32 {
    id.0
}

fn main() {
    let mut tree = Tree::new();
    tree.measure(NodeId(1), 1.0);
    tree.layout(&NodeId(2));
    tree.many(&[NodeId(3)]);
    tree.by_the_block();
    let wide = Wide { id: 5, name: "w".into() };
    assert_eq!(wide.len(), 1);
    assert!(!wide.is_empty());
    assert_eq!(Kept { id: ObjectId::new(), it: 3 }.it(), 3);
    assert_eq!(touch(NodeId(4)), 4);
}
