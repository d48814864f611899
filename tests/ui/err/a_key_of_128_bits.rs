use metaspy::{Identify, Owner, observe};

#[derive(Identify)]
struct Wide {
    id: u128,
}

#[observe(subject = (owner, id))]
fn measure(owner: &Owner, id: u128) -> u128 {
    id
}

fn main() {
    measure(&Owner::new("tree"), Wide { id: 1 }.id);
}
