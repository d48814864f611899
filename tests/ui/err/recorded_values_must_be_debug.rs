use metaspy::observe;

struct Hidden;

#[observe(args(hidden))]
fn takes(hidden: Hidden) {
    drop(hidden);
}

#[observe(args(hidden))]
async fn takes_later(hidden: Hidden) {
    drop(hidden);
}

#[observe(ret)]
fn makes() -> Hidden {
    Hidden
}

#[observe(ret)]
async fn makes_later() -> Hidden {
    Hidden
}

fn main() {
    takes(makes());
    drop((takes_later(Hidden), makes_later()));
}
