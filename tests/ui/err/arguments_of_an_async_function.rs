use metaspy::observe;

#[observe(args(a))]
async fn fetch(a: u32) -> u32 {
    a
}

fn main() {
    drop(fetch(1));
}
