use metaspy::observe;

#[observe(ret)]
fn never() -> ! {
    panic!()
}

fn main() {
    never();
}
