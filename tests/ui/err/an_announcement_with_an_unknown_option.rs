use metaspy::Announce;

#[derive(Announce)]
#[announce(name = "Tock")]
struct Tick;

fn main() {}
