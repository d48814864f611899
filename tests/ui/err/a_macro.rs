use metaspy::observe;

#[observe]
thread_local! {
    static COUNT: u32 = 0;
}

fn main() {
    COUNT.with(|_| ());
}
