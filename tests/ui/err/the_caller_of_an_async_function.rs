use metaspy::observe;

#[observe(caller)]
async fn fetch(a: u32) -> u32 {
    a
}

fn main() {
    drop(fetch(1));
}
