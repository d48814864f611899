use metaspy::observe;

#[observe(skipped)]
fn measure() {}

fn main() {
    measure();
}
