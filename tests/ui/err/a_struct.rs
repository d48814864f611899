use metaspy::observe;

#[observe]
struct Scene;

fn main() {
    let _ = Scene;
}
