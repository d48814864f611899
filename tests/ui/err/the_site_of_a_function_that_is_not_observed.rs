use metaspy::site;

struct Scene;

impl Scene {
    fn measure(&self) {}
}

fn main() {
    Scene.measure();
    let _ = site!(Scene::measure);
}
