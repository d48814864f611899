#![deny(warnings)]

mod instruments {
    pub use metaspy as spy;
}

use instruments::spy::{Identify, Spied, observe, site};

#[derive(Identify)]
#[identify(crate = crate::instruments::spy)]
struct NodeId(u32);

struct Scene;

#[observe(crate = crate::instruments::spy)]
impl Scene {
    #[observe(subject = node, args(node = node.0), ret)]
    fn measure(&self, node: NodeId) -> Option<u32> {
        Some(node.0)
    }
    async fn load(&self) {}
    const fn new() -> Self {
        Scene
    }
}

#[observe(proxy, crate = crate::instruments::spy)]
trait Draw {
    fn draw(&self) -> u32;
}

impl Draw for Scene {
    fn draw(&self) -> u32 {
        3
    }
}

fn main() {
    let scene = Spied::new(Scene::new());
    assert_eq!(scene.measure(NodeId(1)), Some(1));
    drop(scene.load());
    assert_eq!(SpiedDraw::new(Scene::new()).draw(), 3);
    println!("{:?}", site!(Scene::measure));
}
