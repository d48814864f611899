use metaspy::Identify;

#[derive(Identify)]
struct Node {
    id: u32,
    name: String,
}

#[derive(Identify)]
enum Kind {
    Leaf,
}

#[derive(Identify)]
struct Leaf {
    #[identify(id)]
    id: u32,
}

fn main() {}
