use metaspy::{observe, site};

struct Scene;

trait Layout {
    fn layout(&self) {}
}

#[observe]
impl Layout for Scene {}

fn main() {
    Scene.layout();
    let _ = site!(<Scene as Layout>::measure);
}
