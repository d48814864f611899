use metaspy::observe;

struct Scene;

#[observe(proxy)]
impl Scene {
    fn one(&self) {}
}

#[observe(skip)]
impl Scene {
    fn two(&self) {}
}

#[observe(only)]
fn three() {}

#[observe(args(a))]
impl Scene {
    fn four(&self) {}
}

fn main() {
    Scene.one();
    Scene.two();
    three();
    Scene.four();
}
