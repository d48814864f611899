use metaspy::observe;

#[observe(ret, ret)]
fn measure() -> u32 {
    1
}

fn main() {
    measure();
}
