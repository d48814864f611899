use metaspy::prelude::*;

struct Scene;
struct Tree;

#[observe]
impl Scene {
    fn measure(&self) {}
}

fn main() {
    Scene.measure();
    let _ = on(site!(Scene::measure), |_: &Tree, _| ());
}
