use metaspy::observe;

struct Scene;

#[observe]
impl Scene {
    #[observe(args(a))]
    const fn area(&self, a: u32) -> u32 {
        a
    }
}

fn main() {
    Scene.area(1);
}
