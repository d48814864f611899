use metaspy::observe;

#[observe(ret)]
fn numbers() -> impl Iterator<Item = u32> {
    0..3
}

fn main() {
    numbers();
}
